/**
 * Rules that act, at the bridge: takes those that the gateway has signed, gives the machine (core/automations/) the values of their
 * conditions, and does what it says after the disk has it.
 *
 *   value ─▶ machine ─▶ one write: firing, run, news ─▶ ledger ─▶ device ─▶ outcome ─▶ machine ─▶ one write ─▶ the ledger's entry is settled
 */
import { join } from "node:path";
import {
  beginFrom,
  type HomeCommands,
  heldUntil,
  withBeginning,
  withCommand,
  withHomeClockSet,
  withHomeRestart,
} from "@edgecall/core/automations/home-limits.ts";
import { advance, canUndo, nextDue } from "@edgecall/core/automations/run.ts";
import {
  type Advanced,
  type AutomationInput,
  type AutomationState,
  actionId,
  type Effect,
  initialAutomation,
  isToBeKept,
  type LedgerSays,
  readAutomationState,
  type Surroundings,
  type Why,
} from "@edgecall/core/automations/state.ts";
import { actionOf } from "@edgecall/core/automations/steps.ts";
import { combined, type Truth } from "@edgecall/core/automations/truth.ts";
import { endedRun, isUndo } from "@edgecall/core/automations/turn.ts";
import {
  type AllowedAutomation,
  AUTOMATIONS_MAX,
  type Automation,
  type AutomationOrdered,
  type AutomationRun,
  type SaidPresence,
} from "@edgecall/core/protocol/automation.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { isTrue } from "@edgecall/core/rules/evaluate.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { readValue } from "@edgecall/core/rules/value.ts";
import { isMomentary } from "@edgecall/core/rules/watch-rule.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { DAY_MS } from "@edgecall/core/time/zone.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { Part } from "@edgecall/discovery/model/source.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Clock, SteadyTime } from "@edgecall/node/clock.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { DeviceCalls } from "../devices/calls.ts";
import type { LiveReadings } from "../devices/live-readings.ts";
import type { GatewayLink } from "../gateway/gateway.ts";
import type { GatewayPin } from "../gateway/gateway-pin.ts";
import { type AutomationsContent, contentText, readAutomations, type Seen } from "./automations-file.ts";
import { GatewayActs } from "./gateway-acts.ts";
import { NewsQueue } from "./news.ts";
import type { HomePresenceSources } from "./presence.ts";
import { isOfGateway, RuleCommands } from "./rule-commands.ts";
import { statusOf, undoneOf } from "./rule-status.ts";
import { RuleValues } from "./rule-values.ts";
import { RunRecords } from "./run-records.ts";
import { readSignedRule } from "./signed-rule.ts";
import type { Ending } from "./step-outcome.ts";

const FILE = "automations.json";
const RUNS_FILE = "automation-runs.json";
/** Rules that are gone, whose versions are remembered. */
const SEEN_MAX = 500;
/** A write that failed is tried again so often. */
const WRITE_AGAIN_MS = windowMs(10_000, 500);
/** A clock that is set is noticed at the latest after this time. */
const TIMER_MAX_MS = 600_000;
/** A step that could not be written down for so long is not done any more. */
const LATE_MS = 10 * 60_000;
/** The gateway did not welcome the bridge for so long: nobody can say which rules are still wanted. */
const ALONE_DAYS = 30;
/** A welcome is written down so often. */
const WELCOME_KEPT_MS = 6 * 3_600_000;
/** A device of a rule that is away for so long is gone. */
const GONE_MS = windowMs(600_000, 2_000);
/** Something that was due so long ago is overdue. */
const OVERDUE_MS = 120_000;
/** After a start, devices are waited for so long. */
const KNOWN_MS = windowMs(60_000, 10_000);
/** Of the answer about rules. */
const STATUS_CHARS = 150_000;
/** A person who takes a run back waits no longer for the answer. */
const UNDO_MS = 60_000;

type AutomationFrame = Extract<HomeFrame, { t: "automations" | "news_stored" | "acted" | "presence_said" }>;

export type BridgeAutomationsParts = {
  folder: string;
  pin: GatewayPin;
  catalog: DeviceCatalog;
  live: LiveReadings;
  calls: DeviceCalls;
  presence: Pick<HomePresenceSources, "now" | "said" | "shown">;
  /** The system's time is right, as far as that is known. */
  isTimeSure(): boolean;
  /** Devices are not known yet since the start. */
  isStarting(): boolean;
  /** Devices come and go just now, or are not known yet. */
  isBusy(): boolean;
  clock: Clock;
  gateway: Pick<GatewayLink, "send">;
  log: Log;
};

