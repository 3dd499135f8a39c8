/**
 * Rules that act, at the bridge: takes those that the gateway has signed, gives the machine (core/automations/) the values of their
 * conditions, and does what it says after the disk has it.
 *
 *   value ─▶ machine ─▶ one write: firing, run, news ─▶ ledger ─▶ device
 *   outcome ─▶ machine ─▶ one write ─▶ the ledger's entry is settled
 *
 * This file joins the parts: rule-intake.ts (rules come and go), rule-inputs.ts (values), rule-machines.ts (machine, time),
 * rule-effects.ts (what is done), telling.ts (what is told), durable-file.ts (the disk).
 */
import { join } from "node:path";
import { canUndo } from "@edgecall/core/automations/turn.ts";
import { HOME_WORDS } from "@edgecall/core/automations/words/home-words.ts";
import type {
  AllowedAutomation,
  Automation,
  AutomationOrder,
  AutomationOrdered,
  AutomationStep,
  SaidPresence,
} from "@edgecall/core/protocol/automation.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import type { AgentKey, HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { Part } from "@edgecall/discovery/model/source.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { DeviceCalls } from "../devices/calls.ts";
import type { LiveReadings } from "../devices/live-readings.ts";
import type { GatewayLink } from "../gateway/gateway.ts";
import type { GatewayPin } from "../gateway/gateway-pin.ts";
import { phrasesIn } from "../history/phrases.ts";
import { type AgentSays, AgentTruths } from "./agent-truths.ts";
import { type AutomationsContent, contentText, readAutomations } from "./automations-file.ts";
import { DurableFile, type Snapshot } from "./durable-file.ts";
import { GatewayActs } from "./gateway-acts.ts";
import { HeldRules } from "./held-rules.ts";
import { HomeCounters } from "./home-counters.ts";
import { ALONE_DAYS, LastWelcome } from "./last-welcome.ts";
import { NewsQueue } from "./news.ts";
import type { HomePresenceSources } from "./presence.ts";
import { PresentValues } from "./present-values.ts";
import { RuleCommands } from "./rule-commands.ts";
import { RuleInputs } from "./rule-inputs.ts";
import { RuleIntake } from "./rule-intake.ts";
import { RuleMachines } from "./rule-machines.ts";
import { statusOf, undoneOf, undoRefusal } from "./rule-status.ts";
import { RuleValues } from "./rule-values.ts";
import { RunRecords } from "./run-records.ts";
import { SeenRules } from "./seen-rules.ts";
import { Telling } from "./telling.ts";

const FILE = "automations.json";
const RUNS_FILE = "automation-runs.json";
/** The answer about rules has at most so many. */
const STATUS_CHARS = 150_000;

type AutomationFrame = Extract<HomeFrame, { t: "automations" | "news_stored" | "acted" | "presence_said" }>;

type StepBefore = Parameters<RuleCommands["hasWayBack"]>;
type UndoOrder = Extract<AutomationOrder, { do: "undo" }>;

export type BridgeAutomationsParts = {
  folder: string;
  pin: GatewayPin;
  catalog: DeviceCatalog;
  live: LiveReadings;
  calls: DeviceCalls;
  presence: Pick<HomePresenceSources, "now" | "said" | "shown">;
  /** The newest presence of a paired agent. */
  agentSays: AgentSays;
  /** The system's time is right, as far as that is known. */
  isTimeSure(): boolean;
  /** Devices are not known yet since the start. */
  isStarting(): boolean;
  /** Devices come and go just now, or are not known yet. */
  isBusy(): boolean;
  /** Home Assistant has not said since the start which devices it has: one that is missing is away, and not gone. */
  isUnread(): boolean;
  clock: Clock;
  gateway: Pick<GatewayLink, "send">;
  log: Log;
};

export class BridgeAutomations {
  readonly #parts: BridgeAutomationsParts;
  readonly #held = new HeldRules();
  readonly #seen: SeenRules;
  readonly #counters: HomeCounters;
  readonly #lastWelcome: LastWelcome;
  readonly #acts: GatewayActs;
  readonly #news: NewsQueue;
  readonly #records: RunRecords;
  readonly #telling: Telling;
  readonly #file: DurableFile;
  readonly #truths: AgentTruths;
  readonly #present: PresentValues;
  readonly #commands: RuleCommands;
  readonly #machines: RuleMachines;
  readonly #intake: RuleIntake;
  readonly #inputs: RuleInputs;
  readonly #hasWayBack = (...step: StepBefore): boolean => this.#commands.hasWayBack(...step);
  #said: readonly SaidPresence[];
  /** The gateway that is connected is the home's, whose key is pinned. */
  #isTrusted = false;
  /** Takes what the gateway says, in its order. */
  #work: Promise<void> = Promise.resolve();

