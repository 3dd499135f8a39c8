/** Puts a bridge together: the broker on one side, Home on the other, and agents, calls and reports between. */
import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { ASSISTANT_FEATURE } from "@edgecall/core/protocol/assistant.ts";
import { AUTOMATIONS_FEATURE } from "@edgecall/core/protocol/automation.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { DEVICES_FEATURE } from "@edgecall/core/protocol/devices.ts";
import type { AgentKey, HomeFrame, StoredTexts } from "@edgecall/core/protocol/home-frames.ts";
import { RULES_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import { parseTopic, TRACE_FEATURE } from "@edgecall/core/protocol/names.ts";
import { HISTORY_FEATURE } from "@edgecall/core/protocol/past.ts";
import type { Tracer } from "@edgecall/core/trace/tracer.ts";
import { systemClock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import { StallDetector, TICK_MS } from "@edgecall/node/stall-detector.ts";
import { nodeTracer } from "@edgecall/node/tracer.ts";
import type { AgentSaid } from "./automations/agent-truths.ts";
import type { PairedAgent } from "./automations/rule-devices.ts";
import { BrokerLink, type BrokerMessage } from "./broker/broker.ts";
import { CallSpans } from "./broker/call-spans.ts";
import { Calls } from "./broker/calls.ts";
import { ForeignAgentQueue } from "./broker/foreign-agent-queue.ts";
import { Inbound, LISTENS_TO } from "./broker/inbound.ts";
import { Roster, type Standing } from "./broker/presence.ts";
import { ReportBuffer } from "./broker/report-buffer.ts";
import { ReportVerifier } from "./broker/report-verifier.ts";
import { Counts } from "./counts.ts";
import { HostedAgents, type HostedAgentsOptions } from "./devices/hosted-agents.ts";
import { GatewayLink, type Welcome } from "./gateway/gateway.ts";
import { HomeOutbox, RETAINED_WITHIN_MS } from "./gateway/outbox.ts";
import { DeviceHost } from "./host/device-host.ts";
import { BrokerLogins } from "./ops/broker-logins.ts";
import { isReady, type Readiness, serveHealth } from "./ops/health.ts";
import { SelfUpdate } from "./ops/self-update.ts";
import type { Watched } from "./ops/service.ts";
import type { BridgeSettings, DeviceSettings } from "./settings.ts";

export type Bridge = Watched & {
  /** Welcomed by the gateway, and connected to the broker or to Home Assistant. */
  ready(): boolean;
  /** The port of the health server; undefined without one. */
  healthPort(): number | undefined;
  /** Stops taking calls and closes both sides. */
  stop(): Promise<void>;
};

/** Texts of thousands of agents take seconds to verify. Longer than this at a time would keep the broker's line waiting. */
const VERIFY_AT_ONCE_MS = 20;

/** Starts a bridge. It connects, and connects again after each loss, until it is stopped. */
export function startBridge(settings: BridgeSettings, log: Log): Bridge {
  const running = new RunningBridge(settings, log);
  running.start();
  return running;
}

/** Without a folder for the ledger the bridge changes nothing. */
function modesOf({ folder, mode, homeAssistant, signIn }: DeviceSettings): HostedAgentsOptions["modes"] {
  const of = (wanted: DeviceSettings["mode"] | undefined) =>
    folder === undefined || wanted !== "allow" ? "read" : "allow";
  return { mqtt: of(mode), "home-assistant": of(homeAssistant?.mode ?? signIn) };
}

class RunningBridge implements Bridge {
  readonly #settings: BridgeSettings;
  readonly #log: Log;
  readonly #roster = new Roster(systemClock);
  readonly #stall = new StallDetector({ afterMs: TICK_MS });
  readonly #counts = new Counts();
  readonly #verifier = new ReportVerifier();
  readonly #logins: BrokerLogins | undefined;
  readonly #reports: ReportBuffer;
  readonly #broker: BrokerLink;
  readonly #gateway: GatewayLink;
  readonly #outbox: HomeOutbox;
  readonly #foreign: ForeignAgentQueue;
  readonly #calls: Calls;
  readonly #tracer: Tracer | undefined;
  readonly #spans: CallSpans | undefined;
  readonly #inbound: Inbound;
  readonly #update: SelfUpdate;
  /** Hosted devices as Home is told of them, and the part that hosts them; undefined: the settings want none. */
  readonly #hosted: HostedAgents | undefined;
  readonly #devices: DeviceHost | undefined;
  /** All keys that Home sent. */
  #keys = new Map<string, AgentKey>();
  /** Agents without a key that Home serves; undefined: an older gateway does not say. */
  #unsigned: ReadonlySet<string> | undefined;
  /** Rises with each welcome and each loss of the gateway. */
  #connection = 0;
  #health: ReturnType<typeof serveHealth> | undefined;
  #ticks: NodeJS.Timeout | undefined;
  #pings: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;
  /** As JSON; undefined: the gateway is away, or knows no conditions. */
  #sentConditions: string | undefined;

  constructor(settings: BridgeSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
    this.#reports = new ReportBuffer(log);
    const { topicPrefix: prefix, brokerFiles, mqttPassword } = settings;
    this.#tracer = settings.trace && nodeTracer("bridge", randomUUID(), settings.trace, log);
    this.#spans = this.#tracer && new CallSpans(this.#tracer, prefix);
    if (brokerFiles !== undefined) {
      const hasDevices = settings.devices !== undefined && settings.devices.mode !== "off";
      this.#logins = new BrokerLogins(brokerFiles, prefix, mqttPassword ?? "", log, hasDevices);
    }
    this.#broker = new BrokerLink({
      // Without one it is never started.
      url: settings.mqttUrl ?? "",
      username: settings.mqttUsername,
      password: settings.mqttPassword,
      ca: settings.mqttCa,
      // With its run: a second bridge of this name would end the connection of the first one, for ever in turns.
      clientId: `edgecall-bridge-${settings.bridgeId}-${randomUUID().slice(0, 8)}`,
      topics: LISTENS_TO.map((kind) => `${prefix}/agents/+/${kind}`),
      log,
      onMessage: (message) => this.#message(message),
      onConnect: () => this.#roster.brokerConnected(),
      onUp: () => this.#brokerUp(),
      onDown: () => {
        this.#roster.brokerLost();
        this.#devices?.brokerLost();
      },
    });
    const { host } = new URL(settings.gatewayUrl);
    this.#update = new SelfUpdate(settings.updates, (frame) => this.#gateway.send(frame), log);
    this.#gateway = new GatewayLink({
      url: settings.gatewayUrl,
      token: (now) => settings.bridgeToken ?? settings.ownKey?.token(host, now) ?? "",
      bridgeId: settings.bridgeId,
      features: [
        ...this.#update.features,
        ...(this.#spans ? [TRACE_FEATURE] : []),
        ...(settings.devices ? [DEVICES_FEATURE, ASSISTANT_FEATURE] : []),
        ...(settings.devices?.folder === undefined ? [] : [RULES_FEATURE, AUTOMATIONS_FEATURE]),
        ...(settings.devices?.historyDays === undefined ? [] : [HISTORY_FEATURE]),
      ],
      rules: () => this.#devices?.rules?.hash,
      automations: () => this.#devices?.automations?.hash,
      log,
      onFrame: (frame) => this.#guard("gateway", () => this.#frame(frame)),
      onWelcome: (welcome, texts) => {
        this.#onWelcome(welcome, texts).catch((error: unknown) => this.#onError("gateway", error));
      },
      onDown: () => {
        this.#sentConditions = undefined;
        this.#connection += 1;
        this.#devices?.rules?.gatewayLost();
        this.#devices?.automations?.gatewayLost();
        this.#outbox.lost();
      },
      onRevoked: () => this.#devices?.automations?.revoked(),
    });
    this.#hosted =
      settings.devices &&
      new HostedAgents({
        modes: modesOf(settings.devices),
        roster: this.#roster,
        clock: systemClock,
        log,
      });
    this.#outbox = new HomeOutbox({
      spans: this.#spans,
      gateway: this.#gateway,
      roster: this.#roster,
      devices: this.#hosted,
      reports: this.#reports,
      counts: this.#counts,
      clock: systemClock,
      log,
    });
    const shared = {
      prefix,
      log,
      clock: systemClock,
      stall: this.#stall,
      reports: this.#reports,
      broker: this.#broker,
      outbox: this.#outbox,
    };
    const atBroker = { ...shared, roster: this.#roster };
    this.#foreign = new ForeignAgentQueue(atBroker);
    this.#calls = new Calls({ ...atBroker, foreign: this.#foreign });
    this.#inbound = new Inbound({
      ...atBroker,
      verifier: this.#verifier,
      foreign: this.#foreign,
      calls: this.#calls,
    });
    if (settings.devices && this.#hosted)
      this.#devices = new DeviceHost({
        modes: modesOf(settings.devices),
        ...shared,
        settings: settings.devices,
        agents: this.#hosted,
        gateway: this.#gateway,
        agentSays: (agent, key) => this.#agentSays(agent, key),
        paired: settings.ownKey && { home: settings.ownKey.home, key: settings.ownKey.gatewayKey },
        onChange: () => this.#outbox.sendChangesSoon(),
      });
  }

  start(): void {
    const { healthPort: port, healthHost: host } = this.#settings;
    if (port !== 0) {
      const links = () => this.links();
      this.#health = serveHealth({ port, host }, links, () => this.#metrics(), this.#log);
    }
    this.#ticks = setInterval(() => this.#tick(), TICK_MS);
    if (this.#settings.mqttUrl !== undefined) this.#broker.start();
    // The hello says which rules there are.
    void Promise.resolve(this.#devices?.loaded).then(() => {
      // Without a gateway, rules that act go on with the keys that it has signed in them.
      for (const id of this.#learn(this.#devices?.automations?.agentKeys ?? [])) this.#verifyKnown(id);
      if (this.#stopping === undefined) this.#gateway.start();
    });
  }

  links(): Readiness {
    const { up: gateway, problem } = this.#gateway;
    const broker = this.#settings.mqttUrl === undefined ? undefined : this.#broker.up;
    return { gateway, broker, homeAssistant: this.#devices?.homeAssistant?.up, problem };
  }

  conditions(): Condition[] {
    const { homeAssistant, automations } = this.#devices ?? {};
    const all = [this.#broker.condition(), homeAssistant?.condition(), ...(automations?.conditions() ?? [])];
    return all.filter((one) => one !== undefined);
  }

  /** Home is told at each change. */
  #sendConditions(): void {
    const all = this.conditions();
    const text = JSON.stringify(all);
    if (text === this.#sentConditions || this.#sentConditions === undefined) return;
    if (this.#gateway.send({ t: "conditions", all })) this.#sentConditions = text;
  }

  ready(): boolean {
    return this.#stopping === undefined && isReady(this.links());
  }

  healthPort(): number | undefined {
    return this.#health?.port();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#log("info", "bridge.stopping");
    clearInterval(this.#ticks);
    clearTimeout(this.#pings);
    this.#outbox.stop();
    this.#update.stop();
    await this.#gateway.stop();
    await this.#broker.stop();
    await this.#devices?.stop();
    await this.#tracer?.flush();
    this.#health?.stop();
    this.#log("info", "bridge.stopped");
  }

  #metrics(): string {
    return this.#counts.page({
      gatewayUp: this.#gateway.up,
      brokerUp: this.#broker.up,
      homeAssistantUp: this.#devices?.homeAssistant?.up,
      agents: this.#roster.now(),
      devices: this.#devices?.counts(),
      queues: {
        calls: this.#calls.inFlight,
        device_calls: this.#devices?.inFlight ?? 0,
        foreign_calls: this.#foreign.waiting,
        reports: this.#reports.all().length,
        events: this.#outbox.waiting,
      },
    });
  }

  #message(message: BrokerMessage): void {
    const { topicPrefix: prefix } = this.#settings;
    if (this.#devices && !message.topic.startsWith(`${prefix}/`)) {
      this.#counts.message("device");
      this.#guard("devices", () => this.#devices?.message(message));
      return;
    }
    const kind = parseTopic(prefix, message.topic)?.kind;
    this.#counts.message(kind);
    this.#guard("broker", () => this.#inbound.message(message));
    if (kind === "presence") this.#guard("devices", () => this.#devices?.automations?.lookAtAgents());
    if (message.retained) this.#outbox.retainedCame();
    this.#outbox.sendChangesSoon();
  }

  #brokerUp(): void {
    this.#counts.connected("broker");
    this.#outbox.brokerUp();
    this.#devices?.brokerUp();
    this.#calls.brokerBack();
    clearTimeout(this.#pings);
    this.#pings = setTimeout(() => {
      for (const agent of this.#roster.silentForeign()) this.#foreign.ping(agent);
    }, RETAINED_WITHIN_MS);
    this.#outbox.sendChangesSoon();
  }

  async #onWelcome(
    { keys, unsigned, unasked, paced, devices, rules, conditions, home, gateway_key, time }: Welcome,
    texts: readonly StoredTexts[] | undefined,
  ): Promise<void> {
    this.#connection += 1;
    const connection = this.#connection;
    this.#counts.connected("gateway");
    // Frames about them may come right behind the welcome.
    this.#devices?.automations?.welcomed({ home, gateway_key, time });
    // The gateway takes a new connection for one without any.
    this.#sentConditions = conditions ? "[]" : undefined;
    this.#unsigned = unsigned && new Set(unsigned);
    this.#inbound.acceptUnsolicited(unasked ?? []);
    this.#keys = new Map();
    const changed = this.#learn(keys ?? []);
    this.#verifier.learnStored(texts ?? []);
    let began = performance.now();
    for (const id of changed) {
      this.#verifyKnown(id);
      if (performance.now() - began < VERIFY_AT_ONCE_MS) continue;
      await turn();
      if (connection !== this.#connection) return;
      began = performance.now();
    }
    this.#serve();
    this.#hosted?.welcomed(devices === true);
    this.#devices?.rules?.welcomed(rules === true);
    // An older gateway sends no keys, which does not mean that there are none. Some may have changed since the welcome.
    if (keys) this.#logins?.update([...this.#keys.values()]);
    const keyed = [...this.#keys.values()].filter(({ key }) => key !== null);
    this.#outbox.welcomed({ texts, keyed: keyed.map(({ id }) => id), hasFlowControl: paced === true });
    void this.#update.welcomed();
  }

  /** Takes Home's keys. @returns the agents whose key changed */
  #learn(changed: readonly AgentKey[]): string[] {
    for (const key of changed) this.#keys.set(key.id, key);
    this.#devices?.reserve([...this.#keys.keys(), ...(this.#unsigned ?? [])]);
    return this.#verifier.learn([...this.#keys.values()]);
  }

  /** Checks what was accepted of an agent before its key was known. */
  #verifyKnown(id: string): void {
    this.#roster.verify(id, (kind, text) => this.#verifier.problem(id, kind, text, false) === undefined);
  }

  #serve(): void {
    const unsigned = this.#unsigned;
    // An older gateway does not say whom it serves: then it may serve any agent.
    const others: Standing = unsigned === undefined || unsigned.has("*") ? "any" : "stranger";
    const isNamed = (id: string) => this.#verifier.isKeyed(id) || unsigned?.has(id) === true;
    this.#roster.serve((id) => (isNamed(id) ? "named" : others));
    const served = [...this.#verifier.keyed(), ...(unsigned ?? [])].filter((id) => id !== "*");
    if (!this.#roster.isMissingAny(served)) return;
    this.#broker.readAgain();
    this.#outbox.retainedAgain();
  }

  #frame(frame: HomeFrame): void {
    this.#counts.received(frame, systemClock.now());
    switch (frame.t) {
      case "call": {
        const host = this.#devices?.has(frame.agent, frame.id) ? this.#devices : undefined;
        this.#log("info", "call.received", { id: frame.id, agent: frame.agent });
        this.#spans?.begin(frame, host !== undefined);
        (host ?? this.#calls).call(frame);
        break;
      }
      case "publish":
        (this.#devices?.has(frame.agent) ? this.#devices : this.#calls).publish(frame);
        break;
      case "ack":
        this.#devices?.acked([frame.id]);
        this.#calls.ack(frame);
        break;
      case "keys":
        if (!frame.part) this.#keys = new Map();
        for (const id of this.#learn(frame.keys)) this.#verifyKnown(id);
        this.#serve();
        this.#logins?.update([...this.#keys.values()]);
        break;
      case "lacks":
        this.#outbox.onMissing(frame.agents);
        break;
      case "stored":
        this.#outbox.stored(frame.n);
        break;
      case "session": {
        // Kept with the key: when a single key changes, the verifier learns them all again.
        const key = this.#keys.get(frame.agent);
        if (key) key.session = frame.session;
        this.#verifier.learnSession(frame.agent, frame.session);
        break;
      }
      case "acks":
        this.#devices?.acked(frame.ids);
        this.#calls.acks(frame);
        break;
      case "states":
        this.#devices?.states(frame);
        break;
      case "past":
        this.#devices?.onPast(frame);
        break;
      case "assistant":
        this.#devices?.assistant(frame).catch((error: unknown) => this.#onError("gateway", error));
        break;
      case "rules":
        this.#devices?.rules?.onRules(frame).catch((error: unknown) => this.#onError("gateway", error));
        break;
      case "changed":
        this.#devices?.rules?.onChanged(frame);
        break;
      case "automations":
      case "news_stored":
      case "presence_said":
      case "acted":
        this.#devices?.automations?.onFrame(frame);
        break;
      case "order":
        this.#devices?.automations?.onOrder(frame);
        break;
      case "draft":
        this.#devices
          ?.draft(frame, this.#paired())
          .catch((error: unknown) => this.#onError("gateway", error));
        break;
      case "forget_device":
        this.#devices?.forget(frame.key);
        break;
      case "update":
        this.#update.asked(frame.id);
        break;
      case "welcome":
      case "known":
      case "error":
        break;
    }
    // A refusal may rest on a silence that Home does not know of yet.
    this.#outbox.sendChangesSoon();
  }

  /** Paired agents of the broker, with what they advertise. */
  #paired(): PairedAgent[] {
    return this.#roster.now().flatMap(({ id, tools }) => {
      const key = this.#keys.get(id)?.key;
      return key === undefined || key === null ? [] : [{ id, key, tools }];
    });
  }

  /** The newest presence of the agent with this key, under whatever id. */
  #agentSays(agent: string, key: string): AgentSaid | undefined {
    const isIts = this.#keys.get(agent)?.key === key;
    const id = isIts ? agent : [...this.#keys.values()].find((one) => one.key === key)?.id;
    return id === undefined ? undefined : this.#roster.said(id);
  }

  #tick(): void {
    if (!this.#stall.tick()) return;
    this.#foreign.tick();
    this.#calls.tick();
    this.#spans?.tick();
    this.#devices?.tick();
    this.#sendConditions();
    this.#outbox.sendChanges();
  }

  /** Catches everything: whatever one peer sends, the other agents of the home must still be served. */
  #guard(side: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onError(side, error);
    }
  }

  #onError(side: string, error: unknown): void {
    const text = error instanceof Error ? error.stack : String(error);
    this.#log("error", "bridge.internal_error", { side, error: text });
  }
}
