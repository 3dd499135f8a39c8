/**
 * Calls that are on their way to an agent of ours, and have no row: most calls are answered at once, and then nothing has to
 * be stored. A flight becomes a row as soon as anything else happens than its answer. Until then its conversation waits for
 * the reply to `submit`: if this object is lost with its memory, that reply fails, and the conversation submits the call again
 * (docs/architecture.md, "A call on its way").
 */

/**
 * A call that is still out after this time gets a row. Both objects are awake until then, which costs as much as the row and
 * its alarm after about a second and a half.
 */
const FLIGHT_MAX_MS = 1_000;
/** Flights that were answered, for a `submit` or a `cancel` that the answer has overtaken. */
const LANDED_MAX = 500;

type FlyingCall = { id: string; agent: string };
type Flight<Call> = { call: Call; begunAt: number; ended: Promise<void>; end: () => void };

export class Flights<Call extends FlyingCall> {
  readonly #flights = new Map<string, Flight<Call>>();
  readonly #landed = new Set<string>();
  /** One for all flights; none while there is no flight, since it keeps the object from hibernating. */
  timer: ReturnType<typeof setTimeout> | undefined;

  add(call: Call, now: number): void {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#flights.set(call.id, { call, begunAt: now, ended, end });
  }

  get(id: string): Call | undefined {
    return this.#flights.get(id)?.call;
  }

  /** @param agent absent: those of all agents */
  of(agent?: string): Call[] {
    const calls = [...this.#flights.values()].map(({ call }) => call);
    return agent === undefined ? calls : calls.filter((call) => call.agent === agent);
  }

  /** Flights that have to become rows by then (epoch ms). */
  overdue(now: number): string[] {
    return [...this.#flights].filter(([, flight]) => flight.begunAt + FLIGHT_MAX_MS <= now).map(([id]) => id);
  }

  /** When the oldest flight has to become a row, epoch ms. */
  nextDue(): number | undefined {
    const [oldest] = this.#flights.values();
    return oldest && oldest.begunAt + FLIGHT_MAX_MS;
  }

  /** The flight is over: it was answered, or it has a row. */
  remove(id: string, isAnswered: boolean): void {
    const flight = this.#flights.get(id);
    if (!flight) return;
    this.#flights.delete(id);
    if (this.#flights.size === 0) {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
    if (isAnswered) this.#remember(id);
    flight.end();
  }

  #remember(id: string): void {
    this.#landed.add(id);
    for (const oldest of this.#landed) {
      if (this.#landed.size <= LANDED_MAX) break;
      this.#landed.delete(oldest);
    }
  }

  /** True if it was answered a short while ago, so its conversation has the answer. */
  hasLanded(id: string): boolean {
    return this.#landed.has(id);
  }

  /** Resolves when the call has its answer or its row. */
  async ended(id: string): Promise<void> {
    await this.#flights.get(id)?.ended;
  }
}