  private constructor(parts: BridgeAutomationsParts, content: AutomationsContent, records: RunRecords) {
    const { clock, gateway, live, folder, log } = parts;
    this.#parts = parts;
    this.#records = records;
    this.#said = content.said;
    this.#seen = new SeenRules(content.seen);
    this.#counters = new HomeCounters(content.commands);
    this.#lastWelcome = new LastWelcome(content.welcomed);
    this.#acts = new GatewayActs(gateway);
    this.#news = new NewsQueue(gateway, content);
    this.#telling = new Telling({
      news: this.#news,
      records,
      nameOf: (id) => this.#held.all.find(({ rule }) => rule.id === id)?.rule.name ?? id,
      log,
    });
    this.#truths = new AgentTruths(parts.agentSays, content.agents);
    this.#present = new PresentValues({ ...parts, truths: this.#truths });
    const path = join(folder, FILE);
    this.#file = new DurableFile({ path, snapshot: () => this.#snapshot(), clock, log });
    this.#commands = new RuleCommands({ ...parts, acts: this.#acts });
    const shared = {
      ...{ ...parts, held: this.#held, seen: this.#seen, counters: this.#counters, records },
      ...{ file: this.#file, telling: this.#telling, welcome: this.#lastWelcome },
      values: new RuleValues(live, this.#truths),
      commands: this.#commands,
    };
    this.#machines = new RuleMachines({ ...shared, because: ({ rule }) => this.#present.inWords(rule) });
    this.#intake = new RuleIntake({ ...shared, machines: this.#machines });
    this.#inputs = new RuleInputs({ ...shared, machines: this.#machines });
  }

  /** Reads the file, and verifies each rule anew. */
  static async open(parts: BridgeAutomationsParts): Promise<BridgeAutomations> {
    const content = await readAutomations(join(parts.folder, FILE), parts.log);
    const records = await RunRecords.open(join(parts.folder, RUNS_FILE), parts.log);
    const automations = new BridgeAutomations(parts, content, records);
    parts.presence.said(content.said);
    automations.#intake.restore(content);
    await automations.#readLanguages();
    await automations.#held.updateHash();
    automations.#machines.arm();
    return automations;
  }

  /** The hash of rules and versions, for the hello. */
  get hash(): string {
    return this.#held.hash;
  }

  /** Those that are held, without those of which only a run is left. */
  get rules(): AllowedAutomation[] {
    return this.#held.present.map(({ rule }) => rule);
  }

  /** Faults, for the gateway and for doctors. */
  conditions(): Condition[] {
    const found: Condition[] = [];
    const { problem } = this.#parts.pin;
    const { failure, path } = this.#file;
    if (problem && !this.#seen.isEmpty) found.push(problem);
    if (failure !== undefined)
      found.push({ code: "rules_unwritten", params: { path, error: cutText(failure, 150) } });
    if (!this.#held.isEmpty && this.#lastWelcome.isAlone(this.#machines.now()))
      found.push({ code: "rules_without_gateway", params: { days: `${ALONE_DAYS}` } });
    const late = this.#machines.overdue();
    if (late) found.push({ code: "rule_overdue", params: { rule: cutText(late.rule.name, 60) } });
    return found;
  }

  /** A gateway has welcomed the bridge. */
  welcomed(claimed: { home: string; gateway_key?: string | undefined; time?: number | undefined }): void {
    this.#inOrder(async () => this.#welcome(await this.#parts.pin.welcomed(claimed), claimed.time));
  }

  #welcome(isOurs: boolean, time: number | undefined): void {
    if (isOurs) {
      const isNews = this.#lastWelcome.welcomed(this.#machines.now());
      if (isNews && !this.#held.isEmpty) void this.#file.write();
    }
    this.#isTrusted = isOurs;
    this.#acts.welcomed(isOurs);
    this.#news.welcomed(isOurs, time);
    this.#machines.tick();
  }

  /** The connection to the gateway is gone. */
  gatewayLost(): void {
    this.#inOrder(async () => {
      this.#isTrusted = false;
      this.#acts.gatewayLost();
      this.#news.gatewayLost();
      this.#telling.gatewayLost();
    });
  }

  /** The home has revoked this bridge: what it was allowed to do is over. */
  revoked(): void {
    this.#inOrder(async () => {
      if (this.#held.isEmpty) return;
      this.#parts.log("warn", "automations.revoked", { rules: this.#held.all.length });
      this.#intake.giveUp();
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
          this.#intake.accept(frame);
          await this.#changed();
          this.look();
          break;
        case "news_stored":
          if (this.#news.stored(frame.upto)) void this.#file.write();
          break;
        case "acted":
          this.#acts.onActed(frame);
          break;
        case "presence_said":
          this.#said = frame.all;
          this.#parts.presence.said(frame.all);
          void this.#file.write();
          this.#machines.tick();
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

  /** The catalog has read a message. @param readBy the parts that it is about */
  onMessage(readBy: () => readonly Part[]): void {
    this.#inputs.onMessage(readBy);
  }

  /** Looks at all values: what became unavailable by its silence alone comes in no message. */
  look(): void {
    this.#inputs.look();
  }

  /** A source of devices is connected anew: for a minute nothing begins. */
  sourceUp(): void {
    this.#inputs.sourceUp();
  }

  /** A person has removed a device. @param key the device's */
  forgot(key: string): void {
    this.#inputs.forgot(key);
  }

  /** Call it every second. */
  tick(): void {
    this.lookAtAgents();
    this.#machines.tick();
  }

  /** An agent has said something in its presence. */
  lookAtAgents(): void {
    if (this.#truths.look(this.#held.all.flatMap(({ rule }) => rule.when))) void this.#file.write();
    this.#inputs.lookAtAgents();
  }

  /** Keys of the agents that conditions are of, with the number of the newest presence of each, until the gateway names all keys. */
  get agentKeys(): AgentKey[] {
    const agents = this.#held.all.flatMap(({ rule }) => rule.when).filter(({ of }) => of === "agent");
    const { content } = this.#truths;
    return agents.map(({ agent: id, key }) => ({ id, key, n: content[key] ?? 0 }));
  }

  /** Tells whether the conditions of a rule are so now, without their holds. */
  isSo(rule: Automation): boolean {
    return this.#present.isSo(rule);
  }

  /** Writes what is not written yet. Nothing is done any more. */
  async stop(): Promise<void> {
    this.#machines.stop();
    this.#acts.stop();
    this.#news.stop();
    await this.#file.stop();
    await this.#records.stop();
  }

  #status(wanted: readonly string[]): AutomationOrdered {
    const at = this.#machines.now();
    const found = this.#held.present.filter(({ rule }) => wanted.includes(rule.id));
    const { shown } = this.#parts.presence;
    const has_way_back = this.#hasWayBack;
    // A frame has room for all runs of some rules, or for some runs of all.
    for (const most of [20, 5, 1]) {
      const status = found.map((held) => {
        const { rule, state } = held;
        const runs = this.#records.newest(held, most);
        return statusOf(rule, state, { runs, now: this.#present.inWords(rule), at, has_way_back });
      });
      const ordered = { status, ...(shown && { presence: shown }) };
      if (most === 1 || JSON.stringify(ordered).length <= STATUS_CHARS) return ordered;
    }
    return { status: [] };
  }

  /** A person takes a run back. Resolves when that has ended. */
  async #undo({ rule, firing, language }: UndoOrder): Promise<AutomationOrdered> {
    const phrases = await phrasesIn(language);
    const held = this.#held.find(rule);
    if (!held) return { error: phrases.say("ruleIsGone") };
    const at = this.#machines.now();
    if (!canUndo(held.rule, held.state, firing, { at, has_way_back: this.#hasWayBack })) {
      const asks = (...step: StepBefore) => this.#commands.asksForWayBack(...step);
      return { error: undoRefusal(held.rule, held.state, { firing, asks, at }, phrases) };
    }
    const ended = this.#telling.ended(rule, firing);
    this.#machines.step(held, { of: "undo", firing });
    this.#machines.arm();
    const run = await ended;
    if (!run) return { error: phrases.sayOf(HOME_WORDS, "undoLate") };
    const { last } = held.state;
    const kept = last?.firing === firing ? last.kept : [];
    const { catalog, clock } = this.#parts;
    const nameOf = ({ key, agent }: AutomationStep) => catalog.deviceOf(key, clock.wall())?.name ?? agent;
    return undoneOf(held.rule, { run, kept, nameOf }, phrases);
  }

  /** One after another, and a fault ends nothing but its own work. */
  #inOrder(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      const text = error instanceof Error ? error.stack : String(error);
      this.#parts.log("error", "bridge.internal_error", { side: "automations", error: text });
    });
  }

  async #changed(): Promise<void> {
    await this.#readLanguages();
    await this.#held.updateHash();
    this.#machines.arm();
    await this.#file.write();
  }

  /** What fired a rule is said while it begins, so its language is there before. */
  async #readLanguages(): Promise<void> {
    await Promise.all(this.#held.all.map(({ rule: { language = "en" } }) => phrasesIn(language)));
  }

  #snapshot(): Snapshot {
    const { content } = this.#news;
    for (const { rule, state } of this.#held.all) this.#seen.fired(rule, state.firing);
    const rules = this.#held.all.map(({ text, state, silent, told, isLeaving: leaving }) => ({
      ...{ text, state, silent, told, leaving },
    }));
    const text = contentText({
      rules,
      seen: this.#seen.content,
      commands: this.#counters.content,
      ...content,
      said: this.#said,
      welcomed: this.#lastWelcome.at,
      agents: this.#truths.content,
      records: this.#records.unwritten,
    });
    return { text, onWritten: () => this.#news.written(content.n) };
  }
}