/** A rule that is held. */
type Entry = {
  /** Of this entry alone: a rule may be there twice, while a run of its former version ends. */
  readonly place: string;
  text: string;
  rule: AllowedAutomation;
  state: AutomationState;
  silent: number;
  /** Only its present run is left of it. */
  isLeaving: boolean;
  due: number | undefined;
  /** Monotonic ms: since when a device of its steps is missing. */
  missing?: number | undefined;
};

/** What is done once a write is on the disk. */
type Later = { write: number; work(): void };

export class BridgeAutomations {
  readonly #parts: BridgeAutomationsParts;
  readonly #path: string;
  readonly #time: SteadyTime;
  readonly #values: RuleValues;
  readonly #acts: GatewayActs;
  readonly #commands: RuleCommands;
  readonly #news: NewsQueue;
  readonly #records: RunRecords;
  #entries: Entry[] = [];
  /** In the order of their last change. */
  readonly #seen = new Map<string, Seen>();
  #home: HomeCommands;
  #said: readonly SaidPresence[];
  /** Epoch ms. */
  #welcomed: number | undefined;
  #hash = "";
  /** What rules wait for besides values and times. */
  #world = "";
  #places = 0;
  /** The newest write that is wanted, and the newest that is on the disk. */
  #wanted = 0;
  #durable = 0;
  #later: Later[] = [];
  /** What waits for the devices. */
  readonly #waiting: { work(): void; over: NodeJS.Timeout }[] = [];
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: string | undefined;
  /** Monotonic ms: since when something waits for the disk. */
  #waitingSince: number | undefined;
  #isStopped = false;
  /** The gateway that is connected is the home's, whose key is pinned. */
  #isTrusted = false;
  /** What the gateway says is taken in its order. */
  #work: Promise<void> = Promise.resolve();
  readonly #undone = new Map<string, (run: AutomationRun | undefined) => void>();

  private constructor(parts: BridgeAutomationsParts, content: AutomationsContent, records: RunRecords) {
    const { clock, gateway, live, folder } = parts;
    this.#parts = parts;
    this.#path = join(folder, FILE);
    this.#records = records;
    this.#time = new SteadyTime(clock);
    this.#values = new RuleValues(live);
    this.#acts = new GatewayActs(gateway);
    this.#commands = new RuleCommands({ ...parts, acts: this.#acts });
    this.#news = new NewsQueue(gateway, content);
    this.#home = content.commands;
    this.#said = content.said;
    this.#welcomed = content.welcomed;
    for (const [id, seen] of Object.entries(content.seen)) this.#seen.set(id, seen);
  }

  /** Reads the file, and verifies each rule anew. */
  static async open(parts: BridgeAutomationsParts): Promise<BridgeAutomations> {
    const content = await readAutomations(join(parts.folder, FILE), parts.log);
    const records = await RunRecords.open(join(parts.folder, RUNS_FILE), parts.log);
    const automations = new BridgeAutomations(parts, content, records);
    await automations.#begin(content);
    return automations;
  }

  /** Of the rules and their versions, for the hello. */
  get hash(): string {
    return this.#hash;
  }

  /** Those that are held. */
  get rules(): AllowedAutomation[] {
    return this.#entries.flatMap(({ rule, isLeaving }) => (isLeaving ? [] : [rule]));
  }

