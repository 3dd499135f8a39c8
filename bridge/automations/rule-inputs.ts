/** Gives the machine of each rule the values of its conditions, and pauses a rule whose devices are not those that it was allowed for. */
import { windowMs } from "@edgecall/core/test-clock.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { Part } from "@edgecall/discovery/model/source.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { LiveReadings } from "../devices/live-readings.ts";
import { type HeldRule, type HeldRules, usesOf } from "./held-rules.ts";
import type { RuleCommands } from "./rule-commands.ts";
import type { RuleMachines } from "./rule-machines.ts";
import type { RuleValues } from "./rule-values.ts";

/** A device of a rule that is away for so long is gone. */
const GONE_MS = windowMs(600_000, 2_000);

type RuleInputsParts = {
  held: HeldRules;
  machines: RuleMachines;
  values: RuleValues;
  commands: RuleCommands;
  catalog: DeviceCatalog;
  live: LiveReadings;
  /** Devices are not known yet since the start. */
  isStarting(): boolean;
  /** Devices come and go just now, or are not known yet. */
  isBusy(): boolean;
  /** Home Assistant has not said since the start which devices it has. */
  isUnread(): boolean;
  clock: Clock;
};

export class RuleInputs {
  readonly #parts: RuleInputsParts;

  constructor(parts: RuleInputsParts) {
    this.#parts = parts;
  }

  /** The catalog has read a message. @param readBy the parts that it is about */
  onMessage(readBy: () => readonly Part[]): void {
    const { catalog, clock, held, live, machines } = this.#parts;
    if (held.isEmpty || !live.isUp) return;
    const keys = catalog.keysOf(readBy(), clock.wall());
    if (keys.length === 0) return;
    for (const one of held.all) if (one.rule.when.some(({ key }) => keys.includes(key))) this.#give(one);
    machines.arm();
  }

  /** Looks at all values: what became unavailable by its silence alone comes in no message. */
  look(): void {
    const { held, isStarting, machines } = this.#parts;
    if (held.isEmpty) return;
    if (!isStarting()) machines.devicesKnown();
    for (const one of held.all) {
      this.#give(one);
      this.#judge(one);
    }
    machines.arm();
  }

  /** An agent may have said something, or is silent for too long. */
  lookAtAgents(): void {
    const { held, machines } = this.#parts;
    const all = held.all.filter(({ rule }) => rule.when.some(({ of }) => of === "agent"));
    for (const one of all) this.#give(one);
    if (all.length > 0) machines.arm();
  }

  /** A source of devices is connected anew: for a minute nothing begins. */
  sourceUp(): void {
    const { held, machines } = this.#parts;
    for (const one of held.all) machines.step(one, { of: "connected" });
    machines.arm();
  }

  /** A person has removed a device. @param key the device's */
  forgot(key: string): void {
    const { held, machines } = this.#parts;
    for (const one of held.present) if (usesOf(one.rule).includes(key)) machines.pause(one, "device_gone");
    machines.arm();
  }

  #give(held: HeldRule): void {
    const { machines, values } = this.#parts;
    held.rule.when.forEach((condition, number) => {
      const input = values.next(held.place, number, condition);
      if (input) machines.step(held, input);
    });
  }

  /** A device that has changed since the rule was allowed, or is gone, pauses it. */
  #judge(held: HeldRule): void {
    if (held.isLeaving || held.state.stopped !== undefined) return;
    const { catalog, clock, commands, live, isBusy, isUnread, machines } = this.#parts;
    if (machines.now() >= held.rule.allowed.until) {
      machines.pause(held, "not_allowed");
      return;
    }
    if (isBusy() || !live.isUp) return;
    const problems = [...held.rule.do, ...held.rule.end].map((step) => commands.problemOf(step));
    if (problems.includes("device_changed")) machines.pause(held, "device_changed");
    const now = clock.now();
    const keys = held.rule.when.flatMap(({ of, key }) => (of === "hosted" ? [key] : []));
    const isGone =
      problems.includes("device_gone") ||
      (!isUnread() && keys.some((key) => catalog.deviceOf(key, clock.wall()) === undefined));
    held.missing = isGone ? (held.missing ?? now) : undefined;
    if (held.missing !== undefined && now - held.missing >= GONE_MS) machines.pause(held, "device_gone");
  }
}
