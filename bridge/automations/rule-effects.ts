/**
 * Does what the machine says: what is told goes into the write of the same step, and every other effect comes after that write. An
 * outcome goes back to the machine, and its entry of the ledger is settled when the outcome is on the disk.
 */
import type { AutomationInput, Effect } from "@edgecall/core/automations/state.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { DeviceCalls } from "../devices/calls.ts";
import type { DurableFile } from "./durable-file.ts";
import type { HeldRule } from "./held-rules.ts";
import type { HomeCounters } from "./home-counters.ts";
import { isOfGateway, type RuleCommands } from "./rule-commands.ts";
import type { RuleValues } from "./rule-values.ts";
import type { Ending } from "./step-outcome.ts";
import type { Telling } from "./telling.ts";

/** A step that could not be written down for so long is not done any more. */
const LATE_MS = 10 * 60_000;
/** Work waits for the devices for so long after a start. */
const KNOWN_MS = windowMs(60_000, 10_000);

/** The machine, as far as an outcome needs it. `now`: epoch ms. */
type Machine = {
  step(held: HeldRule, input: AutomationInput): void;
  now(): number;
  arm(): void;
};

type RuleEffectsParts = {
  machine: Machine;
  file: Pick<DurableFile, "afterWrite" | "write">;
  counters: HomeCounters;
  values: RuleValues;
  commands: RuleCommands;
  telling: Telling;
  calls: Pick<DeviceCalls, "settle">;
  clock: Pick<Clock, "now">;
  /** Devices are not known yet since the start. */
  isStarting(): boolean;
};

type Do = Extract<Effect, { of: "do" }>;
type Look = Extract<Effect, { of: "look" }>;

export class RuleEffects {
  readonly #parts: RuleEffectsParts;
  /** Work that waits for the devices. */
  readonly #waiting: { work(): void; over: NodeJS.Timeout }[] = [];
  #isStopped = false;

  constructor(parts: RuleEffectsParts) {
    this.#parts = parts;
  }

  /** Takes an effect of a step that was taken at `at` (epoch ms): what goes into this write at once, and what is done after it. */
  take(held: HeldRule, effect: Effect, at: number): void {
    const { clock, commands, counters, telling, values } = this.#parts;
    const given = clock.now();
    switch (effect.of) {
      case "tell":
        telling.tell(held, effect);
        break;
      case "begun":
        counters.begun(at);
        break;
      case "pause":
        telling.tellPaused(held, effect.why, effect.led);
        break;
      case "do":
        counters.commanded(effect.action, at);
        values.commanded(effect.id, held.rule.id, effect.led);
        this.#afterWrite(() => this.#do(held, effect, given));
        break;
      case "undo":
        counters.commanded(effect.undoes, at);
        values.commanded(effect.id, held.rule.id, effect.led);
        this.#afterWrite(() => commands.undo(effect, (ending) => this.#ended(held, effect, ending)));
        break;
      case "look":
        this.#afterWrite(() => this.#look(held, effect));
    }
  }

  /** Devices are known now. */
  devicesKnown(): void {
    for (const { work, over } of this.#waiting.splice(0)) {
      clearTimeout(over);
      if (!this.#isStopped) work();
    }
  }

  /** Does nothing any more. Outcomes that come later are found in the ledger at the next start. */
  stop(): void {
    this.#isStopped = true;
    for (const { over } of this.#waiting) clearTimeout(over);
  }

  /** Work waits for the write and, after a start, for the devices, but not for long. */
  #afterWrite(work: () => void): void {
    this.#parts.file.afterWrite(() => {
      if (!this.#parts.isStarting()) {
        work();
        return;
      }
      this.#waiting.push({ work, over: setTimeout(() => this.devicesKnown(), KNOWN_MS) });
    });
  }

  /** @param given when the machine said so, monotonic ms: the disk may have refused since */
  #do(held: HeldRule, effect: Do, given: number): void {
    const end = (ending: Ending, takenBack?: true) =>
      takenBack ? this.#takenBack(held, effect, ending) : this.#ended(held, effect, ending);
    const isLate = !effect.is_end && this.#parts.clock.now() - given > LATE_MS;
    if (isLate) end({ outcome: "not_sent", text: "The bridge could not write to its disk in time." });
    else this.#parts.commands.do(held.rule, effect, end);
  }

  #look(held: HeldRule, effect: Look): void {
    const { commands, machine } = this.#parts;
    const { firing, step } = effect;
    const isLate = machine.now() - (held.state.run?.from ?? 0) > LATE_MS;
    if (effect.until === "now" && isOfGateway(effect.action) && isLate) {
      // The gateway would carry it out now if it never had it.
      this.#ended(held, effect, {
        outcome: "unknown",
        text: "The bridge was off for too long to ask again.",
      });
      return;
    }
    if (effect.until === "now") {
      commands.lookNow(held.rule, effect, (ending) => this.#ended(held, effect, ending));
      return;
    }
    void commands.lookOn(effect, effect.until - machine.now()).then((text) => {
      if (text !== undefined) machine.step(held, { of: "late", firing, step, text });
      machine.arm();
    });
  }

  #ended(
    held: HeldRule,
    { firing, step, id }: { firing: number; step: number; id: string },
    ending: Ending,
  ): void {
    if (this.#isStopped) return;
    const text = asSentence(ending.text);
    this.#parts.machine.step(held, { of: "outcome", firing, step, ...ending, text });
    this.#settleAfterWrite(id);
    this.#parts.machine.arm();
  }

  #takenBack(held: HeldRule, { firing, step, id }: Do, { text }: Ending): void {
    this.#parts.telling.tellTakenBack(held, { firing, step, text, at: this.#parts.machine.now() });
    this.#settleAfterWrite(id);
  }

  /** The outcome has to be on the disk first: else an action would be lost, or done twice. */
  #settleAfterWrite(id: string): void {
    const { calls, file } = this.#parts;
    file.afterWrite(() => calls.settle(id));
    void file.write();
  }
}

/** Further sentences follow it where it is told. */
function asSentence(text: string): string {
  return text === "" || /[.!?]$/.test(text) ? text : `${text}.`;
}
