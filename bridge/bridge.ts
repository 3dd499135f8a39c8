/** The bridge as a whole: broker on one side, Home on the other, and the roster, calls and results between. */
import type { AgentKey, BridgeFrame, HomeFrame } from "@edgecall/core/protocol/frames.ts";
import { parseTopic, topicOf } from "@edgecall/core/protocol/names.ts";
import type { Log } from "@edgecall/node/log.ts";
import { StallDetector, TICK_MS } from "@edgecall/node/stall-detector.ts";
import { BrokerLink } from "./broker/broker.ts";
import { Calls } from "./broker/calls.ts";
import { ForeignAgentQueue } from "./broker/foreign-agent-queue.ts";
import { Inbound, LISTENS_TO } from "./broker/inbound.ts";
import { LogThrottle } from "./broker/log-throttle.ts";
import { BROKER_GRACE_MS, Roster, type Standing } from "./broker/presence.ts";
import { ReportBuffer } from "./broker/report-buffer.ts";
import { ReportVerifier } from "./broker/report-verifier.ts";
import { systemClock } from "./clock.ts";
import { GatewayLink } from "./gateway/gateway.ts";
import { snapshotFrames } from "./gateway/snapshot.ts";
import { BrokerLogins } from "./ops/broker-logins.ts";
import { Counts } from "./ops/counts.ts";
import { type Readiness, serveHealth } from "./ops/health.ts";
import { SelfUpdate } from "./ops/self-update.ts";
import type { BridgeSettings } from "./settings.ts";

export type Bridge = {
  /** Welcomed by the gateway and connected to the broker. */
  ready(): boolean;
  /** Which side is there; and of the gateway, in words for a person, why not. */
  links(): Readiness;
  /** Where the health server listens; undefined without one. */
  healthPort(): number | undefined;
  /** Stops taking calls and closes both sides. */
  stop(): Promise<void>;
};

/** Changes this close together (birth, advert and tools of one agent) go out as one. */
const COALESCE_MS = 20;
/** Home waits 5 s for `taken`; most calls are answered sooner than this. */
const TAKEN_AFTER_MS = 100;
/** The broker sends its retained topics right after it granted the subscription. */
const RETAINED_WITHIN_MS = 150;
/** Progress of calls that comes while Home is away; older than this many is old news. */
const EVENTS_MAX = 100;

const agentOf = (frame: BridgeFrame): string =>
  "agent" in frame && typeof frame.agent === "string" ? frame.agent : "";

