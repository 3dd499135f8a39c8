/**
 * The rules that are evaluated at one place, an agent or a bridge: their conditions and states, and the changes that the gateway
 * does not have yet. All of it is one file. A change leaves only after the file with it is on the disk, together with the state
 * that followed: so after a kill nothing is told a second time under another number, and nothing is lost.
 *
 * The file is written when a rule changes its state, and not for a value: a disk does not wear while nothing happens.
 */

import { readFile } from "node:fs/promises";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { type KnownState, RuleChange, WatchCondition } from "@edgecall/core/protocol/rules.ts";
import {
  initialState,
  nextDue,
  type RuleState,
  readState,
  restarted,
  type StepInput,
  step,
  withClockSet,
} from "@edgecall/core/rules/evaluate.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { writeAtomic } from "./atomic-write.ts";
import { type Clock, SteadyTime } from "./clock.ts";
import { type Log, messageOf } from "./log.ts";

/** Changes that wait for the gateway. The oldest give way. */
const CHANGES_MAX = 100;
/** Bytes of a rule. */
const RULE_MAX_BYTES = 8 * 1024;
/** A write that failed is tried again so often, and what the gateway has is removed from the file so much later. */
const WRITE_AGAIN_MS = 10_000;
const TIDY_AFTER_MS = 5_000;
/** A clock that is set is noticed at the latest after this time. */
const TIMER_MAX_MS = 600_000;

/** What happened, without the time, which is now. */
export type Happening = StepInput extends infer Input
  ? Input extends unknown
    ? Omit<Input, "at">
    : never
  : never;

/** @property place what this place keeps beside a rule */
export type NewRule<Place> = { condition: WatchCondition; place: Place; known?: KnownState | undefined };

/** A change of the set of rules. `all`: rules that are not in it go. */
export type RulesDifference<Place> = {
  set: readonly NewRule<Place>[];
  drop: readonly string[];
  all?: boolean | undefined;
};

export type RefusedRule = { id: string; why: string };

/** A rule as it is now. */
export type WatchedRule<Place> = { condition: WatchCondition; place: Place; readonly state: RuleState };

/** `due`: when time alone changes it. */
type Stored<Place> = { condition: WatchCondition; place: Place; state: RuleState; due: number | undefined };

export type WatchedRulesOptions<Place> = {
  path: string;
  /** Reads what this place keeps beside a rule. */
  place: z.ZodMiniType<Place>;
  /** The most rules. */
  max: number;
  log: Log;
  /** Changes are on the disk, and may be sent. */
  onChanges(): void;
  /** A rule of this place is told in another way: it makes no changes. */
  isQuiet?(place: Place): boolean;
  /** A rule was looked at. */
  onStep?(): void;
  clock?: Clock;
};

const File = z.object({
  version: z.literal(1),
  rules: z.array(z.object({ condition: WatchCondition, place: z.unknown(), state: z.unknown() })),
  changes: z.array(RuleChange),
  lost: z.int(),
  read: z._default(z.record(z.string(), z.int()), {}),
});

export class WatchedRules<Place> {
  readonly #options: WatchedRulesOptions<Place>;
  readonly #time: SteadyTime;
  readonly #rules = new Map<string, Stored<Place>>();
  /** Oldest first, each with its number. */
  #changes: { number: number; change: RuleChange }[] = [];
  /** The newest change, and the newest that is on the disk. */
  #number = 0;
  #durable = 0;
  #lost = 0;
  #hash = "";
  #isDirty = false;
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #tidy: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /**
   * How much of a stream of events was taken, by the stream's name: a stream that is read again from its beginning says nothing
   * twice. It is on the disk with what came of the events.
   */
  readonly taken = new Map<string, number>();

  private constructor(options: WatchedRulesOptions<Place>) {
    this.#options = options;
    this.#time = new SteadyTime(options.clock);
  }

  /** Reads the file. A damaged one counts as none: the gateway sees that rules are missing, and sends them. */
  static async open<Place>(options: WatchedRulesOptions<Place>): Promise<WatchedRules<Place>> {
    const rules = new WatchedRules(options);
    await rules.#load();
    return rules;
  }

