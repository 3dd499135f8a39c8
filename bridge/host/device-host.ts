/**
 * Hosts the devices of the broker that describe themselves there, and those of Home Assistant: reads what they report, tells Home of
 * each as an agent, and carries out its calls. discovery/ knows what the messages mean; this part has the connections, the files and
 * the time.
 *
 * A broker sends hundreds of configs and states at once: after each connect, and when a publisher starts. Home is told of what came
 * of such a burst when it is over, in one go.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { SourceName } from "@edgecall/discovery/model/device.ts";
import type { Past } from "@edgecall/discovery/model/entity/entity.ts";
import type { Part } from "@edgecall/discovery/model/source.ts";
import { isConfigTopic } from "@edgecall/discovery/mqtt/config/tasmota.ts";
import { type Clock, SteadyTime } from "@edgecall/node/clock.ts";
import { LedgerFile } from "@edgecall/node/ledger-file.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { StallDetector } from "@edgecall/node/stall-detector.ts";
import type { AgentSays } from "../automations/agent-truths.ts";
import { BridgeAutomations } from "../automations/bridge-automations.ts";
import { draftAutomation } from "../automations/draft.ts";
import { HomePresenceSources } from "../automations/presence.ts";
import type { PairedAgent } from "../automations/rule-devices.ts";
import type { BrokerLink, BrokerMessage } from "../broker/broker.ts";
import type { CallFrame, PublishFrame } from "../broker/calls.ts";
import type { ReportBuffer } from "../broker/report-buffer.ts";
import type { ToHome } from "../broker/to-home.ts";
import type { HostedNow } from "../counts.ts";
import { DeviceCalls } from "../devices/calls.ts";
import { CatalogFile } from "../devices/catalog-file.ts";
import { DeviceLedger } from "../devices/command-ledger.ts";
import { Corrections } from "../devices/corrections.ts";
import { FirstReads } from "../devices/first-reads.ts";
import type { HostedAgents, HostedAgentsOptions } from "../devices/hosted-agents.ts";
import { LiveReadings } from "../devices/live-readings.ts";
import { MessageWatch } from "../devices/message-watch.ts";
import { homeAssistantSender, mqttSender, type Senders } from "../devices/sender.ts";
import { statesFrames } from "../devices/states-frames.ts";
import { Subscriptions } from "../devices/subscriptions.ts";
import { isDeviceFilter } from "../devices/topics.ts";
import type { GatewayLink } from "../gateway/gateway.ts";
import { GatewayPin } from "../gateway/gateway-pin.ts";
import { BridgeHistory } from "../history/bridge-history.ts";
import { Assistant } from "../home-assistant/assistant.ts";
import type { HomeAssistantLink } from "../home-assistant/home-assistant-link.ts";
import { BridgeRules } from "../rules/bridge-rules.ts";
import type { DeviceSettings } from "../settings.ts";

/** A burst is over when nothing of it came for so long; without any device, after the shorter time. */
const QUIET_MS = 400;
const QUIET_ALONE_MS = 150;
/** … and at the latest after this. 2,000 configs take a Pi some seconds. */
const BURST_MAX_MS = 15_000;
const LOOK_EVERY_MS = 50;
/** Devices are also judged when no message came, since silence can make one unavailable. */
const JUDGE_EVERY_MS = 10_000;
/** A config that did not come again so long after a connect was removed while the bridge was away. Its publisher has reconnected by then. */
const CONFIG_GONE_MS = 300_000;
/** In the bridge's folder. */
const CATALOG_FILE = "devices.json";
const RULES_FILE = "device-rules.json";
const LEDGER_FILE = "device-calls.jsonl";
const HISTORY_FOLDER = "history";
/** As an agent's id this means any agent. */
const RESERVED = ["any"];
/** Topics of configs that are remembered for that. The catalog takes fewer. */
const CONFIGS_MAX = 4_000;

