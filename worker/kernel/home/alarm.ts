/**
 * Home's one alarm. Each part says when it is due next and what it does then. The alarm is set to the earliest of these
 * times, and when it goes off, each part is called.
 */

import { bridgeOf } from "./bridge/bridge-socket.ts";
import * as outcomeDelivery from "./calls/outcome-delivery.ts";
import * as silentCalls from "./calls/silence.ts";
import type { Alarm, HomeContext } from "./context.ts";
import { type AlarmPart, featuresOf } from "./feature.ts";
import { handOver, nextHandOver } from "./notices/hand-over.ts";
import * as voidedAllowances from "./notices/voided-allowances.ts";
import * as writtenOut from "./permissions/written-out.ts";
import * as approvals from "./questions/approvals.ts";
import { prune } from "./retention.ts";
import * as delegation from "./submit/delegation.ts";

/** The order counts: an expired question and silence end a call with different outcomes. */
const BEFORE_FEATURES: readonly AlarmPart[] = [
  approvals,
  silentCalls,
  delegation,
  outcomeDelivery,
  {
    nextDue: (home) => bridgeOf(home).nextHelloDue(),
    onAlarm: (home, now) => bridgeOf(home).closeWithoutHello(now),
  },
  voidedAllowances,
  writtenOut,
];
const AFTER_FEATURES: readonly AlarmPart[] = [
  // After all that writes notices.
  { nextDue: nextHandOver, onAlarm: handOver },
  // It has no time of its own: an alarm runs for nearly each call.
  { nextDue: () => undefined, onAlarm: (home, now) => void prune(home, now) },
];

function partsOf(home: HomeContext): readonly AlarmPart[] {
  return [...BEFORE_FEATURES, ...featuresOf(home).flatMap(({ alarm }) => alarm ?? []), ...AFTER_FEATURES];
}

export class HomeAlarm implements Alarm {
  readonly #home: () => HomeContext;
  /** The time that the alarm is set to, as far as this instance knows. Setting it again would be a billed row. */
  #armedAt: number | undefined;

  constructor(home: () => HomeContext) {
    this.#home = home;
  }

  /** An earlier alarm stays: when it goes off, the parts are asked again. */
  async arm(): Promise<void> {
    const now = Date.now();
    const times = partsOf(this.#home())
      .map((part) => part.nextDue(this.#home(), now))
      .filter((time) => time !== undefined);
    // What an object that was rebuilt has to try again is due at once.
    if (times.length > 0) await this.wakeBy(Math.max(Math.min(...times), now));
  }

  async wakeBy(time: number): Promise<void> {
    if (this.#armedAt !== undefined && this.#armedAt <= time) return;
    this.#armedAt = time;
    await this.#home().ctx.storage.setAlarm(time);
  }

  /** A part that throws does not stop the others. The platform repeats an alarm that throws. */
  async onAlarm(home: HomeContext): Promise<void> {
    this.#armedAt = undefined;
    const failures: unknown[] = [];
    for (const part of partsOf(home)) {
      try {
        await part.onAlarm(home, Date.now());
      } catch (error) {
        failures.push(error);
      }
    }
    await this.arm();
    if (failures.length > 0) throw failures[0];
  }
}