  /** Of the rules and their versions, for the gateway to compare. */
  get hash(): string {
    return this.#hash;
  }

  get size(): number {
    return this.#rules.size;
  }

  /** The changes that were dropped since the gateway took some last. */
  get lost(): number {
    return this.#lost;
  }

  all(): Iterable<WatchedRule<Place>> {
    return this.#rules.values();
  }

  /** Versions by id. */
  versions(): Record<string, number> {
    return Object.fromEntries([...this.#rules].map(([id, { condition }]) => [id, condition.version]));
  }

  #conditions(): WatchCondition[] {
    return [...this.#rules.values()].map(({ condition }) => condition);
  }

  /** The changes that may be sent: each is on the disk. Oldest first. */
  pending(): RuleChange[] {
    return this.#changes.filter(({ number }) => number <= this.#durable).map(({ change }) => change);
  }

  /** Takes other rules. Durable when it resolves, unless the disk refuses. @returns those that it does not take */
  async change({ set, drop, all }: RulesDifference<Place>): Promise<RefusedRule[]> {
    const wanted = new Set(set.map(({ condition }) => condition.id));
    const gone = all ? [...this.#rules.keys()].filter((id) => !wanted.has(id)) : [];
    for (const id of [...drop, ...gone]) this.#rules.delete(id);
    const refused = set.flatMap((rule) => this.#set(rule));
    this.#hash = await rulesHash(this.#conditions());
    this.#arm();
    await this.#write();
    return refused;
  }

  /** Takes what happened to a rule's reading. A change is written, and then told by `onChanges`. */
  step(id: string, happening: Happening): void {
    const rule = this.#rules.get(id);
    if (!rule || this.#isStopped) return;
    this.#step(rule, happening);
    this.#arm();
  }

  /** The gateway has the changes of this rule up to this one. */
  stored(rule: string, seq: number): void {
    const before = this.#changes.length;
    this.#changes = this.#changes.filter(({ change }) => change.rule !== rule || change.seq > seq);
    this.#lost = 0;
    if (this.#changes.length === before || this.#isStopped) return;
    // A file that still has them makes them come twice at the worst.
    this.#tidy ??= setTimeout(() => {
      this.#tidy = undefined;
      void this.#write();
    }, TIDY_AFTER_MS);
  }

  /** Resolves when what is being written is on the disk, or the disk refused. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /** Stops, and writes what waits. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    if (this.#tidy) this.#isDirty = true;
    clearTimeout(this.#tidy);
    if (this.#isDirty) await this.#write();
    await this.#writing;
  }

  #set({ condition, place, known }: NewRule<Place>): RefusedRule[] {
    const { id } = condition;
    const before = this.#rules.get(id);
    const refuse = (why: string) => {
      // Its old version is not what was asked for.
      this.#rules.delete(id);
      return [{ id, why }];
    };
    const bytes = Buffer.byteLength(JSON.stringify(condition));
    if (bytes > RULE_MAX_BYTES)
      return refuse(`the rule has ${bytes} bytes, at most ${RULE_MAX_BYTES} are kept`);
    if (!before && this.#rules.size >= this.#options.max)
      return refuse(`at most ${this.#options.max} rules are kept here, and there are as many`);
    const now = this.#now();
    const own = before?.state;
    const isAhead = own !== undefined && own.seq >= (known?.seq ?? 0);
    const state =
      isAhead && before?.condition.version === condition.version
        ? own
        : initialState(now, isAhead ? own : known);
    // A change of the same rule may wait, from before the rule was taken away.
    const seq = Math.max(
      state.seq,
      ...this.#changes.map(({ change }) => (change.rule === id ? change.seq : 0)),
    );
    const numbered = { ...state, seq };
    this.#rules.set(id, { condition, place, state: numbered, due: nextDue(condition, numbered) });
    return [];
  }

  #step(rule: Stored<Place>, happening: Happening): void {
    const at = this.#now();
    const before = rule.state;
    const { state, change } = step(rule.condition, before, { ...happening, at } as StepInput);
    rule.state = state;
    rule.due = nextDue(rule.condition, state);
    if (change && !this.#options.isQuiet?.(rule.place)) {
      this.#changes.push({ number: ++this.#number, change });
      const tooMany = this.#changes.length - CHANGES_MAX;
      if (tooMany > 0) {
        this.#changes.splice(0, tooMany);
        this.#lost += tooMany;
      }
    }
    if (change || isToBeKept(before, state)) void this.#write();
    this.#options.onStep?.();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    let due = Number.POSITIVE_INFINITY;
    for (const rule of this.#rules.values()) due = Math.min(due, rule.due ?? due);
    if (due === Number.POSITIVE_INFINITY) return;
    const ms = Math.min(Math.max(due - this.#now(), 0), TIMER_MAX_MS);
    this.#timer = setTimeout(() => this.#onTimer(), ms);
  }

  #onTimer(): void {
    const now = this.#now();
    for (const rule of this.#rules.values())
      if (rule.due !== undefined && rule.due <= now) this.#step(rule, { tick: true });
    this.#arm();
  }

  /** Writes the file until it holds what is here. @returns when it does, or the disk refused */
  #write(): Promise<void> {
    this.#isDirty = true;
    this.#writing ??= this.#writeAll();
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Steps of one message become one write.
    await Promise.resolve();
    while (this.#isDirty) {
      this.#isDirty = false;
      clearTimeout(this.#tidy);
      this.#tidy = undefined;
      const number = this.#number;
      try {
        await writeAtomic(this.#options.path, this.#content());
      } catch (error) {
        this.#options.log("error", "rules.not_written", { error: messageOf(error) });
        this.#isDirty = true;
        clearTimeout(this.#retry);
        if (!this.#isStopped) this.#retry = setTimeout(() => void this.#write(), WRITE_AGAIN_MS);
        break;
      }
      const isNew = number > this.#durable;
      this.#durable = number;
      if (isNew && !this.#isStopped) this.#options.onChanges();
    }
    this.#writing = undefined;
  }

  #content(): string {
    const rules = [...this.#rules.values()].map(({ condition, place, state }) => ({
      condition,
      place,
      state,
    }));
    const changes = this.#changes.map(({ change }) => change);
    const read = Object.fromEntries(this.taken);
    return JSON.stringify({ version: 1, rules, changes, lost: this.#lost, read });
  }

  async #load(): Promise<void> {
    const { path, log, place: schema } = this.#options;
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") log("warn", "rules.unreadable", { error: error.message });
      return undefined;
    });
    const file = text === undefined ? undefined : checkJson(File, text);
    if (file && !file.ok) log("warn", "rules.unreadable", { error: cutText(file.error, 300) });
    if (!file?.ok) {
      this.#hash = await rulesHash([]);
      return;
    }
    const now = this.#now();
    for (const one of file.value.rules) {
      const place = check(schema, one.place);
      const state = readState(one.state);
      if (!place.ok || !state.ok) continue;
      const after = restarted(state.value, now);
      const { condition } = one;
      this.#rules.set(condition.id, {
        condition,
        place: place.value,
        state: after,
        due: nextDue(condition, after),
      });
    }
    for (const change of file.value.changes) this.#changes.push({ number: ++this.#number, change });
    this.#durable = this.#number;
    this.#lost = file.value.lost;
    for (const [stream, count] of Object.entries(file.value.read)) this.taken.set(stream, count);
    this.#hash = await rulesHash(this.#conditions());
    this.#arm();
  }

  /** Epoch ms. A clock that was set moves all rules to the new time first. */
  #now(): number {
    const { at, setBy } = this.#time.read();
    if (setBy === 0) return at;
    this.#options.log("warn", "rules.clock_set", { by_s: Math.round(setBy / 1_000) });
    for (const rule of this.#rules.values()) {
      rule.state = withClockSet(rule.state, setBy, at);
      rule.due = nextDue(rule.condition, rule.state);
    }
    if (!this.#isStopped) void this.#write();
    return at;
  }
}

/** Tells whether a state without a change is written all the same: what comes later would be another without it. */
function isToBeKept(before: RuleState, after: RuleState): boolean {
  return (
    (before.more === undefined) !== (after.more === undefined) ||
    (before.base === undefined) !== (after.base === undefined) ||
    before.excused !== after.excused
  );
}
