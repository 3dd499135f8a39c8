/** What time it is at the gateway: a token that the bridge makes of its key has to be fresh there. */
import { TOKEN_AHEAD_MS } from "@edgecall/core/protocol/bridge-token.ts";
import type { Log } from "@edgecall/node/log.ts";
import { type Clock, systemClock } from "../clock.ts";

/**
 * So far off ours may be. A machine without a clock chip starts where it was switched off, weeks or months ago. Over
 * https one that is further off never hears of it: certificates of the public web are not made for longer (CA/Browser
 * Forum, from March 2026). And a token for a time to come, made for whoever answers in the gateway's place, opens the
 * home then: there is none for years to come.
 */
export const CLOCK_OFF_MAX_MS = 200 * 86_400_000;

export class GatewayClock {
  readonly #log: Log;
  readonly #clock: Clock;
  /** What the gateway said (epoch ms), and when that was by the clock that nobody sets; undefined: ours is right. */
  #told: { time: number; at: number } | undefined;

  constructor(log: Log, clock: Clock = systemClock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Epoch ms. */
  now(): number {
    const { now, wall } = this.#clock;
    return this.#told === undefined ? wall() : this.#told.time + now() - this.#told.at;
  }

  /** The gateway found a token's time wrong. @param date of its answer @returns why it is not believed, for a person */
  takeFrom(date: string | undefined): string | undefined {
    const time = Date.parse(date ?? "");
    if (Number.isNaN(time)) return undefined;
    const off = time - this.#clock.wall();
    const said = { gateway: isoOf(time), here: isoOf(this.#clock.wall()) };
    if (Math.abs(off) > CLOCK_OFF_MAX_MS) {
      this.#log("error", "gateway_clock_not_taken", said);
      return `the gateway says that it is ${said.gateway}, this machine ${said.here}: set the clock that is wrong (here: sudo timedatectl set-ntp true)`;
    }
    // Ours is right, perhaps since a moment ago; the answer's is in whole seconds.
    const agrees = Math.abs(off) < TOKEN_AHEAD_MS;
    if (!agrees) this.#log("warn", "gateway_clock_taken", said);
    this.#told = agrees ? undefined : { time, at: this.#clock.now() };
    return undefined;
  }
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
