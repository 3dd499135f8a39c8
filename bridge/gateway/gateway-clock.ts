/** The gateway's time. A token that the bridge makes with its key has to be fresh by that clock. */
import { TOKEN_AHEAD_MS } from "@edgecall/core/protocol/bridge-token.ts";
import { type Clock, systemClock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";

/**
 * Our clock may be this far off. A machine without a clock chip starts with the time when it was switched off, weeks or
 * months ago. Over https a clock that is further off cannot connect at all: certificates of the public web are not made
 * for longer (CA/Browser Forum, from March 2026). The bound also protects the home: a false gateway could ask for a token
 * of the future and use it then, so there must be none for years to come.
 */
export const CLOCK_OFF_MAX_MS = 200 * 86_400_000;

export class GatewayClock {
  readonly #log: Log;
  readonly #clock: Clock;
  /** The gateway's `time` (epoch ms) `at` a monotonic time; undefined: our clock is right. */
  #known: { time: number; at: number } | undefined;

  constructor(log: Log, clock: Clock = systemClock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Epoch ms. */
  now(): number {
    const { now, wall } = this.#clock;
    return this.#known === undefined ? wall() : this.#known.time + now() - this.#known.at;
  }

  /** The gateway found a token's time wrong. @param date of its answer @returns why that is not used, for a person */
  setFrom(date: string | undefined): string | undefined {
    const time = Date.parse(date ?? "");
    if (Number.isNaN(time)) return undefined;
    const off = time - this.#clock.wall();
    const times = { gateway: isoOf(time), here: isoOf(this.#clock.wall()) };
    if (Math.abs(off) > CLOCK_OFF_MAX_MS) {
      this.#log("error", "gateway.clock_not_taken", times);
      return `the gateway says that it is ${times.gateway}, this machine ${times.here}: set the clock that is wrong (here: sudo timedatectl set-ntp true)`;
    }
    // Our clock is right, perhaps since a moment ago. The answer's time is in whole seconds.
    const agrees = Math.abs(off) < TOKEN_AHEAD_MS;
    if (!agrees) this.#log("warn", "gateway.clock_taken", times);
    this.#known = agrees ? undefined : { time, at: this.#clock.now() };
    return undefined;
  }
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}
