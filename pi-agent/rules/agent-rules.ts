/**
 * Rules that this agent watches by its own readings, for its gateway. A reading's action runs every `check_s` seconds, once for
 * all rules on it, and without a model. What leaves is a change of a rule's state, as the event `event`.
 */

import { join } from "node:path";
import { heldTruth } from "@edgecall/core/automations/truth.ts";
import type { WatchSetCommand } from "@edgecall/core/protocol/mqtt.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Truths, WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { isNoisy } from "@edgecall/core/rules/limits.ts";
import type { ReadingOption } from "@edgecall/core/rules/make-watch.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Log } from "@edgecall/node/log.ts";
import { type RefusedRule, WatchedRules, type WatchedRulesOptions } from "@edgecall/node/watched-rules.ts";
import type { SaidEvent } from "../calls/program-events.ts";
import { type ChangeEvent, ChangeSender, readChangeId } from "./change-sender.ts";
import { type Read, type ReadingParts, Readings } from "./readings.ts";
import type { NamedValue } from "./values.ts";

const FILE = "rules.json";
const RULES_MAX = 50;
/** Of a rule that does not say how often it is checked. */
const CHECK_S = 60;
/** Of `check_s`. */
const CHECK_SECOND_MS = windowMs(1_000, 100);
/** The presence is published again when so long no other rules came: they come in several commands. */
const ANNOUNCE_AFTER_MS = 2_000;
/** Of a value in the presence. */
const SAID_VALUE_MAX = 12;
/** Times of a tool's events, at least as many as may come in an hour. */
const EVENTS_KEPT = 50;
/** Jobs whose events are remembered. */
const STREAMS_MAX = 64;

const Place = z.object({ check_s: z.int(), acts: z.optional(z.boolean()) });
type Place = z.infer<typeof Place>;

export type AgentRulesParts = ReadingParts & {
  /** The agent's folder for its state. */
  stateDir: string;
  publish(event: ChangeEvent): void;
  /** An action was read, by a rule or by `look`. @param values undefined: it failed */
  onRead?(action: string, values: readonly NamedValue[] | undefined): void;
  /** It has other rules, of which its presence tells. */
  onRules(): void;
  log: Log;
};

/** @property begun its number, in the order in which readings began */
type BegunRead = Read & { begun: number };
type Check = { everyMs: number; timer: NodeJS.Timeout | undefined };

export class AgentRules {
  readonly #parts: AgentRulesParts;
  readonly #readings: Readings;
  readonly #rules: WatchedRules<Place>;
  readonly #sender: ChangeSender;
  /** By the reading's name. */
  readonly #checks = new Map<string, Check>();
  #begun = 0;
  /** By the reading's name: the number of the newest one that rules were given. */
  readonly #given = new Map<string, number>();
  /** Readings that failed at the last check. */
  readonly #failing = new Set<string>();
  /** By tool: when its last events were taken, by the steady clock. */
  readonly #times = new Map<string, number[]>();
  /** What the device last said of a rule's event. */
  readonly #texts = new Map<string, string>();
  #announcing: NodeJS.Timeout | undefined;
  /** What the presence last said of rules that act, without values. */
  #said = "[]";
  #isStopped = false;