  /** What is wrong, for the gateway and for doctors. */
  conditions(): Condition[] {
    const found: Condition[] = [];
    const { problem } = this.#parts.pin;
    if (problem && this.#seen.size > 0) found.push(problem);
    if (this.#failure !== undefined)
      found.push({
        code: "rules_unwritten",
        params: { path: this.#path, error: cutText(this.#failure, 150) },
      });
    if (this.#entries.length > 0 && this.#isAlone(this.#now()))
      found.push({ code: "rules_without_gateway", params: { days: `${ALONE_DAYS}` } });
    const late = this.#overdue();
    if (late) found.push({ code: "rule_overdue", params: { rule: cutText(late.rule.name, 60) } });
    return found;
  }

  /** A gateway has welcomed the bridge. */
  welcomed(claimed: { home: string; gateway_key?: string | undefined; time?: number | undefined }): void {
    this.#inOrder(async () => this.#welcome(await this.#parts.pin.welcomed(claimed), claimed.time));
  }

  #welcome(isOurs: boolean, time: number | undefined): void {
    if (isOurs) {
      const now = this.#now();
      const isNews = this.#welcomed === undefined || now - this.#welcomed > WELCOME_KEPT_MS;
      this.#welcomed = now;
      if (isNews && this.#entries.length > 0) void this.#write();
    }
    this.#isTrusted = isOurs;
    this.#acts.welcomed(isOurs);
    this.#news.welcomed(isOurs, time);
    this.#tick();
  }

  gatewayLost(): void {
    this.#inOrder(async () => {
      this.#isTrusted = false;
      this.#acts.gatewayLost();
      this.#news.gatewayLost();
    });
  }

  /** The home has revoked this bridge: what it was allowed to do is over. */
  revoked(): void {
    this.#inOrder(async () => {
      if (this.#entries.length === 0) return;
      this.#parts.log("warn", "automations.revoked", { rules: this.#entries.length });
      // A home that takes the bridge back sends them again.
      for (const entry of [...this.#entries]) this.#leave(entry, "dropped");
      await this.#changed();
    });
  }

  /** Takes what the gateway says of rules. */
  onFrame(frame: AutomationFrame): void {
    this.#inOrder(async () => {
      if (!this.#isTrusted) {
        this.#parts.log("error", "automations.refused", {
          frame: frame.t,
          reason: "it is not the home's gateway",
        });
        return;
      }
      switch (frame.t) {
        case "automations":
          await this.#onAutomations(frame);
          break;
        case "news_stored":
          if (this.#news.stored(frame.upto)) void this.#write();
          break;
        case "acted":
          this.#acts.onActed(frame);
          break;
        case "presence_said":
          this.#said = frame.all;
          this.#parts.presence.said(frame.all);
          void this.#write();
          this.#tick();
      }
    });
  }

  /** Answers a person's order. */
  onOrder({ id, order }: Extract<HomeFrame, { t: "order" }>): void {
    const answer = (ordered: AutomationOrdered) => this.#parts.gateway.send({ t: "ordered", id, ordered });
    this.#inOrder(async () => {
      if (!this.#isTrusted)
        answer({ error: "the bridge takes orders about rules from the home's gateway alone" });
      else if (order.do === "status") answer(this.#status(order.rules));
      else void this.#undo(order).then(answer);
    });
  }

