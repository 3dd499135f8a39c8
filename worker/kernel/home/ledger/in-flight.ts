/**
 * Calls that are on their way to an agent of ours, and have no row: most calls are answered at once, and then nothing has to
 * be stored. A flight becomes a row as soon as anything else happens than its answer. Until then its conversation waits for
 * the reply to `submit`, which brings the outcome: if this object is lost with its memory, that reply fails, and the conversation
 * submits the call again (docs/explain/architecture/calls.md).
 */
import type { SettledOutcome } from "../../api/calls.ts";

/**
 * A call that is still out after this time gets a row. Both objects are awake until then, which costs as much as the row and
 * its alarm after about a second and a half.
 */
const IN_FLIGHT_MAX_MS = 1_000;
/** Flights that were answered, for a `submit` or a `cancel` that the answer has overtaken. */
const ANSWERED_MAX = 500;
/** Outcomes that are kept until their conversations have them. One that is dropped comes again, since its report has no ack. */
const HELD_MAX = 100;

type Sent = { id: string; agent: string };
type Entry<Call> = {
  call: Call;
  begunAt: number;
  ended: Promise<SettledOutcome | undefined>;
  end: (outcome?: SettledOutcome) => void;
};
type Held<Call> = { call: Call; outcome: SettledOutcome };

export class CallsInFlight<Call extends Sent> {
  readonly #calls = new Map<string, Entry<Call>>();
  readonly #answered = new Set<string>();
  readonly #held = new Map<string, Held<Call>>();
  /** One for all flights; none while there is no flight, since it keeps the object from hibernating. */
  timer: ReturnType<typeof setTimeout> | undefined;

  add(call: Call, now: number): void {
    const { promise: ended, resolve: end } = Promise.withResolvers<SettledOutcome | undefined>();
    this.#calls.set(call.id, { call, begunAt: now, ended, end });
  }

  get(id: string): Call | undefined {
    return this.#calls.get(id)?.call;
  }

  /** @param agent absent: those of all agents */
  list(agent?: string): Call[] {
    const calls = [...this.#calls.values()].map(({ call }) => call);
    return agent === undefined ? calls : calls.filter((call) => call.agent === agent);
  }

  /** Flights that have to become rows by then (epoch ms). */
  overdue(now: number): string[] {
    return [...this.#calls]
      .filter(([, flight]) => flight.begunAt + IN_FLIGHT_MAX_MS <= now)
      .map(([id]) => id);
  }

  /** When the oldest flight has to become a row, epoch ms. */
  nextDue(): number | undefined {
    const [oldest] = this.#calls.values();
    return oldest && oldest.begunAt + IN_FLIGHT_MAX_MS;
  }

  /** The flight is over, since the call has a row. */
  remove(id: string): void {
    this.#delete(id)?.end();
  }

  /** The flight was answered. Its outcome is held until the conversation has it. @returns false: it is no flight */
  answer(id: string, outcome: SettledOutcome): boolean {
    const flight = this.#delete(id);
    if (!flight) return false;
    this.#answered.add(id);
    this.#held.set(id, { call: flight.call, outcome });
    dropOldest(this.#answered, ANSWERED_MAX);
    dropOldest(this.#held, HELD_MAX);
    flight.end(outcome);
    return true;
  }

  #delete(id: string): Entry<Call> | undefined {
    const flight = this.#calls.get(id);
    this.#calls.delete(id);
    if (this.#calls.size === 0) {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
    return flight;
  }

  /** True if it was answered a short while ago. */
  wasAnswered(id: string): boolean {
    return this.#answered.has(id);
  }

  /** The outcome of a flight that was answered, as long as its conversation may not have it. */
  held(id: string): SettledOutcome | undefined {
    return this.#held.get(id)?.outcome;
  }

  /** The conversation has the outcome. @returns the call, the first time */
  confirm(id: string): Call | undefined {
    const held = this.#held.get(id);
    this.#held.delete(id);
    return held?.call;
  }

  /** Resolves when the call has its outcome or its row. @returns the outcome; undefined: the call has a row */
  async ended(id: string): Promise<SettledOutcome | undefined> {
    return await this.#calls.get(id)?.ended;
  }
}

/** @param of in the order in which they were added */
function dropOldest(of: Set<string> | Map<string, unknown>, most: number): void {
  for (const oldest of of.keys()) {
    if (of.size <= most) break;
    of.delete(oldest);
  }
}
