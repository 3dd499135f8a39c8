/** Bounds of what is taken from a broker. Things beyond them are left out, and counted by the reason in the bridge's log and figures. */

/** Entities of all configs together. */
export const CONFIGS_MAX = 2_000;
export const CONFIG_MAX_BYTES = 256 * 1_024;
/** Bytes of all configs that are kept. */
export const CONFIGS_MAX_BYTES = 16 * 1_024 * 1_024;
export const STATE_MAX_BYTES = 16 * 1_024;
/** A JSON object up to here is read in part. */
export const LARGE_STATE_MAX_BYTES = 1_024 * 1_024;
export const PICTURE_MAX_BYTES = 512 * 1_024;
/** zigbee2mqtt's list of its devices. */
export const DEVICE_LIST_MAX_BYTES = 4 * 1_024 * 1_024;
/** Of all states that are kept. */
export const STATES_MAX_BYTES = 24 * 1_024 * 1_024;

/** Topics whose configs are ignored are remembered up to here, so that none counts twice. */
const TOPICS_MAX = 10_000;

/** Counts what is ignored. */
export class Ignored {
  readonly #byTopic = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  add(topic: string, why: string): void {
    if (this.#byTopic.get(topic) === why) return;
    this.remove(topic);
    if (this.#byTopic.size < TOPICS_MAX) this.#byTopic.set(topic, why);
    this.#counts.set(why, (this.#counts.get(why) ?? 0) + 1);
  }

  remove(topic: string): void {
    const why = this.#byTopic.get(topic);
    if (why === undefined) return;
    this.#byTopic.delete(topic);
    this.#counts.set(why, (this.#counts.get(why) ?? 1) - 1);
  }

  list(): { why: string; count: number }[] {
    return [...this.#counts].flatMap(([why, count]) => (count > 0 ? [{ why, count }] : []));
  }
}
