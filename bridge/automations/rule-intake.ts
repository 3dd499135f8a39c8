/** Takes and gives up rules that act: those of the file at a start, and those that the gateway sets and drops. Each is verified. */
import {
  type AutomationState,
  actionId,
  initialAutomation,
  type LedgerSays,
  readAutomationState,
} from "@edgecall/core/automations/state.ts";
import { actionOf } from "@edgecall/core/automations/steps.ts";
import { isUndo } from "@edgecall/core/automations/turn.ts";
import { type AllowedAutomation, AUTOMATIONS_MAX } from "@edgecall/core/protocol/automation.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { DeviceCalls } from "../devices/calls.ts";
import type { GatewayPin } from "../gateway/gateway-pin.ts";
import type { AutomationsContent } from "./automations-file.ts";
import { type HeldRule, type HeldRules, numbersOf } from "./held-rules.ts";
import type { HomeCounters } from "./home-counters.ts";
import type { RuleCommands } from "./rule-commands.ts";
import type { RuleMachines } from "./rule-machines.ts";
import type { SeenRules } from "./seen-rules.ts";
import { readSignedRule } from "./signed-rule.ts";
import type { Telling } from "./telling.ts";

type RuleIntakeParts = {
  held: HeldRules;
  seen: SeenRules;
  machines: RuleMachines;
  counters: HomeCounters;
  commands: RuleCommands;
  telling: Telling;
  pin: GatewayPin;
  calls: Pick<DeviceCalls, "settleAllBut">;
  log: Log;
};

export class RuleIntake {
  readonly #parts: RuleIntakeParts;

  constructor(parts: RuleIntakeParts) {
    this.#parts = parts;
  }

  /** Takes the rules of the file up again, and the runs of them that it has. */
  restore({ rules, records }: Pick<AutomationsContent, "rules" | "records">): void {
    const { calls, counters, held, machines, telling } = this.#parts;
    const now = machines.now();
    counters.restarted(now);
    for (const one of rules) this.#restoreOne(one, now);
    telling.restore(held.all, records);
    const wanted = held.all.flatMap(({ rule, state: { run } }) =>
      run ? numbersOf(rule).map((step) => actionId(rule, run.firing, step)) : [],
    );
    calls.settleAllBut(new Set(wanted));
    for (const one of held.all) {
      machines.step(one, { of: "restarted", ledger: (id) => this.#ledger(one, id) });
      // Its allowance ended while the bridge was off: its run comes to its end.
      if (one.isLeaving && one.state.stopped === undefined)
        machines.step(one, { of: "stop", why: "not_allowed" });
    }
  }

  /** Takes what the gateway sets, and gives up what it drops; `all`: those that it does not set too. */
  accept({ set, drop, all }: Extract<HomeFrame, { t: "automations" }>): void {
    const { held, log, pin, machines } = this.#parts;
    const wanted = set.flatMap((text) => {
      const read = readSignedRule(text, pin, machines.now());
      if (!read.ok) log("warn", "automations.refused", { reason: read.error });
      return read.ok ? [{ text, rule: read.value }] : [];
    });
    // Those that go make room for those that come.
    for (const one of held.all) {
      const { id } = one.rule;
      if (drop.includes(id) || (all && !wanted.some(({ rule }) => rule.id === id))) this.#drop(one);
    }
    for (const { text, rule } of wanted) {
      const problem = drop.includes(rule.id) ? "the same frame drops it" : this.#set(text, rule);
      if (problem !== undefined) log("warn", "automations.refused", { rule: rule.id, reason: problem });
    }
  }

  /** Gives up all rules. A home that takes the bridge back sends them again. */
  giveUp(): void {
    for (const one of this.#parts.held.all) this.#parts.machines.leave(one, "dropped");
  }

  #restoreOne(stored: AutomationsContent["rules"][number], now: number): void {
    const { text, state, silent, told, leaving } = stored;
    const { held, log, pin, seen } = this.#parts;
    const read = readSignedRule(text, pin, 0);
    if (!read.ok) {
      log("warn", "automations.refused", { reason: read.error });
      return;
    }
    const rule = read.value;
    const before = seen.of(rule.id);
    if (rule.version < (before?.version ?? 0) && !leaving) {
      log("warn", "automations.refused", { rule: rule.id, reason: "an older version" });
      return;
    }
    const begun = stateOf(rule, state) ?? initialAutomation(rule, now, before?.firing);
    const isOver = now >= rule.allowed.until;
    if (isOver && !begun.run) {
      log("warn", "automations.refused", { rule: rule.id, reason: "its allowance is over" });
      return;
    }
    held.add({ text, rule, state: begun, silent, told, isLeaving: leaving || isOver });
  }

  #ledger({ rule, state: { run } }: HeldRule, id: string): LedgerSays {
    const number = numbersOf(rule).find((step) => id === actionId(rule, run?.firing ?? 0, step)) ?? 0;
    const isBack = number >= rule.do.length && isUndo(rule, run?.ending?.why);
    return this.#parts.commands.ledger(id, isBack ? undefined : actionOf(rule, number));
  }

  /** @returns why a rule is not taken */
  #set(text: string, rule: AllowedAutomation): string | undefined {
    const { held, seen, machines } = this.#parts;
    const { id, version, allowed } = rule;
    const problem = seen.problemOf(rule);
    if (problem !== undefined) return problem;
    const present = held.find(id);
    if (!present && held.present.length >= AUTOMATIONS_MAX)
      return `at most ${AUTOMATIONS_MAX} rules are kept here`;
    const before = seen.of(id);
    const isSame = present?.rule.version === version;
    const firing = Math.max(
      before?.version === version ? before.firing : 0,
      isSame ? present.state.firing : 0,
    );
    seen.remember(id, { version, at: allowed.at, firing, dropped: false }, (one) => held.has(one));
    if (present && isSame && present.state.stopped === undefined) {
      // Another name, or other words.
      present.text = text;
      present.rule = rule;
      return undefined;
    }
    if (present) machines.leave(present, "changed_rule");
    const added = held.add({ text, rule, state: initialAutomation(rule, machines.now(), firing) });
    // A rule of a time alone gets no value that would wind its timer.
    machines.step(added, { of: "tick" });
    return undefined;
  }

  #drop(dropped: HeldRule): void {
    const { held, seen, machines } = this.#parts;
    const { id, version, allowed } = dropped.rule;
    machines.leave(dropped, "dropped");
    const before = seen.of(id);
    const firing = Math.max(dropped.state.firing, before?.firing ?? 0);
    if (before && before.version > version) return;
    seen.remember(id, { version, at: allowed.at, firing, dropped: true }, (one) => held.has(one));
  }
}

/** @returns the state of a file; undefined: it is damaged, or not this version's */
function stateOf(rule: AllowedAutomation, stored: unknown): AutomationState | undefined {
  const read = readAutomationState(stored);
  if (!read.ok) return undefined;
  const isRight = read.value.version === rule.version && read.value.conditions.length === rule.when.length;
  return isRight ? read.value : undefined;
}
