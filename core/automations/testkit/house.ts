/**
 * A house in memory for one rule: a file and a ledger on a disk, devices that count what they get, and a bridge that may lose its power
 * before and after each write. The machine in it is the real one.
 */
import type { Automation, AutomationRun } from "../../protocol/automation.ts";
import { checkJson, z } from "../../protocol/parse.ts";
import { HOUR_MS } from "../../time/zone.ts";
import { advance, nextDue } from "../run.ts";
import {
  type AutomationInput,
  type AutomationState,
  type Effect,
  initialAutomation,
  isToBeKept,
  type LedgerSays,
  readAutomationState,
  type StepEnded,
  type Surroundings,
} from "../state.ts";
import { around, NOON } from "./rules.ts";

/** `deaf`: it gets the command and reports nothing. `slow`: it reports after it was told as unconfirmed. `mute`: nothing ever confirms. */
export type DeviceMode = "works" | "deaf" | "slow" | "mute" | "offline";

class PowerLost extends Error {}

type Tell = Extract<Effect, { of: "tell" }>;
type Line = { id: string; says: LedgerSays };
type Later = { at: number; then(): void };
export type Publish = { id: string; at: number };
export type Begin = {
  at: number;
  firing: number;
  values: (boolean | undefined)[];
  since: (number | undefined)[];
};

const UNCONFIRMED_MS = 15_000;
const SLOW_MS = 120_000;

export class House {
  readonly rule: Automation;
  /** Real time, epoch ms. The bridge's clock is `ahead` of it. */
  now = NOON;
  ahead = 0;
  sure = true;
  presence: Surroundings["presence"] = "nobody";
  mode: DeviceMode = "works";
  /** All is so already before it is asked for. */
  isSo = false;
  /** Writes until the power is lost. */
  fuse: number | undefined;
  /** How much of the lines that were not yet synced is lost with it, and how long it is off. */
  loss = 1;
  off = 5_000;
  /** It has no clock of its own: it starts with the time at which it ended. */
  isStale = false;
  readonly published: Publish[] = [];
  readonly begins: Begin[] = [];
  crashes = 0;
  state: AutomationState;
  /** What the sensors say by now, and since when. */
  readonly values: (boolean | undefined)[];
  readonly since: (number | undefined)[];
  #file: { state: string; told: Tell[] };
  #synced: Line[] = [];
  #unsynced: Line[] = [];
  #later: Later[] = [];
  #inputs: AutomationInput[] = [];
  #isBusy = false;
  readonly #worked = new Map<string, DeviceMode>();

  constructor(rule: Automation) {
    this.rule = rule;
    this.state = initialAutomation(rule, this.now);
    this.values = rule.when.map(() => undefined);
    this.since = rule.when.map(() => undefined);
    this.#file = { state: JSON.stringify(this.state), told: [] };
  }

  /** By the bridge's clock. */
  get wall(): number {
    return this.now + this.ahead;
  }

  /** What is on the disk, to be told. */
  get told(): Tell[] {
    return this.#file.told;
  }

  /** The last word on each firing. */
  get runs(): Map<number, AutomationRun> {
    return new Map(this.told.map(({ run }) => [run.firing, run]));
  }

  /** A sensor reports. undefined: it has no value. */
  report(condition: number, value: boolean | undefined): void {
    if (value !== this.values[condition] && value !== undefined)
      this.since[condition] = value ? (this.since[condition] ?? this.now) : undefined;
    this.values[condition] = value;
    this.give({ of: "value", condition, value: value === undefined ? { missing: true } : { value } });
  }

  /**
   * The bridge's clock is set. The power holds for this one write: a clock that is set as the power is lost cannot be told from time that
   * passed meanwhile.
   */
  setClock(by: number): void {
    const { fuse } = this;
    this.fuse = undefined;
    this.ahead += by;
    this.give({ of: "clock_set", by });
    this.fuse = fuse;
  }