export type HostParts = {
  settings: DeviceSettings;
  /** The prefix of agents' topics. */
  prefix: string;
  log: Log;
  clock: Clock;
  stall: Pick<StallDetector, "arrival">;
  broker: Pick<BrokerLink, "up" | "publish" | "subscribe" | "unsubscribe">;
  reports: ReportBuffer;
  outbox: Pick<ToHome, "accepted" | "refuse" | "report">;
  agents: HostedAgents;
  /** Whether the bridge changes the devices of a source. */
  modes: HostedAgentsOptions["modes"];
  gateway: Pick<GatewayLink, "send" | "time" | "timeAgrees">;
  /** The newest presence of a paired agent. */
  agentSays: AgentSays;
  /** The home and the gateway's key that pairing wrote. */
  paired: { home: string; key: string | undefined } | undefined;
  /** Home has to be told of changes. */
  onChange(): void;
};

type Burst = { by: number; atMost: number };

export class DeviceHost {
  readonly #settings: DeviceSettings;
  readonly #parts: HostParts;
  readonly #catalog: DeviceCatalog;
  readonly #live: LiveReadings;
  readonly #subscriptions: Subscriptions;
  readonly #watch = new MessageWatch();
  readonly #calls: DeviceCalls;
  readonly #file: CatalogFile | undefined;
  #ledger: DeviceLedger | undefined;
  readonly #firstReads: FirstReads;
  readonly #time: SteadyTime;
  readonly #assistant: Assistant;
  readonly #senders: Senders;
  /** Undefined: there is no folder for them. */
  #rules: BridgeRules | undefined;
  /** Undefined: there is no folder for them. */
  #automations: BridgeAutomations | undefined;
  #presence: HomePresenceSources | undefined;
  /** Undefined: there is no folder for it, or the settings want none. */
  #history: BridgeHistory | undefined;
  readonly #loaded: Promise<void>;
  /** Topics of configs, with the number of the connection on which they came last. */
  readonly #configs = new Map<string, number>();
  #connection = 0;
  /** Monotonic ms. */
  #connectedAt: number | undefined;
  #burst: Burst | undefined;
  #burstTimer: NodeJS.Timeout | undefined;
  /** The first burst of a connection is not over. */
  #isConnecting = false;
  /** The files are read. Before that nothing is subscribed to. */
  #isLoaded = false;
  /** The topics that the catalog named last. */
  #topics: ReadonlyMap<string, 0 | 1 | 2> | undefined;
  #isStateChanged = false;
  #judgedAt = 0;
  /** The log's last words about them. */
  #counted = "";
  /** Ids of agents that no device may have: those that Home has named, and those of the broker. */
  #named: readonly string[] = [];
  readonly #taken = new Set<string>();
  #isBorn = false;
  #isStopped = false;
  /** The first burst after a source was connected is over. */
  #isKnown = false;

