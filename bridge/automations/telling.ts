/** Tells what rules that act have done: to the record, to the gateway where it is news, and to a person who waits for an undo. */
import type { Effect, Why } from "@edgecall/core/automations/state.ts";
import type { AutomationRun } from "@edgecall/core/protocol/automation.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { HeldRule } from "./held-rules.ts";
import type { NewsQueue } from "./news.ts";
import type { RunRecords } from "./run-records.ts";

/** The answer to a person's undo is waited for no longer than this. The gateway waits for 25 s. */
const UNDO_MS = 20_000;

/** @property nameOf a rule, by its id */
type TellingParts = { news: NewsQueue; records: RunRecords; nameOf(id: string): string; log: Log };

export class Telling {
  readonly #parts: TellingParts;
  /** Work for the end of an undo, by rule and firing. */
  readonly #undone = new Map<string, (run: AutomationRun | undefined) => void>();

  constructor(parts: TellingParts) {
    this.#parts = parts;
  }

  /** A run, as the machine tells it. */
  tell(held: HeldRule, { run, aloud, critical }: Extract<Effect, { of: "tell" }>): void {
    const { news, records } = this.#parts;
    records.set(held, run);
    const { id, version } = held.rule;
    const isEnded = run.ended !== undefined;
    // A run that has stopped may still have its end, or its way back, before it.
    const undo = `${id} ${run.firing}`;
    const waiting = isEnded ? this.#undone.get(undo) : undefined;
    if (waiting) this.#undone.delete(undo);
    waiting?.(run);
    const isBack = run.steps.some(({ step }) => step >= held.rule.do.length);
    // The person has the answer, and the run was told before.
    if (waiting && isBack && !critical) return;
    // The answer said that the rule's next message says it, or no answer came: the link was broken, or the bridge began anew.
    const isOwed = isEnded && !waiting && isPersonsUndo(held, run);
    if (!aloud && !isOwed) {
      if (isEnded && isConfirmed(run) && run.firing !== held.told) held.silent += 1;
      return;
    }
    const silent = held.silent > 0 && { silent: held.silent };
    held.silent = 0;
    held.told = run.firing;
    news.add({ rule: id, version, run, ...silent, ...(critical && { critical }) });
  }

  /** The rule pauses by itself, or rests. @param led of a loop: the ids of its rules, in their order */
  tellPaused({ rule: { id, version } }: HeldRule, why: Why, led?: readonly string[]): void {
    const { news, nameOf, log } = this.#parts;
    log("warn", "automations.paused", { rule: id, reason: why });
    news.add({ rule: id, version, paused: why, ...(led && { chain: led.map(nameOf) }) });
  }

  /** Tells otherwise what was told as confirmed: the run itself is over, or goes on. @param at epoch ms */
  tellTakenBack(
    held: HeldRule,
    { firing, step, text, at }: { firing: number; step: number; text: string; at: number },
  ): void {
    const { news, records } = this.#parts;
    const { id, version } = held.rule;
    const known = records.of(id).find((one) => one.firing === firing && one.version === version);
    const told = { step, outcome: "unconfirmed" as const, text, at };
    const steps = [...(known?.steps ?? []).filter((one) => one.step !== step), told];
    const run: AutomationRun = {
      ...{ rule: id, version, firing, at, because: [], ...known },
      ...{ state: "stopped", why: "unconfirmed", steps },
    };
    records.set(held, run);
    news.add({ rule: id, version, run });
  }

  /**
   * Brings the record to what it was before a start, since its own file may have been written before the last runs. Runs of rules that are
   * not held are dropped.
   */
  restore(held: readonly HeldRule[], runs: readonly AutomationRun[]): void {
    const { records } = this.#parts;
    for (const run of runs) {
      const ofIt = held.filter(({ rule }) => rule.id === run.rule);
      const one = ofIt.find(({ rule }) => rule.version === run.version) ?? ofIt[0];
      if (one) records.set(one, run);
    }
    records.keepOnly(new Set(held.map(({ rule }) => rule.id)));
  }

  /** @returns the run when it has ended; undefined: it has not in time */
  async ended(rule: string, firing: number): Promise<AutomationRun | undefined> {
    const { promise, resolve } = Promise.withResolvers<AutomationRun | undefined>();
    const over = setTimeout(() => {
      this.#undone.delete(`${rule} ${firing}`);
      resolve(undefined);
    }, UNDO_MS);
    this.#undone.set(`${rule} ${firing}`, resolve);
    const run = await promise;
    clearTimeout(over);
    return run;
  }

  /** The connection to the gateway is gone, and no answer reaches a person: how their undos end is told. */
  gatewayLost(): void {
    for (const resolve of this.#undone.values()) resolve(undefined);
    this.#undone.clear();
  }
}

/** A person has asked for the end of this run. */
function isPersonsUndo({ state: { last } }: HeldRule, { firing }: AutomationRun): boolean {
  return last?.firing === firing && last.ending?.why === "undo";
}

/** A run that was only sent, or did not run, is not counted as confirmed. */
function isConfirmed({ state, steps }: AutomationRun): boolean {
  return state !== "not_run" && steps.every(({ outcome }) => outcome === "confirmed" || outcome === "late");
}