  /** One after another, and a fault ends nothing but its own work. */
  #inOrder(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      const text = error instanceof Error ? error.stack : String(error);
      this.#parts.log("error", "bridge.internal_error", { side: "automations", error: text });
    });
  }

  async #onAutomations({ set, drop, all }: Extract<HomeFrame, { t: "automations" }>): Promise<void> {
    const { log } = this.#parts;
    const wanted = new Set<string>();
    for (const text of set) {
      const read = readSignedRule(text, this.#parts.pin, this.#now());
      const problem = read.ok ? this.#set(text, read.value) : read.error;
      if (read.ok) wanted.add(read.value.id);
      if (problem !== undefined)
        log("warn", "automations.refused", { rule: read.ok ? read.value.id : undefined, reason: problem });
    }
    for (const entry of [...this.#entries])
      if (drop.includes(entry.rule.id) || (all && !wanted.has(entry.rule.id))) this.#drop(entry);
    await this.#changed();
    this.look();
  }

  /** The catalog has read a message. @param readBy the parts that it is about */
  onMessage(readBy: () => readonly Part[]): void {
    if (this.#entries.length === 0 || !this.#parts.live.isUp) return;
    const keys = this.#parts.catalog.keysOf(readBy(), this.#parts.clock.wall());
    if (keys.length === 0) return;
    for (const entry of this.#entries)
      if (entry.rule.when.some(({ key }) => keys.includes(key))) this.#give(entry);
    this.#arm();
  }

  /** Looks at all values: what became unavailable by its silence alone comes in no message. */
  look(): void {
    if (this.#entries.length === 0) return;
    if (!this.#parts.isStarting()) this.#runWaiting();
    for (const entry of [...this.#entries]) {
      this.#give(entry);
      this.#judge(entry);
    }
    this.#arm();
  }

  /** A source of devices is connected anew: for a minute nothing begins. */
  sourceUp(): void {
    for (const entry of this.#entries) this.#step(entry, { of: "connected" });
    this.#arm();
  }

  /** A person has removed a device. */
  forgot(key: string): void {
    for (const entry of [...this.#entries])
      if (!entry.isLeaving && usesOf(entry.rule).includes(key)) this.#pause(entry, "device_gone");
    this.#arm();
  }

  /** Call it every second. */
  tick(): void {
    this.#tick();
  }

  /** Whether the conditions of a rule are so now, whatever their holds are. */
  isSo({ match, when }: Automation): boolean {
    const truths = when.map(({ key, condition }): Truth => {
      const reading = this.#parts.live.of(key, condition.reading);
      const value = reading && readValue(reading, condition.type, condition.unit);
      return isMomentary(condition) ? false : value === undefined ? undefined : isTrue(condition, value);
    });
    return when.length > 0 && combined(match, truths) === true;
  }

  #status(wanted: readonly string[]): AutomationOrdered {
    const at = this.#now();
    const found = this.#entries.filter(({ rule, isLeaving }) => !isLeaving && wanted.includes(rule.id));
    const { shown } = this.#parts.presence;
    // A frame has room for all runs of some rules, or for some runs of all.
    for (const most of [20, 5, 1]) {
      const status = found.map(({ rule, state }) =>
        statusOf(rule, state, this.#records.of(rule.id).slice(-most), this.#because(rule), at),
      );
      const ordered = { status, ...(shown && { presence: shown }) };
      if (most === 1 || JSON.stringify(ordered).length <= STATUS_CHARS) return ordered;
    }
    return { status: [] };
  }

  /** A person takes a run back. Resolves when that has ended. */
  async #undo({ rule, firing }: { rule: string; firing: number }): Promise<AutomationOrdered> {
    const entry = this.#entries.find((one) => one.rule.id === rule && !one.isLeaving);
    if (!entry) return { error: `rule: the bridge has no rule ${rule}` };
    const steps = entry.rule.do.length;
    if (!canUndo(entry.rule, entry.state, firing)) return undoneOf(undefined, steps);
    const { promise, resolve } = Promise.withResolvers<AutomationRun | undefined>();
    const over = setTimeout(() => resolve(undefined), UNDO_MS);
    this.#undone.set(`${rule} ${firing}`, resolve);
    this.#step(entry, { of: "undo", firing });
    this.#arm();
    const run = await promise;
    clearTimeout(over);
    return run
      ? undoneOf(run, steps)
      : { error: "it was not undone in time; the rule's next message says what became of it" };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    for (const { over } of this.#waiting) clearTimeout(over);
    this.#acts.stop();
    this.#news.stop();
    if (this.#wanted > this.#durable) await this.#write();
    await this.#writing;
    await this.#records.stop();
  }

  // ── rules come and go ─────────────────────────────────────────────────────────────────────────────────

  async #begin({ rules, said }: AutomationsContent): Promise<void> {
    const { pin, log, calls } = this.#parts;
    const now = this.#now();
    this.#home = withHomeRestart(this.#home, now);
    for (const { text, state, silent, leaving } of rules) {
      const read = readSignedRule(text, pin, leaving ? 0 : now);
      const known = readAutomationState(state);
      if (!read.ok) log("warn", "automations.refused", { reason: read.error });
      if (!read.ok) continue;
      const rule = read.value;
      const highest = this.#seen.get(rule.id)?.version ?? 0;
      if (rule.version < highest && !leaving) {
        log("warn", "automations.refused", { rule: rule.id, reason: "an older version" });
        continue;
      }
      const isRight =
        known.ok &&
        known.value.version === rule.version &&
        known.value.conditions.length === rule.when.length;
      const begun = isRight ? known.value : initialAutomation(rule, now, this.#seen.get(rule.id)?.firing);
      const more = { silent, isLeaving: leaving };
      this.#entries.push({ place: this.#newPlace(), text, rule, state: begun, due: undefined, ...more });
      this.#recordLast(rule, begun);
    }
    this.#parts.presence.said(said);
    const wanted = this.#entries.flatMap(({ rule, state: { run } }) =>
      run ? numbersOf(rule).map((step) => actionId(rule, run.firing, step)) : [],
    );
    calls.settleAllBut(new Set(wanted));
    for (const entry of this.#entries)
      this.#step(entry, { of: "restarted", ledger: (id) => this.#ledger(entry, id) });
    this.#hash = await rulesHash(this.#held());
    this.#arm();
  }

  #ledger({ rule, state: { run } }: Entry, id: string): LedgerSays {
    const number = numbersOf(rule).find((step) => id === actionId(rule, run?.firing ?? 0, step)) ?? 0;
    const isBack = number >= rule.do.length && isUndo(rule, run?.ending?.why);
    return this.#commands.ledger(id, isBack ? undefined : actionOf(rule, number));
  }

  /** The records are written seconds later than the file by which rules act: a kill between them has lost how the last run ended. */
  #recordLast(rule: AllowedAutomation, { last }: AutomationState): void {
    if (!last) return;
    const isOf = ({ firing, version }: AutomationRun) => firing === last.firing && version === rule.version;
    const known = this.#records.of(rule.id).find(isOf);
    if (known && known.state !== "running") return;
    const at = Math.max(last.at, ...last.steps.map((step) => step.at));
    this.#records.set(endedRun(rule, last, at));
  }

  #held(): { id: string; version: number }[] {
    return this.rules.map(({ id, version }) => ({ id, version }));
  }

  #newPlace(): string {
    this.#places += 1;
    return `${this.#places}`;
  }

  /** @returns why a rule is not taken */
  #set(text: string, rule: AllowedAutomation): string | undefined {
    const { id, version, allowed } = rule;
    const seen = this.#seen.get(id);
    if (seen && (version < seen.version || (version === seen.version && allowed.at < seen.at)))
      return "an older one than was seen";
    if (seen?.dropped && version === seen.version && allowed.at === seen.at)
      return "it was dropped, and was not allowed again since";
    const present = this.#entries.find((one) => one.rule.id === id && !one.isLeaving);
    const count = this.#entries.filter((one) => !one.isLeaving).length;
    if (!present && count >= AUTOMATIONS_MAX) return `at most ${AUTOMATIONS_MAX} rules are kept here`;
    const isSame = present?.rule.version === version;
    const firing = Math.max(seen?.version === version ? seen.firing : 0, isSame ? present.state.firing : 0);
    this.#remember(id, { version, at: allowed.at, firing, dropped: false });
    if (present && isSame && present.state.stopped === undefined) {
      // Another name, or other words.
      present.text = text;
      present.rule = rule;
      return undefined;
    }
    if (present) this.#leave(present, "changed_rule");
    const state = initialAutomation(rule, this.#now(), firing);
    const more = { silent: 0, isLeaving: false, due: undefined };
    this.#entries.push({ place: this.#newPlace(), text, rule, state, ...more });
    return undefined;
  }

  #drop(entry: Entry): void {
    const { id, version, allowed } = entry.rule;
    this.#leave(entry, "dropped");
    const firing = Math.max(entry.state.firing, this.#seen.get(id)?.firing ?? 0);
    const seen = this.#seen.get(id);
    if (seen && seen.version > version) return;
    this.#remember(id, { version, at: allowed.at, firing, dropped: true });
  }

  /** It begins nothing any more, and goes when its run has come to its end. */
  #leave(entry: Entry, why: Why): void {
    if (entry.isLeaving) return;
    entry.isLeaving = true;
    this.#step(entry, { of: "stop", why });
    this.#goIfOver(entry);
  }

  #goIfOver(entry: Entry): void {
    if (!entry.isLeaving || entry.state.run) return;
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#values.forget(entry.place);
    if (this.#entries.every(({ rule }) => rule.id !== entry.rule.id)) this.#records.forget(entry.rule.id);
  }

  #remember(id: string, seen: Seen): void {
    this.#seen.delete(id);
    this.#seen.set(id, seen);
    const held = new Set(this.#entries.map(({ rule }) => rule.id));
    for (const old of [...this.#seen.keys()].slice(0, Math.max(0, this.#seen.size - SEEN_MAX)))
      if (!held.has(old)) this.#seen.delete(old);
  }

  async #changed(): Promise<void> {
    this.#hash = await rulesHash(this.#held());
    this.#arm();
    await this.#write();
  }

  // ── values, time ──────────────────────────────────────────────────────────────────────────────────────

  #give(entry: Entry): void {
    entry.rule.when.forEach((condition, number) => {
      const input = this.#values.next(entry.place, number, condition);
      if (input) this.#step(entry, input);
    });
  }

  /** A device that has changed since the rule was allowed, or is gone, pauses it. */
  #judge(entry: Entry): void {
    if (entry.isLeaving || entry.state.stopped !== undefined) return;
    if (this.#now() >= entry.rule.allowed.until) {
      this.#pause(entry, "not_allowed");
      return;
    }
    if (this.#parts.isBusy() || !this.#parts.live.isUp) return;
    const problems = [...entry.rule.do, ...entry.rule.end].map((step) => this.#commands.problemOf(step));
    if (problems.includes("device_changed")) this.#pause(entry, "device_changed");
    const now = this.#parts.clock.now();
    const keys = entry.rule.when.flatMap(({ of, key }) => (of === "hosted" ? [key] : []));
    const isGone =
      problems.includes("device_gone") ||
      keys.some((key) => this.#parts.catalog.deviceOf(key, this.#parts.clock.wall()) === undefined);
    entry.missing = isGone ? (entry.missing ?? now) : undefined;
    if (entry.missing !== undefined && now - entry.missing >= GONE_MS) this.#pause(entry, "device_gone");
  }

  #pause(entry: Entry, why: Why): void {
    if (entry.state.stopped !== undefined) return;
    const told = this.#step(entry, { of: "stop", why });
    if (!told.some((effect) => effect.of === "pause")) this.#tellPaused(entry, why);
    void this.#write();
  }

  #tick(): void {
    if (this.#entries.length === 0) return;
    const now = this.#now();
    const world = `${this.#parts.isTimeSure()} ${this.#parts.presence.now} ${this.#isAlone(now)}`;
    const isOther = world !== this.#world;
    this.#world = world;
    for (const entry of [...this.#entries])
      if (isOther || (entry.due !== undefined && entry.due <= now)) this.#step(entry, { of: "tick" });
    this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    const due = Math.min(...this.#entries.map((entry) => entry.due ?? Number.POSITIVE_INFINITY));
    if (due === Number.POSITIVE_INFINITY) return;
    const ms = Math.min(Math.max(due - this.#now(), 0), TIMER_MAX_MS);
    this.#timer = setTimeout(() => this.#tick(), ms);
  }

  /** Epoch ms. A clock that was set moves all rules to the new time first. */
  #now(): number {
    const { at, setBy } = this.#time.read();
    if (setBy === 0) return at;
    this.#parts.log("warn", "automations.clock_set", { by_s: Math.round(setBy / 1_000) });
    this.#home = withHomeClockSet(this.#home, setBy);
    if (this.#welcomed !== undefined) this.#welcomed += setBy;
    for (const entry of [...this.#entries]) this.#stepAt(entry, { of: "clock_set", by: setBy }, at);
    return at;
  }

  /** Nobody can say which rules are still wanted. */
  #isAlone(now: number): boolean {
    return this.#welcomed !== undefined && now - this.#welcomed > ALONE_DAYS * DAY_MS;
  }

  #overdue(): Entry | undefined {
    const { clock } = this.#parts;
    const now = this.#now();
    const isStuck = this.#waitingSince !== undefined && clock.now() - this.#waitingSince > OVERDUE_MS;
    return this.#entries.find(
      ({ due, state }) =>
        (due !== undefined && now - due > OVERDUE_MS) || (isStuck && state.run !== undefined),
    );
  }

  // ── the machine ───────────────────────────────────────────────────────────────────────────────────────

  #step(entry: Entry, input: AutomationInput): Effect[] {
    return this.#isStopped ? [] : this.#stepAt(entry, input, this.#now());
  }

  #stepAt(entry: Entry, input: AutomationInput, at: number): Effect[] {
    const before = entry.state;
    const surroundings = this.#surroundings(entry, at);
    const { state, effects } = this.#advance(entry, input, surroundings);
    entry.state = state;
    for (const effect of effects) this.#take(entry, effect, at);
    entry.due = nextDue(entry.rule, state, { sure: surroundings.sure, begin_from: surroundings.begin_from });
    if (effects.length > 0 || isToBeKept(before, state)) void this.#write();
    this.#goIfOver(entry);
    return effects;
  }

  /** One damaged rule stops only itself. */
  #advance(entry: Entry, input: AutomationInput, surroundings: Surroundings): Advanced {
    const { rule, state } = entry;
    try {
      return advance(rule, state, input, surroundings);
    } catch (error) {
      this.#parts.log("error", "automations.failed", { rule: rule.id, error: messageOf(error) });
      return { state, effects: [] };
    }
  }

  #surroundings(entry: Entry, at: number): Surroundings {
    const { presence, isTimeSure } = this.#parts;
    return {
      at,
      sure: isTimeSure(),
      presence: presence.now,
      // What was begun comes to its end also without a gateway.
      begin_from: this.#isAlone(at) ? Number.MAX_SAFE_INTEGER : beginFrom(this.#home),
      because: () => this.#because(entry.rule),
      before: (step) => this.#commands.before(step),
      held_until: (step) => heldUntil(this.#home, step, at),
    };
  }

  #because({ when }: AllowedAutomation): string[] {
    return when.map((one) => this.present(one));
  }

  /** A condition's present value, in words. */
  present({ key, agent, condition }: AllowedAutomation["when"][number]): string {
    const { catalog, clock, live } = this.#parts;
    const name = catalog.deviceOf(key, clock.wall())?.name ?? agent;
    const value = live.of(key, condition.reading)?.text ?? "?";
    return cutText(`${name}, ${condition.reading}: ${value}`, 200);
  }

  /** What goes into this write at once, and what is done after it. */
  #take(entry: Entry, effect: Effect, at: number): void {
    const given = this.#parts.clock.now();
    switch (effect.of) {
      case "tell":
        this.#tell(entry, effect);
        break;
      case "begun":
        this.#home = withBeginning(this.#home, at);
        break;
      case "pause":
        this.#tellPaused(entry, effect.why);
        break;
      case "do":
        this.#home = withCommand(this.#home, effect.action, at);
        this.#values.commanded(effect.id, effect.depth);
        this.#afterWrite(this.#onceKnown(() => this.#do(entry, effect, given)));
        break;
      case "undo":
        this.#home = withCommand(this.#home, effect.undoes, at);
        this.#values.commanded(effect.id, effect.depth);
        this.#afterWrite(
          this.#onceKnown(() => this.#commands.undo(effect, (ending) => this.#ended(entry, effect, ending))),
        );
        break;
      case "look":
        this.#afterWrite(this.#onceKnown(() => this.#look(entry, effect)));
    }
  }

  /** After a start its devices are not known at once. @returns work that waits for them, but not for long */
  #onceKnown(work: () => void): () => void {
    return () => {
      if (!this.#parts.isStarting()) {
        work();
        return;
      }
      const once = { work, over: setTimeout(() => this.#runWaiting(), KNOWN_MS) };
      this.#waiting.push(once);
    };
  }

  #runWaiting(): void {
    for (const { work, over } of this.#waiting.splice(0)) {
      clearTimeout(over);
      if (!this.#isStopped) work();
    }
  }

  /** @param given when the machine said so, monotonic ms: the disk may have refused since */
  #do(entry: Entry, effect: Extract<Effect, { of: "do" }>, given: number): void {
    const end = (ending: Ending, takenBack?: true) =>
      takenBack ? this.#takenBack(entry, effect, ending) : this.#ended(entry, effect, ending);
    const isLate = !effect.is_end && this.#parts.clock.now() - given > LATE_MS;
    if (isLate) end({ outcome: "not_sent", text: "the bridge could not write to its disk in time" });
    else this.#commands.do(entry.rule, effect, end);
  }

  #look(entry: Entry, effect: Extract<Effect, { of: "look" }>): void {
    const { firing, step } = effect;
    const isLate = this.#now() - (entry.state.run?.from ?? 0) > LATE_MS;
    if (effect.until === "now" && isOfGateway(effect.action) && isLate) {
      // The gateway would carry it out now if it never had it.
      this.#ended(entry, effect, {
        outcome: "unknown",
        text: "the bridge was off for too long to ask again",
      });
      return;
    }
    if (effect.until === "now") {
      this.#commands.lookNow(entry.rule, effect, (ending) => this.#ended(entry, effect, ending));
      return;
    }
    void this.#commands.lookOn(effect, effect.until - this.#now()).then((text) => {
      if (text !== undefined) this.#step(entry, { of: "late", firing, step, text });
      this.#arm();
    });
  }

  #ended(
    entry: Entry,
    { firing, step, id }: { firing: number; step: number; id: string },
    ending: Ending,
  ): void {
    if (this.#isStopped) return;
    this.#step(entry, { of: "outcome", firing, step, ...ending });
    // The outcome has to be on the disk first: else an action would be lost, or done twice.
    this.#afterWrite(() => this.#parts.calls.settle(id));
    void this.#write();
    this.#arm();
  }

  /** What was told as confirmed is told otherwise: the run itself is over, or goes on. */
  #takenBack({ rule }: Entry, { firing, step, id }: Extract<Effect, { of: "do" }>, { text }: Ending): void {
    const { id: ruleId, version } = rule;
    const known = this.#records.of(ruleId).find((one) => one.firing === firing && one.version === version);
    const told = { step, outcome: "unconfirmed" as const, text, at: this.#now() };
    const steps = [...(known?.steps ?? []).filter((one) => one.step !== step), told];
    const run: AutomationRun = {
      ...{ rule: ruleId, version, firing, at: told.at, because: [], ...known },
      ...{ state: "stopped", why: "unconfirmed", steps },
    };
    this.#records.set(run);
    this.#news.add({ rule: ruleId, version, run });
    this.#afterWrite(() => this.#parts.calls.settle(id));
    void this.#write();
  }

  #tell(entry: Entry, { run, aloud, critical }: Extract<Effect, { of: "tell" }>): void {
    this.#records.set(run);
    const { id, version } = entry.rule;
    if (run.state !== "running") {
      const waiting = this.#undone.get(`${id} ${run.firing}`);
      this.#undone.delete(`${id} ${run.firing}`);
      waiting?.(run);
    }
    if (!aloud) {
      if (run.state !== "running") entry.silent += 1;
      return;
    }
    const silent = entry.silent > 0 && { silent: entry.silent };
    entry.silent = 0;
    this.#news.add({ rule: id, version, run, ...silent, ...(critical && { critical }) });
  }

  #tellPaused(entry: Entry, why: Why): void {
    const { id, version } = entry.rule;
    this.#parts.log("warn", "automations.paused", { rule: id, reason: why });
    this.#news.add({ rule: id, version, paused: why });
  }

  // ── the disk ──────────────────────────────────────────────────────────────────────────────────────────

  #afterWrite(work: () => void): void {
    this.#later.push({ write: this.#wanted + 1, work });
    this.#waitingSince ??= this.#parts.clock.now();
  }

  /** Writes the file until it holds what is here. @returns when it does, or the disk refused */
  #write(): Promise<void> {
    this.#wanted += 1;
    this.#writing ??= this.#writeAll();
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Steps of one message become one write.
    await Promise.resolve();
    while (this.#durable < this.#wanted) {
      clearTimeout(this.#retry);
      const write = this.#wanted;
      const { n } = this.#news.content;
      try {
        await writeAtomic(this.#path, this.#content());
      } catch (error) {
        this.#failure = messageOf(error);
        this.#parts.log("error", "automations.not_written", { error: messageOf(error) });
        if (!this.#isStopped) this.#retry = setTimeout(() => void this.#write(), WRITE_AGAIN_MS);
        break;
      }
      this.#failure = undefined;
      this.#durable = write;
      const due = this.#later.filter((one) => one.write <= write);
      this.#later = this.#later.filter((one) => one.write > write);
      if (this.#later.length === 0) this.#waitingSince = undefined;
      if (this.#isStopped) continue;
      this.#news.written(n);
      for (const { work } of due) work();
    }
    this.#writing = undefined;
  }

  #content(): string {
    const rules = this.#entries.map(({ text, state, silent, isLeaving: leaving }) => ({
      text,
      state,
      silent,
      leaving,
    }));
    for (const { rule, state } of this.#entries) {
      const seen = this.#seen.get(rule.id);
      if (seen && seen.version === rule.version) seen.firing = Math.max(seen.firing, state.firing);
    }
    return contentText({
      rules,
      seen: Object.fromEntries(this.#seen),
      commands: this.#home,
      ...this.#news.content,
      said: this.#said,
      welcomed: this.#welcomed,
    });
  }
}

/** Numbers of all its steps; those of an undo are as many as those of `do`. */
function numbersOf({ do: steps, end }: AllowedAutomation): number[] {
  return Array.from({ length: steps.length + Math.max(steps.length, end.length) }, (_, number) => number);
}

function usesOf({ when, do: steps, end }: AllowedAutomation): string[] {
  return [...when, ...steps, ...end].flatMap(({ of, key }) => (of === "hosted" ? [key] : []));
}