  /** Time passes, with all that is due. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (let turns = 0; turns < 10_000; turns += 1) {
      const due = nextDue(this.rule, this.state, this.#around());
      const later = this.#later.toSorted((a, b) => a.at - b.at)[0];
      const at = Math.min(
        due === undefined ? Number.POSITIVE_INFINITY : due - this.ahead,
        later?.at ?? end,
        end,
      );
      if (at >= end) {
        // A loss of power may have lasted for longer.
        this.now = Math.max(this.now, end);
        return;
      }
      this.now = Math.max(at, this.now);
      if (later && later.at <= this.now) {
        this.#later = this.#later.filter((one) => one !== later);
        later.then();
      } else this.give({ of: "tick" });
    }
    throw new Error(`it does not come to rest: ${JSON.stringify(this.state)}`);
  }

  give(input: AutomationInput): void {
    this.#inputs.push(input);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#inputs.shift(); next; next = this.#inputs.shift()) this.#take(next);
    } catch (error) {
      if (!(error instanceof PowerLost)) throw error;
      this.#inputs = [];
    } finally {
      this.#isBusy = false;
    }
    if (this.fuse !== undefined && this.fuse < 0) this.#start();
  }

  #around(): Surroundings {
    return around(this.wall, { sure: this.sure, presence: this.presence, is_so: () => this.isSo });
  }

  #take(input: AutomationInput): void {
    const { state, effects } = advance(this.rule, this.state, input, this.#around());
    const tells = effects.filter((effect) => effect.of === "tell");
    for (const effect of effects) {
      if (effect.of !== "begun") continue;
      this.begins.push({
        at: this.now,
        firing: effect.firing,
        values: [...this.values],
        since: [...this.since],
      });
    }
    if (tells.length > 0 || isToBeKept(this.state, state)) {
      this.#point();
      this.#file = { state: JSON.stringify(state), told: [...this.#file.told, ...tells] };
      this.#point();
    }
    this.state = state;
    for (const effect of effects) this.#do(effect);
  }

  #do(effect: Effect): void {
    if (effect.of === "do" || effect.of === "undo") this.#carryOut(effect);
    if (effect.of !== "look") return;
    const { firing, step, id, until } = effect;
    const mode = this.#worked.get(id);
    if (until === "now") {
      const isSo = mode === "works" || mode === "slow";
      this.#after(1_000, () => this.#answer(id, { firing, step, outcome: isSo ? "confirmed" : "unknown" }));
    } else if (mode === "slow" || mode === "works")
      this.#after(SLOW_MS, () => this.give({ of: "late", firing, step, text: "reported late" }));
  }

  #carryOut({ firing, step, id }: Extract<Effect, { of: "do" | "undo" }>): void {
    const { mode } = this;
    if (this.#says(id) !== "none") throw new Error(`${id} is given out a second time`);
    if (mode === "offline") {
      const outcome = {
        of: "outcome",
        firing,
        step,
        outcome: "not_sent",
        text: "offline",
        again: true,
      } as const;
      this.#after(100, () => this.give(outcome));
      return;
    }
    this.#append({ id, says: "begun" }, true);
    this.#point();
    this.published.push({ id, at: this.now });
    this.#worked.set(id, mode);
    this.#point();
    this.#append({ id, says: "sent" }, false);
    const outcome = mode === "works" ? "confirmed" : mode === "mute" ? "sent" : "unconfirmed";
    this.#after(outcome === "unconfirmed" ? UNCONFIRMED_MS : 500, () =>
      this.#answer(id, { firing, step, outcome }),
    );
  }

  #answer(id: string, ended: Pick<StepEnded, "firing" | "step" | "outcome">): void {
    const { outcome } = ended;
    try {
      this.#append({ id, says: { outcome, text: "" } }, false);
      this.#point();
    } catch {
      this.#start();
      return;
    }
    this.give({ of: "outcome", text: "", ...ended });
  }

  #append(line: Line, isDurable: boolean): void {
    this.#point();
    this.#unsynced.push(line);
    if (!isDurable) return;
    this.#synced = [...this.#synced, ...this.#unsynced];
    this.#unsynced = [];
  }

  #says(id: string): LedgerSays {
    return [...this.#synced, ...this.#unsynced].findLast((line) => line.id === id)?.says ?? "none";
  }

  #after(ms: number, then: () => void): void {
    this.#later.push({ at: this.now + ms, then });
  }

  #point(): void {
    if (this.fuse === undefined) return;
    this.fuse -= 1;
    if (this.fuse < 0) throw new PowerLost();
  }

  /** The power comes back. Only what is on the disk is known, and the values come again. */
  #start(): void {
    this.fuse = undefined;
    this.crashes += 1;
    this.#later = [];
    const kept = Math.floor(this.#unsynced.length * (1 - this.loss));
    this.#synced = [...this.#synced, ...this.#unsynced.slice(0, kept)];
    this.#unsynced = [];
    this.now += this.off;
    if (this.isStale) {
      this.ahead -= this.off;
      this.sure = false;
      const { off } = this;
      this.#after(30_000, () => {
        this.sure = true;
        this.setClock(off);
      });
    }
    const file = checkJson(z.unknown(), this.#file.state);
    const state = file.ok ? readAutomationState(file.value) : file;
    if (!state.ok) throw new Error(state.error);
    this.state = state.value;
    this.give({ of: "restarted", ledger: (id) => this.#says(id) });
    const values = [...this.values];
    this.#after(2_000, () => {
      for (const [condition, value] of values.entries())
        if (this.values[condition] === value) this.report(condition, value);
    });
  }
}

/** Long after all: whatever waits has come. */
export const LONG_MS = 60 * HOUR_MS;