  private constructor(
    parts: AgentRulesParts,
    open: (on: Pick<WatchedRulesOptions<Place>, "onChanges" | "onStep">) => WatchedRules<Place>,
  ) {
    this.#parts = parts;
    this.#readings = new Readings(parts);
    this.#rules = open({ onChanges: () => this.#sender.look(), onStep: () => this.#lookAtTruths() });
    this.#sender = new ChangeSender({
      publish: parts.publish,
      pending: () => this.#rules.pending(),
      textOf: (rule) => this.#texts.get(rule),
    });
    parts.events.onEvent((event) => this.#onEvent(event));
  }

  /** Reads the rules of before, and goes on with them. */
  static async open(parts: AgentRulesParts): Promise<AgentRules> {
    let on = { onChanges() {}, onStep() {} };
    const rules = await WatchedRules.open<Place>({
      path: join(parts.stateDir, FILE),
      place: Place,
      max: RULES_MAX,
      log: parts.log,
      isQuiet: ({ acts }) => acts === true,
      onChanges: () => on.onChanges(),
      onStep: () => on.onStep(),
    });
    const agentRules = new AgentRules(parts, (handlers) => {
      on = { ...on, ...handlers };
      return rules;
    });
    agentRules.#plan(new Set());
    return agentRules;
  }

  /** Of its rules and their versions, for the presence. */
  get hash(): string {
    return this.#rules.hash;
  }

  /** Whether the conditions of rules that act are so, for the presence; undefined: there are none, or none is known. */
  get truths(): Truths | undefined {
    const all = [...this.#rules.all()].flatMap(({ condition, place, state }) => {
      const so = place.acts ? heldTruth(state) : undefined;
      if (so === undefined) return [];
      const { id, version } = condition;
      const value = state.last?.value;
      // A presence has 4 KiB.
      const isShort = JSON.stringify(value).length <= SAID_VALUE_MAX;
      return [[id, { version, so, ...(isShort && { value }) }] as const];
    });
    return all.length === 0 ? undefined : Object.fromEntries(all);
  }

  /** What can be watched here, with the values of now. */
  async list(only: string | undefined): Promise<ReadingOption[]> {
    return await this.#readings.list(only, CHECK_S * 1_000);
  }

  /** Takes the gateway's rules. Durable when it resolves. */
  async set({ set = [], drop = [], all }: WatchSetCommand): Promise<{
    rules: Record<string, number>;
    refused: RefusedRule[];
  }> {
    const names = [...new Set(set.filter(({ condition }) => condition.is !== "happens").map(readingOf))];
    const reads = new Map(
      await Promise.all(names.map(async (name) => [name, await this.#read(name)] as const)),
    );
    const refused: RefusedRule[] = [];
    const accepted = set.filter(({ condition }) => {
      const why = this.#problem(condition, reads.get(condition.reading));
      if (why !== undefined) refused.push({ id: condition.id, why });
      return why === undefined;
    });
    const before = this.hash;
    // An older version of a rule that is refused now is not what was asked for.
    const gone = [...drop, ...refused.map(({ id }) => id)];
    const rules = accepted.map(({ condition, check_s: every = CHECK_S, known, acts }) => ({
      condition,
      place: { check_s: every, ...(acts && { acts }) },
      known,
    }));
    refused.push(...(await this.#rules.change({ set: rules, drop: gone, all })));
    for (const name of names) this.#feed(name, reads.get(name));
    this.#plan(new Set(names));
    if (this.hash !== before) this.#announceSoon();
    return { rules: this.#rules.versions(), refused };
  }

  /** Reads an action by itself, and gives the value to the rules on it too. */
  async look(reading: string): Promise<void> {
    this.#feed(reading, await this.#read(reading));
  }

  /** The agent is connected and has advertised itself. */
  connected(): void {
    this.#sender.connected();
  }

  /** @returns whether this acknowledges a change */
  acked(id: string): boolean {
    const change = readChangeId(id);
    if (!change) return false;
    this.#rules.stored(change.rule, change.seq);
    this.#sender.look();
    return true;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#announcing);
    for (const { timer } of this.#checks.values()) clearTimeout(timer);
    this.#sender.stop();
    this.#readings.stop();
    await this.#rules.stop();
  }

  /** @returns why this agent cannot watch that, in words */
  #problem({ is, reading, field }: WatchCondition, read: Read | undefined): string | undefined {
    if (is === "happens")
      return this.#readings.toolsWithEvent(reading).length > 0
        ? undefined
        : `no program on this device says the event '${reading}'`;
    const problem = this.#readings.problem(reading);
    if (problem !== undefined) return problem;
    // A sensor that is away at the moment may come back.
    if (!read?.ok || namedValue(read.values, field)) return undefined;
    const names = read.values.map((one) => one.field ?? reading).join(", ");
    return `'${reading}' has no value '${field ?? reading}' now. It has: ${names || "none"}`;
  }

  /** Sets a check for each reading that a rule is on. @param fresh readings that were just made */
  #plan(fresh: ReadonlySet<string>): void {
    const wanted = new Map<string, number>();
    for (const { condition, place } of this.#rules.all()) {
      const { reading } = condition;
      const everyMs = place.check_s * CHECK_SECOND_MS;
      wanted.set(reading, Math.min(wanted.get(reading) ?? Number.POSITIVE_INFINITY, everyMs));
    }
    for (const [reading, check] of this.#checks)
      if (wanted.get(reading) !== check.everyMs) {
        clearTimeout(check.timer);
        this.#checks.delete(reading);
      }
    for (const [reading, everyMs] of wanted) {
      if (this.#checks.has(reading)) continue;
      const check: Check = { everyMs, timer: undefined };
      this.#checks.set(reading, check);
      this.#checkAfter(reading, check, fresh.has(reading) ? everyMs : 0);
    }
  }

  #checkAfter(reading: string, check: Check, ms: number): void {
    check.timer = setTimeout(() => {
      const began = performance.now();
      void this.#check(reading).then(() => {
        if (this.#isStopped || this.#checks.get(reading) !== check) return;
        this.#checkAfter(reading, check, Math.max(1_000, check.everyMs - (performance.now() - began)));
      });
    }, ms);
  }

  async #check(reading: string): Promise<void> {
    const rules = [...this.#rules.all()].filter(({ condition }) => condition.reading === reading);
    const isRead = rules.some(({ condition }) => condition.is !== "happens");
    if (isRead) this.#feed(reading, await this.#read(reading));
    if (!rules.some(({ condition }) => condition.is === "happens")) return;
    // What such a program says is heard while it runs. One that is a job is run by whoever wants it.
    for (const tool of this.#readings.toolsWithEvent(reading))
      if (!isRead || tool !== reading) await this.#readings.read(tool);
  }

  async #read(reading: string): Promise<BegunRead> {
    const begun = ++this.#begun;
    return { ...(await this.#readings.read(reading)), begun };
  }

  /** Gives what was read to each rule on it. What began before something that was given already is an old value. */
  #feed(reading: string, read: BegunRead | undefined): void {
    if (this.#isStopped || !read || read.begun < (this.#given.get(reading) ?? 0)) return;
    this.#given.set(reading, read.begun);
    this.#logFault(reading, read);
    this.#parts.onRead?.(reading, read.ok ? read.values : undefined);
    for (const { condition } of this.#rules.all()) {
      if (condition.reading !== reading || condition.is === "happens") continue;
      const value = read.ok ? namedValue(read.values, condition.field) : undefined;
      this.#rules.step(condition.id, value ? { value: value.value, unit: value.unit } : { missing: true });
    }
  }

  #logFault(reading: string, read: Read): void {
    if (read.ok) this.#failing.delete(reading);
    else if (!this.#failing.has(reading)) {
      this.#failing.add(reading);
      this.#parts.log("warn", "rules.no_reading", { reading, reason: cutText(read.why, 300) });
    }
  }

  #onEvent({ tool, name, value, text, stream }: SaidEvent): void {
    if (this.#isStopped) return;
    if (stream) {
      const { taken } = this.#rules;
      // The output of a job is read from its beginning when the agent has started again.
      if (stream.index < (taken.get(stream.name) ?? 0)) return;
      // The stream that was quiet for longest is the first to be forgotten.
      taken.delete(stream.name);
      taken.set(stream.name, stream.index + 1);
      for (const oldest of taken.keys()) if (taken.size > STREAMS_MAX) taken.delete(oldest);
    }
    if (!this.#mayCome(tool)) return;
    for (const { condition } of this.#rules.all()) {
      if (condition.is !== "happens" || condition.reading !== name) continue;
      if (text !== undefined) this.#texts.set(condition.id, text);
      this.#rules.step(condition.id, { value });
    }
  }

  /** 30 events of a tool count in an hour. */
  #mayCome(tool: string): boolean {
    const now = performance.now();
    const times = this.#times.get(tool) ?? [];
    if (isNoisy(times, now)) {
      this.#parts.log("warn", "event.dropped", { tool, reason: "it said 30 events within an hour" });
      return false;
    }
    this.#times.set(tool, [...times, now].slice(-EVENTS_KEPT));
    return true;
  }

  /** Another truth is said at once, but after the disk has the state that led to it. */
  #lookAtTruths(): void {
    void this.#rules.written().then(() => {
      const said = JSON.stringify(
        Object.entries(this.truths ?? {}).map(([id, { version, so }]) => [id, version, so]),
      );
      if (said === this.#said || this.#isStopped) return;
      this.#said = said;
      this.#parts.onRules();
    });
  }

  #announceSoon(): void {
    clearTimeout(this.#announcing);
    this.#announcing = setTimeout(() => this.#parts.onRules(), ANNOUNCE_AFTER_MS);
  }
}

function readingOf({ condition }: { condition: WatchCondition }): string {
  return condition.reading;
}

/** A value that is the only one need not be named. */
function namedValue(values: readonly NamedValue[], field: string | undefined): NamedValue | undefined {
  const [first] = values;
  if (field === undefined) return values.length === 1 ? first : values.find((one) => one.field === undefined);
  return values.find((one) => one.field === field);
}