  constructor(parts: HostParts) {
    const { settings, prefix, log, clock, broker } = parts;
    const { folder, dangerText, people, firstSource } = settings;
    this.#settings = settings;
    this.#parts = parts;
    const catalog = new DeviceCatalog({
      prefix: settings.prefix,
      ownPrefix: prefix,
      sha256,
      dangerText,
      people,
      firstSource,
    });
    this.#catalog = catalog;
    this.#live = new LiveReadings(catalog, clock);
    const subscriptions = new Subscriptions(broker, log);
    this.#subscriptions = subscriptions;
    if (folder !== undefined) this.#file = new CatalogFile(join(folder, CATALOG_FILE), catalog, log);
    this.#time = new SteadyTime(clock);
    this.#assistant = new Assistant({
      settings: settings.homeAssistant,
      folder: settings.signIn === "off" ? undefined : folder,
      clock,
      link: {
        log,
        clock,
        catalog,
        onUp: () => this.#sourceUp("home-assistant"),
        onLost: () => this.#sourceLost("home-assistant"),
        onDevices: () => this.#openBurst(),
        onStates: (read) => this.#read(() => read),
      },
      shown: () => catalog.devices(clock.wall()).filter(({ source }) => source === "home-assistant").length,
    });
    this.#senders = {
      mqtt: mqttSender({ prefix, broker, subscriptions }),
      "home-assistant": homeAssistantSender(() => this.#assistant.link),
    };
    this.#calls = new DeviceCalls({
      ...parts,
      catalog,
      senders: this.#senders,
      watch: this.#watch,
      corrections: new Corrections(this.#watch),
      onCommand: (...command) => this.#live.commanded(...command),
    });
    this.#firstReads = new FirstReads({ ...parts, catalog, sender: this.#senders.mqtt });
    this.#loaded = this.#load();
  }

  async #load(): Promise<void> {
    const { clock, log } = this.#parts;
    const { folder } = this.#settings;
    if (folder === undefined) log("warn", "devices.no_folder", { set: "BRIDGE_STATE" });
    else {
      await this.#file?.load();
      const shared = { catalog: this.#catalog, live: this.#live, clock, gateway: this.#parts.gateway, log };
      this.#rules = await BridgeRules.open({ path: join(folder, RULES_FILE), ...shared });
      const storage = new LedgerFile(join(folder, LEDGER_FILE));
      this.#ledger = await DeviceLedger.open(storage, log, clock);
      this.#calls.open(this.#ledger);
      await this.#openAutomations(folder);
      await this.#openHistory(folder);
    }
    this.#isLoaded = true;
    const { link } = this.#assistant;
    if (this.#isStopped || !link) return;
    this.#openBurst();
    link.start();
  }

  async #openAutomations(folder: string): Promise<void> {
    const { agents, clock, gateway, log, paired } = this.#parts;
    const [catalog, live] = [this.#catalog, this.#live];
    const pin = await GatewayPin.open(folder, paired, log);
    const presence = new HomePresenceSources({
      sources: this.#settings.presence ?? [],
      entityState: (id) => (this.#assistant.link?.up ? catalog.homeAssistant.stateOf(id) : undefined),
      readingOf: (agent, reading) => live.of(agents.device(agent)?.key ?? "", reading)?.value,
      clock,
      time: () => gateway.time ?? (isTimeSet() ? clock.wall() : undefined),
    });
    this.#presence = presence;
    this.#automations = await BridgeAutomations.open({
      ...{ folder, pin, catalog, live, calls: this.#calls, presence, clock, gateway, log },
      agentSays: (agent, key) => this.#parts.agentSays(agent, key),
      // A clock that is set later may be wrong, so it is asked each time.
      isTimeSure: () => gateway.timeAgrees ?? isTimeSet(),
      isStarting: () => !this.#isKnown,
      isBusy: () => !this.#isKnown || this.#burst !== undefined,
      isUnread: () => this.#assistant.link?.hasRead === false,
    });
  }

  /** A disk that cannot be read must not keep the bridge from the devices. */
  async #openHistory(folder: string): Promise<void> {
    const { clock, log, agents, gateway } = this.#parts;
    const days = this.#settings.historyDays;
    if (days === undefined) return;
    const keyOf = (agent: string) => agents.device(agent)?.key;
    const ask = (source: SourceName, question: Past) => this.#senders[source].ask(question);
    const shared = { catalog: this.#catalog, ask, keyOf, clock, gateway, log };
    this.#history = await BridgeHistory.open({ folder: join(folder, HISTORY_FOLDER), days, ...shared }).catch(
      (error: unknown) => {
        log("error", "history.not_opened", { error: messageOf(error) });
        return undefined;
      },
    );
  }

  /** Resolves when its files are read. */
  get loaded(): Promise<void> {
    return this.#loaded;
  }

  /** Home's rules on its devices; undefined: there is no folder for them, or it is not read yet. */
  get rules(): BridgeRules | undefined {
    return this.#rules;
  }

  /** Rules that act; undefined: there is no folder for them, or it is not read yet. */
  get automations(): BridgeAutomations | undefined {
    return this.#automations;
  }

  /** Answers with the rule that an input would be. Nothing is stored. */
  async draft({ draft }: Extract<HomeFrame, { t: "draft" }>, paired: readonly PairedAgent[]): Promise<void> {
    const { agents, clock, gateway, modes } = this.#parts;
    const { place } = this.#settings;
    const error = "the home's bridge has no folder for its files (BRIDGE_STATE), so it runs no rules";
    const drafted = this.#automations
      ? await draftAutomation(draft, {
          ...{ catalog: this.#catalog, agents, clock, modes },
          paired: () => paired,
          presence: () => this.#presence?.shown?.sources.map(({ name }) => name) ?? [],
          place: () => place,
          isSo: (rule) => this.#automations?.isSo(rule) === true,
          rules: () => this.#automations?.rules ?? [],
          pastOf: async (...asked) => await this.#history?.kept(...asked),
        })
      : { error };
    gateway.send({ t: "drafted", id: draft.id, drafted });
  }

  /** Answers from what is kept of its devices. */
  onPast(frame: Extract<HomeFrame, { t: "past" }>): void {
    const reply = { error: "the home's bridge keeps no values: its folder cannot be used" };
    if (this.#history) void this.#history.onPast(frame);
    else this.#parts.gateway.send({ t: "past", id: frame.id, reply });
  }

  /** The connection to Home Assistant; undefined: there is none. */
  get homeAssistant(): Pick<HomeAssistantLink, "up" | "condition"> | undefined {
    return this.#assistant.link;
  }

  /** Answers Home about Home Assistant, and takes part in a sign-in there. */
  async assistant({ id, question }: Extract<HomeFrame, { t: "assistant" }>): Promise<void> {
    // It is opened once what is known of its devices is read.
    await this.#loaded;
    const answer = await this.#assistant.answer(question);
    this.#parts.gateway.send({ t: "assistant", id, answer });
  }

  /** Calls that are under way. */
  get inFlight(): number {
    return this.#calls.inFlight;
  }

  /** For the page of figures. */
  counts(): HostedNow {
    const { agents } = this.#parts;
    const catalog = this.#catalog;
    const all = agents.ids();
    const online = all.filter((id) => agents.state(id)?.online).length;
    return { online, offline: all.length - online, ...catalog.counts() };
  }

  /** The broker is connected, and subscriptions can be made. */
  brokerUp(): void {
    const { agents, clock } = this.#parts;
    const subscriptions = this.#subscriptions;
    agents.brokerConnected();
    this.#connection += 1;
    this.#connectedAt = clock.now();
    this.#isConnecting = true;
    this.#openBurst();
    const connection = this.#connection;
    void this.#loaded.then(() => {
      if (connection !== this.#connection || this.#isStopped) return;
      this.#sourceUp("mqtt");
      this.#subscribe();
      subscriptions.connected();
      this.#announce();
    });
  }

  brokerLost(): void {
    this.#parts.agents.brokerLost();
    this.#subscriptions.lost();
    this.#sourceLost("mqtt");
  }

  #sourceUp(source: SourceName): void {
    this.#live.sourceUp(source);
    this.#automations?.sourceUp();
    this.#history?.sourceUp(source);
  }

  #sourceLost(source: SourceName): void {
    this.#live.sourceLost(source);
    this.#rules?.sourceLost();
    this.#automations?.look();
    this.#history?.sourceLost(source);
  }

  /** Takes any message that is not on an agent's topic. */
  message({ topic, payload, retained }: BrokerMessage): void {
    const { clock } = this.#parts;
    const catalog = this.#catalog;
    this.#noticeClock();
    const now = clock.wall();
    if (this.#isConfig(topic)) {
      this.#config(topic, payload.toString("utf8"), now);
      return;
    }
    // A copy: the payload is a part of what came from the socket, all of which it would keep in memory.
    catalog.mqtt.state(topic, new Uint8Array(payload), { now, retained });
    if (retained && this.#burst) this.#prolong();
    this.#read(() => catalog.mqtt.partsOn(topic));
  }

  /** Moves the times of what devices said by as much as the clock was set, so their ages stay. */
  #noticeClock(): void {
    const { setBy } = this.#time.read();
    if (setBy === 0) return;
    this.#parts.log("warn", "devices.clock_set", { by_s: Math.round(setBy / 1_000) });
    this.#catalog.clockSet(setBy);
  }

  /** The devices have read a message. */
  #read(readBy: () => readonly Part[]): void {
    this.#isStateChanged = true;
    this.#file?.changed("states");
    this.#rules?.onMessage(readBy);
    this.#automations?.onMessage(readBy);
    this.#history?.onMessage(readBy);
    this.#watch.came();
    this.#calls.look();
  }

  /** True if this is for a hosted device, or the call of one that is gone. */
  has(agent: string, call?: string): boolean {
    return this.#parts.agents.has(agent) || (call !== undefined && this.#calls.knows(call));
  }

  call(frame: CallFrame): void {
    this.#calls.call(frame);
  }

  publish(frame: PublishFrame): void {
    this.#calls.publish(frame);
  }

  /** Home has stored these reports. */
  acked(ids: readonly string[]): void {
    this.#calls.acked(ids);
  }

  /** Answers from memory. */
  states(frame: Extract<HomeFrame, { t: "states" }>): void {
    const { agents, clock } = this.#parts;
    const catalog = this.#catalog;
    for (const answer of statesFrames(frame, catalog, agents, clock.wall())) this.#parts.gateway.send(answer);
  }

  /** A person has removed a device that is gone. Nothing is published. */
  forget(key: string): void {
    this.#catalog.forget(key, this.#parts.clock.wall());
    this.#file?.changed("ids");
    this.#history?.forget(key);
    this.#automations?.forgot(key);
    this.#judge();
  }

  /** The home serves agents with these ids, or has revoked their keys: no device may have them. */
  reserve(ids: Iterable<string>): void {
    this.#named = [...ids];
    this.#judge();
  }

  /** Call it every second. */
  tick(): void {
    const { agents, clock, log } = this.#parts;
    const now = clock.now();
    this.#noticeClock();
    this.#firstReads.tick();
    this.#presence?.tick();
    this.#automations?.tick();
    this.#history?.tick();
    for (const topic of this.#catalog.mqtt.catchUp(clock.wall()))
      this.#read(() => this.#catalog.mqtt.partsOn(topic));
    if (this.#connectedAt !== undefined && now - this.#connectedAt >= CONFIG_GONE_MS) {
      this.#connectedAt = undefined;
      const gone = [...this.#configs].filter(([, connection]) => connection !== this.#connection);
      for (const [topic] of gone) this.#config(topic, "", clock.wall());
      if (gone.length > 0) log("info", "devices.configs_gone", { count: gone.length });
    }
    if (this.#burst) return;
    const isDue = this.#isStateChanged || now - this.#judgedAt >= JUDGE_EVERY_MS;
    // An agent of the broker may have come by the name of a device.
    if (isDue || agents.taken().length > 0) this.#judge();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#burstTimer);
    await this.#loaded;
    await this.#assistant.stop();
    await this.#file?.flush();
    await this.#rules?.stop();
    await this.#automations?.stop();
    await this.#history?.stop();
    await this.#ledger?.close();
  }

  /** States may lie below the same prefix. */
  #isConfig(topic: string): boolean {
    return isConfigTopic(this.#settings.prefix, topic);
  }

  #config(topic: string, text: string, now: number): void {
    if (text === "") this.#configs.delete(topic);
    else if (this.#configs.has(topic) || this.#configs.size < CONFIGS_MAX)
      this.#configs.set(topic, this.#connection);
    const isChanged = this.#catalog.mqtt.config(topic, text, now);
    if (isChanged) {
      this.#file?.changed("ids");
      this.#openBurst();
    } else if (this.#burst) this.#prolong();
  }

  #openBurst(): void {
    if (this.#burst) {
      this.#prolong();
      return;
    }
    const now = this.#parts.clock.now();
    this.#burst = { by: now + this.#quietMs(), atMost: now + BURST_MAX_MS };
    this.#parts.agents.hold();
    this.#burstTimer = setTimeout(() => this.#lookSoon(), LOOK_EVERY_MS);
  }

  #prolong(): void {
    if (this.#burst) this.#burst.by = this.#parts.clock.now() + this.#quietMs();
  }

  #quietMs(): number {
    return this.#configs.size > 0 ? QUIET_MS : QUIET_ALONE_MS;
  }

  /** A busy process may run its timers before it reads what came meanwhile. */
  #lookSoon(): void {
    setImmediate(() => this.#lookAtBurst());
  }

  /** Subscribes to what the configs name so far, since its retained states belong to the same burst. */
  #lookAtBurst(): void {
    const { clock } = this.#parts;
    const subscriptions = this.#subscriptions;
    const burst = this.#burst;
    if (!burst || this.#isStopped) return;
    const now = clock.now();
    const isQuiet = now >= burst.by || now >= burst.atMost;
    if (isQuiet) this.#subscribe();
    const isBusy = !this.#isLoaded || subscriptions.isBusy || this.#assistant.link?.isReading === true;
    if (isBusy) this.#prolong();
    if (now < burst.atMost && (now < burst.by || isBusy)) {
      this.#burstTimer = setTimeout(() => this.#lookSoon(), LOOK_EVERY_MS);
      return;
    }
    this.#endBurst();
  }

  #endBurst(): void {
    const { agents, log } = this.#parts;
    const catalog = this.#catalog;
    this.#burst = undefined;
    this.#isKnown ||= this.#live.isUp;
    agents.release();
    this.#judge();
    const { configs, ignored } = catalog.counts();
    const counts = {
      devices: agents.ids().length,
      configs,
      ignored: ignored.map(({ why, count }) => `${why}: ${count}`),
    };
    // A reconnect alone brings nothing new.
    const text = JSON.stringify(counts);
    if (text !== this.#counted && configs + ignored.length > 0) log("info", "devices.known", counts);
    this.#counted = text;
    if (!this.#isConnecting) return;
    this.#isConnecting = false;
    this.#firstReads.begin();
  }

  #subscribe(): void {
    if (this.#settings.mode === "off") return;
    const { prefix } = this.#parts;
    const catalog = this.#catalog;
    const subscriptions = this.#subscriptions;
    const topics = catalog.mqtt.topics();
    // The catalog makes another map when a config changes.
    if (topics === this.#topics) return;
    this.#topics = topics;
    const wanted = new Map<string, 0 | 1 | 2>(catalog.mqtt.configTopics().map((topic) => [topic, 0]));
    for (const [topic, qos] of topics) if (isDeviceFilter(topic, prefix)) wanted.set(topic, qos);
    subscriptions.want(wanted);
  }

  /** Judges each device as of now, and lets Home know if that changes anything. */
  #judge(): void {
    const { agents, clock } = this.#parts;
    const catalog = this.#catalog;
    this.#isStateChanged = false;
    this.#judgedAt = clock.now();
    // A device has no name of an agent: it gets another one.
    for (const id of agents.taken()) this.#taken.add(id);
    catalog.reserve([...RESERVED, ...this.#named, ...this.#taken]);
    const now = clock.wall();
    this.#rules?.look();
    this.#automations?.look();
    const isChanged = agents.update(catalog.devices(now), (id) => catalog.asks(id, now).length > 0);
    this.#subscribe();
    if (isChanged && !agents.isHeld) this.#parts.onChange();
  }

  /** Publishers that listen send their states once more. Everybody hears it, so it is only said if the settings want it. */
  #announce(): void {
    const { mode, birth } = this.#settings;
    if (mode === "off" || !birth || this.#isBorn) return;
    this.#isBorn = true;
    void this.#parts.broker.publish(`${this.#settings.prefix}/status`, "online");
  }
}

/** systemd's mark, or a clock chip. */
function isTimeSet(): boolean {
  return existsSync("/run/systemd/timesync/synchronized") || existsSync("/sys/class/rtc/rtc0");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
