/** Steps the machine (core/automations/run.ts) of each rule that is held, by values and by time. */
import { advance, nextDue } from "@edgecall/core/automations/run.ts";
import {
  type Advanced,
  type AutomationInput,
  type Effect,
  isToBeKept,
  type Surroundings,
  type Why,
} from "@edgecall/core/automations/state.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import { type Clock, SteadyTime } from "@edgecall/node/clock.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { DeviceCalls } from "../devices/calls.ts";
import type { DurableFile } from "./durable-file.ts";
import type { HeldRule, HeldRules } from "./held-rules.ts";
import type { HomeCounters } from "./home-counters.ts";
import type { LastWelcome } from "./last-welcome.ts";
import type { HomePresenceSources } from "./presence.ts";
import type { RuleCommands } from "./rule-commands.ts";
import { RuleEffects } from "./rule-effects.ts";
import type { RuleValues } from "./rule-values.ts";
import type { RunRecords } from "./run-records.ts";
import type { Telling } from "./telling.ts";

/** A clock that is set is noticed at the latest after this time. */
const TIMER_MAX_MS = 600_000;
/** Something that was due so long ago is overdue. */
const OVERDUE_MS = windowMs(120_000, 5_000);

type RuleMachinesParts = {
  held: HeldRules;
  file: DurableFile;
  counters: HomeCounters;
  welcome: LastWelcome;
  values: RuleValues;
  commands: RuleCommands;
  telling: Telling;
  records: Pick<RunRecords, "forget">;
  calls: Pick<DeviceCalls, "settle">;
  presence: Pick<HomePresenceSources, "now">;
  /** The present values of a rule's conditions, in words. */
  because(held: HeldRule): string[];
  /** The system's time is right, as far as that is known. */
  isTimeSure(): boolean;
  /** Devices are not known yet since the start. */
  isStarting(): boolean;
  clock: Clock;
  log: Log;
};

/** A step that was taken, and when the machine is to be asked again. */
type Taken = Advanced & { due: number | undefined };

export class RuleMachines {
  readonly #parts: RuleMachinesParts;
  readonly #time: SteadyTime;
  readonly #effects: RuleEffects;
  /** Clock, presence and gateway as they were at the last tick: rules wait for them besides values and times. */
  #world = "";
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: RuleMachinesParts) {
    this.#parts = parts;
    this.#time = new SteadyTime(parts.clock);
    this.#effects = new RuleEffects({ ...parts, machine: this });
  }

  /** Epoch ms. A clock that was set moves all rules to the new time first. */
  now(): number {
    const { counters, held, log, welcome } = this.#parts;
    const { at, setBy } = this.#time.read();
    if (setBy === 0) return at;
    log("warn", "automations.clock_set", { by_s: Math.round(setBy / 1_000) });
    counters.clockSet(setBy);
    welcome.clockSet(setBy);
    for (const one of held.all) this.#stepAt(one, { of: "clock_set", by: setBy }, at);
    return at;
  }

  /** Takes one step of a rule. @returns what came of it; it is under way already */
  step(held: HeldRule, input: AutomationInput): Effect[] {
    return this.#isStopped ? [] : this.#stepAt(held, input, this.now());
  }

  /** Steps the rules that are due, and all of them where what they wait for is another. */
  tick(): void {
    const { held, presence, isTimeSure, welcome } = this.#parts;
    if (held.isEmpty) return;
    const now = this.now();
    const world = `${isTimeSure()} ${presence.now} ${welcome.isAlone(now)}`;
    const isOther = world !== this.#world;
    this.#world = world;
    for (const one of held.all)
      if (isOther || (one.due !== undefined && one.due <= now)) this.step(one, { of: "tick" });
    this.arm();
  }

  /** Sets the timer for the rule that is due first. Call it after steps. */
  arm(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    const due = Math.min(...this.#parts.held.all.map((one) => one.due ?? Number.POSITIVE_INFINITY));
    if (due === Number.POSITIVE_INFINITY) return;
    const ms = Math.min(Math.max(due - this.now(), 0), TIMER_MAX_MS);
    this.#timer = setTimeout(() => this.tick(), ms);
  }

  /** Stops a rule, and tells it: nothing begins any more, and a run comes to its end. */
  pause(held: HeldRule, why: Why): void {
    if (held.state.stopped !== undefined) return;
    const effects = this.step(held, { of: "stop", why });
    if (!effects.some((effect) => effect.of === "pause")) this.#parts.telling.tellPaused(held, why);
    void this.#parts.file.write();
  }

  /** Lets a rule begin nothing any more. It goes when its run has come to its end. */
  leave(held: HeldRule, why: Why): void {
    if (held.isLeaving) return;
    held.isLeaving = true;
    this.step(held, { of: "stop", why });
    this.#goIfOver(held);
  }

  /** Devices are known now: what waits for them since the start is done. */
  devicesKnown(): void {
    this.#effects.devicesKnown();
  }

  /** @returns a rule that should have gone on by now; undefined: there is none */
  overdue(): HeldRule | undefined {
    const { clock, file, held } = this.#parts;
    const now = this.now();
    const isStuck = file.waitingSince !== undefined && clock.now() - file.waitingSince > OVERDUE_MS;
    return held.all.find(
      ({ due, state }) =>
        (due !== undefined && now - due > OVERDUE_MS) || (isStuck && state.run !== undefined),
    );
  }

  /** Steps nothing any more. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#effects.stop();
  }

  #stepAt(held: HeldRule, input: AutomationInput, at: number): Effect[] {
    const before = held.state;
    const { state, effects, due } = this.#advance(held, input, this.#surroundings(held, at));
    held.state = state;
    held.due = due;
    for (const effect of effects) this.#effects.take(held, effect, at);
    if (effects.length > 0 || isToBeKept(before, state)) void this.#parts.file.write();
    this.#goIfOver(held);
    return effects;
  }

  /** Advances one machine. A damaged rule stops only itself, and is not asked again until something comes for it. */
  #advance({ rule, state }: HeldRule, input: AutomationInput, surroundings: Surroundings): Taken {
    try {
      const advanced = advance(rule, state, input, surroundings);
      const { sure, begin_from } = surroundings;
      return { ...advanced, due: nextDue(rule, advanced.state, { sure, begin_from }) };
    } catch (error) {
      this.#parts.log("error", "automations.failed", { rule: rule.id, error: messageOf(error) });
      return { state, effects: [], due: undefined };
    }
  }

  #surroundings(held: HeldRule, at: number): Surroundings {
    const { because, commands, counters, presence, isTimeSure, welcome } = this.#parts;
    return {
      at,
      sure: isTimeSure(),
      presence: presence.now,
      // A run that was begun comes to its end also without a gateway.
      begin_from: welcome.isAlone(at) ? Number.MAX_SAFE_INTEGER : counters.beginFrom,
      because: () => because(held),
      before: (step) => commands.before(step),
      is_so: (step) => commands.isSo(step),
      has_way_back: (step, before) => commands.hasWayBack(step, before),
      held_until: (step) => counters.heldUntil(step, at),
    };
  }

  #goIfOver(held: HeldRule): void {
    if (!held.isLeaving || held.state.run) return;
    const { held: all, records, values } = this.#parts;
    all.remove(held);
    values.forget(held.place);
    if (!all.has(held.rule.id)) records.forget(held.rule.id);
  }
}