/** Starts a bridge; it connects, and keeps connecting, until it is stopped. */
export function startBridge(settings: BridgeSettings, log: Log): Bridge {
  const running = new RunningBridge(settings, log);
  running.start();
  return running;
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
  readonly #foreign: ForeignAgentQueue;
  readonly #calls: Calls;
  readonly #inbound: Inbound;
  readonly #update: SelfUpdate;
  readonly #events: BridgeFrame[] = [];
  /** Agents without a key that Home serves; undefined: it did not tell. */
  #unsigned: ReadonlySet<string> | undefined;
  #health: ReturnType<typeof serveHealth> | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #flush: NodeJS.Timeout | undefined;
  #snapshot: NodeJS.Timeout | undefined;
  #pings: NodeJS.Timeout | undefined;
  /** Whether Home has this connection's snapshot; before it there is nothing to tell a change of. */
  #told = false;
  /** Monotonic ms from which the roster holds what the broker has retained. */
  #rosterBy: number;
  #stopping: Promise<void> | undefined;

  constructor(settings: BridgeSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
    this.#reports = new ReportBuffer(log);
    this.#rosterBy = systemClock.now() + BROKER_GRACE_MS;
    const { topicPrefix: prefix, brokerFiles, mqttPassword } = settings;
    if (brokerFiles !== undefined)
      this.#logins = new BrokerLogins(brokerFiles, prefix, mqttPassword ?? "", log);
    this.#broker = new BrokerLink({
      url: settings.mqttUrl,
      username: settings.mqttUsername,
      password: settings.mqttPassword,
      ca: settings.mqttCa,
      clientId: `edgecall-bridge-${settings.bridgeId}`,
      topics: LISTENS_TO.map((kind) => `${prefix}/agents/+/${kind}`),
      log,
      onMessage: (message) => {
        this.#counts.message(parseTopic(prefix, message.topic)?.kind);
        this.#guard("broker", () => this.#inbound.message(message));
        this.#flushSoon();
      },
      onConnect: () => this.#roster.brokerConnected(),
      onUp: () => this.#brokerUp(),
      onDown: () => this.#roster.brokerLost(),
    });
    const { host } = new URL(settings.gatewayUrl);
    this.#update = new SelfUpdate(settings.updates, (frame) => this.#gateway.send(frame), log);
    this.#gateway = new GatewayLink({
      url: settings.gatewayUrl,
      token: (now) => settings.bridgeToken ?? settings.ownKey?.token(host, now) ?? "",
      bridgeId: settings.bridgeId,
      features: this.#update.features,
      log,
      onFrame: (frame) => this.#guard("gateway", () => this.#frame(frame)),
      onWelcome: ({ keys, unsigned }) => {
        this.#counts.connected("gateway");
        this.#unsigned = unsigned && new Set(unsigned);
        this.#learn(keys ?? []);
        // An older gateway tells none, which is not to say that there are none.
        if (keys) this.#logins?.keep(keys);
        this.#welcomed();
        void this.#update.welcomed();
      },
      onDown: () => {
        this.#told = false;
        clearTimeout(this.#snapshot);
      },
    });
    const { publish } = this.#broker;
    this.#foreign = new ForeignAgentQueue(this.#roster, {
      now: systemClock.now,
      publish: (agent, payload, expiresInMs) =>
        publish(topicOf(prefix, agent, "commands"), payload, expiresInMs),
      taken: (id) => this.#calls.taken(id),
      refuse: (id, code, message, retryAfterMs) => this.#calls.refuse(id, code, message, retryAfterMs),
    });
    this.#calls = new Calls({
      prefix,
      roster: this.#roster,
      foreign: this.#foreign,
      reports: this.#reports,
      publish,
      brokerUp: () => this.#broker.up,
      send: (frame) => {
        // Home has to know of an agent's new run before its report: the ack is for that run.
        if (frame.t === "report" && this.#roster.hasUntoldRun(frame.agent)) this.#tellChanges();
        this.#say(frame);
      },
      soon: (work) => void setTimeout(work, TAKEN_AFTER_MS),
      now: systemClock.now,
      arrival: () => this.#stall.arrival(),
      log,
    });
    this.#inbound = new Inbound({
      prefix,
      roster: this.#roster,
      verifier: this.#verifier,
      foreign: this.#foreign,
      calls: this.#calls,
      event: (frame) => this.#event(frame),
      log,
      seldom: new LogThrottle(systemClock.now),
    });
  }

  start(): void {
    const { healthPort: port, healthHost: host } = this.#settings;
    if (port !== 0) {
      const links = () => this.links();
      this.#health = serveHealth({ port, host }, links, () => this.#metrics(), this.#log);
    }
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#broker.start();
    this.#gateway.start();
  }

  links(): Readiness {
    const { up: gateway, problem } = this.#gateway;
    return { gateway, broker: this.#broker.up, problem };
  }

  ready(): boolean {
    return this.#stopping === undefined && this.#gateway.up && this.#broker.up;
  }

  healthPort(): number | undefined {
    return this.#health?.port();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#log("info", "stopping");
    clearInterval(this.#ticking);
    clearTimeout(this.#flush);
    clearTimeout(this.#snapshot);
    clearTimeout(this.#pings);
    this.#update.stop();
    await this.#gateway.stop();
    await this.#broker.stop();
    this.#health?.stop();
    this.#log("info", "stopped");
  }

  #metrics(): string {
    return this.#counts.page({
      gatewayUp: this.#gateway.up,
      brokerUp: this.#broker.up,
      agents: this.#roster.now(),
      queues: {
        calls: this.#calls.inFlight,
        foreign_calls: this.#foreign.waiting,
        reports: this.#reports.all().length,
        events: this.#events.length,
      },
    });
  }

  /** What answers calls: counted, and one line for each, so that a call can be followed by its id. */
  #say(frame: BridgeFrame): void {
    const ms = this.#counts.said(frame, systemClock.now());
    if (ms !== undefined && frame.t === "report")
      this.#log("info", "call_answered", { id: frame.id, agent: frame.agent, ms: Math.round(ms) });
    this.#gateway.send(frame);
  }

  #brokerUp(): void {
    this.#counts.connected("broker");
    this.#rosterBy = Math.min(this.#rosterBy, systemClock.now() + RETAINED_WITHIN_MS);
    this.#calls.brokerBack();
    clearTimeout(this.#pings);
    this.#pings = setTimeout(() => {
      for (const agent of this.#roster.unheardForeign()) this.#foreign.ping(agent);
    }, RETAINED_WITHIN_MS);
    this.#flushSoon();
  }

  /** What was believed of an agent before its key was known is looked at again. */
  #learn(keys: readonly AgentKey[]): void {
    for (const id of this.#verifier.learn(keys)) {
      this.#roster.believeOnly(
        id,
        (kind, text) => this.#verifier.problem(id, kind, text, false) === undefined,
      );
    }
    const unsigned = this.#unsigned;
    // An older gateway tells of none: then any may be one that it serves.
    const others: Standing = unsigned === undefined || unsigned.has("*") ? "any" : "stranger";
    const isNamed = (id: string) => this.#verifier.isKeyed(id) || unsigned?.has(id) === true;
    this.#roster.serve((id) => (isNamed(id) ? "named" : others));
    if (!this.#roster.lacks([...this.#verifier.keyed(), ...(unsigned ?? [])].filter((id) => id !== "*")))
      return;
    this.#broker.readAgain();
    this.#rosterBy = Math.max(this.#rosterBy, systemClock.now() + RETAINED_WITHIN_MS);
  }

  /** A snapshot before the broker's retained topics have come would tell Home that everybody is gone. */
  #welcomed(): void {
    const wait = Math.max(0, this.#rosterBy - systemClock.now());
    if (wait === 0) {
      this.#tellAll();
      return;
    }
    // The broker may be up before that: looked at again soon.
    this.#snapshot = setTimeout(() => this.#welcomed(), Math.min(wait, COALESCE_MS));
  }

  #tellAll(): void {
    for (const frame of snapshotFrames(this.#roster.snapshot())) this.#gateway.send(frame);
    this.#told = true;
    this.#resend().catch((error) => this.#log("error", "resend_failed", { error: String(error) }));
    for (const event of this.#events.splice(0)) this.#gateway.send(event);
  }

  /** Unacked reports, one after the other: all at once could be more than the line is allowed to hold. */
  async #resend(): Promise<void> {
    for (const report of this.#reports.all()) {
      if (this.#reports.get(report.agent, report.id) !== report) continue;
      const sent = await new Promise<boolean>((resolve) => {
        if (!this.#gateway.send({ t: "report", ...report }, (error) => resolve(!error))) resolve(false);
      });
      if (!sent) return;
    }
  }

  #frame(frame: HomeFrame): void {
    this.#counts.received(frame, systemClock.now());
    switch (frame.t) {
      case "call":
        this.#log("info", "call", { id: frame.id, agent: frame.agent });
        this.#calls.call(frame);
        break;
      case "publish":
        this.#calls.publish(frame);
        break;
      case "ack":
        this.#calls.ack(frame);
        break;
      case "keys":
        this.#learn(frame.keys);
        this.#logins?.keep(frame.keys);
        break;
      case "update":
        this.#update.asked(frame.id);
        break;
      case "welcome":
      case "error":
        break;
    }
    // A refusal may rest on silence that no tick has told Home of yet.
    this.#flushSoon();
  }

  #event(frame: Extract<BridgeFrame, { t: "event" }>): void {
    if (this.#told && this.#gateway.send(frame)) return;
    this.#events.push(frame);
    if (this.#events.length <= EVENTS_MAX) return;
    // Of the agent that has most: one that speaks without end pushes out its own.
    const most = Object.entries(Object.groupBy(this.#events, agentOf)).reduce((a, b) =>
      (b[1]?.length ?? 0) > (a[1]?.length ?? 0) ? b : a,
    )[0];
    this.#events.splice(
      this.#events.findIndex((event) => agentOf(event) === most),
      1,
    );
  }

  #tick(): void {
    if (!this.#stall.tick()) return;
    this.#foreign.tick();
    this.#calls.tick();
    this.#tellChanges();
  }

  #flushSoon(): void {
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined;
      this.#tellChanges();
    }, COALESCE_MS);
  }

  #tellChanges(): void {
    if (!this.#told || !this.#gateway.up) return;
    for (const change of this.#roster.changes()) {
      if (change.kind === "gone") this.#gateway.send({ t: "gone", agent: change.id });
      else this.#gateway.send({ t: "agent", agent: change.agent });
    }
  }

  /** The last line: whatever a peer found to send, the other agents of the home go on being served. */
  #guard(side: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log("error", "internal_error", {
        side,
        error: error instanceof Error ? error.stack : String(error),
      });
    }
  }
}
