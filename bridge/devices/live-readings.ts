/**
 * The readings of hosted devices as rules see them: what is known now, what was kept from before, and what a command of ours did. A
 * source that was away says nothing until its values came again.
 */
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { SourcedReading, SourceName } from "@edgecall/discovery/model/device.ts";
import type { Clock } from "@edgecall/node/clock.ts";

/**
 * @property isOld it was kept from before, or came with an earlier message: it tells of no moment
 * @property own the command of ours that it may be the answer to
 */
export type LiveReading = Pick<SourcedReading, "message" | "value" | "text" | "kind" | "class"> & {
  unit: string | undefined;
  isOld: boolean;
  own: OwnDoing | undefined;
};

/** A command of ours. `call`: its id. `until`: monotonic ms. */
export type OwnDoing = { call: string; until: number };

export class LiveReadings {
  readonly #catalog: Pick<DeviceCatalog, "mark" | "readingOf">;
  readonly #clock: Clock;
  /** The sources that are connected, with the last message before: what came until then may have changed since. */
  readonly #up = new Map<SourceName, number>();
  /** By device and reading. */
  readonly #own = new Map<string, OwnDoing>();

  constructor(catalog: Pick<DeviceCatalog, "mark" | "readingOf">, clock: Clock) {
    this.#catalog = catalog;
    this.#clock = clock;
  }

  /** True if a source is connected. */
  get isUp(): boolean {
    return this.#up.size > 0;
  }

  /** A source of devices is connected. */
  sourceUp(source: SourceName): void {
    this.#up.set(source, this.#catalog.mark(this.#clock.wall()).message);
  }

  /** Nothing is known of its devices until their values came again, or it repeated them. */
  sourceLost(source: SourceName): void {
    this.#up.delete(source);
  }

  /** A command of ours was sent, and may change these readings of the device. @returns ends that before its time */
  commanded(call: string, device: string, readings: readonly string[], withinMs: number): () => void {
    const now = this.#clock.now();
    for (const [of, { until }] of this.#own) if (until < now) this.#own.delete(of);
    const doing = { call, until: now + withinMs };
    const changed = readings.map((reading) => `${device} ${reading}`);
    for (const of of changed) this.#own.set(of, doing);
    return () => {
      // A later command may be on its way.
      for (const of of changed) if (this.#own.get(of) === doing) this.#own.delete(of);
    };
  }

  /** @param device its key @returns undefined: nothing is known of it now */
  of(device: string, name: string): LiveReading | undefined {
    const now = this.#clock.wall();
    const reading = this.#catalog.readingOf(device, name, now);
    const before = reading && this.#up.get(reading.from);
    if (!reading || before === undefined || reading.unavailable || reading.known <= before) return undefined;
    const { message, value, unit, text, kind, class: of, retained } = reading;
    const own = this.#own.get(`${device} ${name}`);
    return {
      message,
      value,
      unit,
      text,
      kind,
      ...(of !== undefined && { class: of }),
      isOld: retained || message !== this.#catalog.mark(now).message,
      own: own !== undefined && this.#clock.now() < own.until ? own : undefined,
    };
  }
}
