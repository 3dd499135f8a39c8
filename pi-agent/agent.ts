/** Puts an agent together: its tools, its ledger and its connection to the broker. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { newTurnCounts } from "@edgecall/core/metrics/tally.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { broadcastTopic, HEARTBEAT_EVERY_MS } from "@edgecall/core/protocol/names.ts";
import { relayPlace } from "@edgecall/core/protocol/relay-token.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { Locks } from "@edgecall/core/tools/locks.ts";
import type { RunEvent, RunnerOptions } from "@edgecall/core/tools/runner.ts";
import { LedgerFile } from "@edgecall/node/ledger-file.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { StallDetector } from "@edgecall/node/stall-detector.ts";
import { nodeTracer } from "@edgecall/node/tracer.ts";
import { allCommands } from "./all-commands.ts";
import { AuditLog } from "./calls/audit.ts";
import { GatewayCalls } from "./calls/gateway-calls.ts";
import { Inbox } from "./calls/inbox.ts";
import { Jobs } from "./calls/jobs.ts";
import { CommandLedger } from "./calls/ledger.ts";
import { Metrics } from "./calls/metrics.ts";
import type { Unavailable } from "./calls/offered-tools.ts";
import { ProgramEvents } from "./calls/program-events.ts";
import { PersonQuestions } from "./calls/questions.ts";
import { Semaphore } from "./calls/semaphore.ts";
import { ToolMetrics } from "./calls/tool-metrics.ts";
import { Uploads } from "./calls/uploads.ts";
import { mcpSecrets } from "./config/mcp-servers.ts";
import type { ServeSettings } from "./config/serve-settings.ts";
import { AgentSettingsError, type Settings } from "./config/settings.ts";
import { EvoClaw } from "./evoclaw/evoclaw.ts";
import type { AgentHistory } from "./history/agent-history.ts";
import {
  CONDITIONS_CHANGED,
  capabilitiesText,
  presenceText,
  TOOLS_CHANGED,
  toolsText,
} from "./link/adverts.ts";
import { wallClock } from "./link/clock.ts";
import { CommandVerifier } from "./link/command-verifier.ts";
import { Connection } from "./link/connection.ts";
import { Counter } from "./link/counter.ts";
import { GatewaySession } from "./link/gateway-session.ts";
import { COUNTER_FILE, openIdentity, readGateway } from "./link/identity.ts";
import { type MessageSigner, messageSigner, plainSigner } from "./link/message-signer.ts";
import { OwnPresence } from "./link/own-presence.ts";
import { Publisher } from "./link/publisher.ts";
import { reportText } from "./link/reports.ts";
import { RetainedGuard } from "./link/retained-guard.ts";
import { StateDisk } from "./link/state-disk.ts";
import type { MetricsServer, MetricsSource } from "./metrics/metrics-page.ts";
import { AgentRules } from "./rules/agent-rules.ts";
import { ownTools, withOwnTools } from "./toolbox/own-tools.ts";
import type { ToolboxState } from "./toolbox/places.ts";
import { type SkillSource, ToolCatalog } from "./toolbox/tool-catalog.ts";
import { openToolbox } from "./toolbox/toolbox.ts";

/** At a stop, commands under way get this long to answer that they were stopped. */
const FINISH_WITHIN_MS = 1_000;

export type AgentOptions = {
  log: Log;
  /** Further tools. One with the name of a device's own tool replaces it. */
  tools?: readonly Tool[];
  skills?: SkillSource;
  /** Makes the device's own tools. Tests use simpler ones. */
  toolbox?: typeof openToolbox;
  /** Another device with this id has to be away for this long before this one takes its place. */
  freeAfterMs?: number;
  /** Called after the first complete advert. */
  onReady?: () => void;
};

export type Agent = {
  readonly bootId: string;
  readonly settings: Settings;
  /** The names of its present tools, and those that this device cannot offer. */
  offered(): { tools: readonly string[]; unavailable: readonly Unavailable[] };
  /** What is wrong with this device, as it sees it. */
  conditions(): readonly Condition[];
  /** The port of /metrics; undefined while it is not served. */
  metricsPort(): number | undefined;
  /** The port at which its workspace is served to other agents; undefined while it is not. */
  servePort(): number | undefined;
  /** Publishes a goodbye and ends, within 5 s. A second call does nothing more. */
  stop(): Promise<void>;
  /** Resolves when the agent has ended, also by a `shutdown` command. */
  readonly stopped: Promise<void>;
};

/**
 * Starts an agent. It connects, and connects again after each loss.
 * @throws IdentityError when its key or its gateway's key is damaged, unreadable or lost
 * @throws AgentSettingsError when its files for `[serve]` are not as they should be
 */
export async function startAgent(given: Settings, options: AgentOptions): Promise<Agent> {
  // Read before anything makes a key: a key without a gateway means a lost file.
  const gatewayKey = await readGateway(given);
  const settings = await withRelay({ ...given, gatewayKey });
  const { log } = options;
  const startServing = settings.serve && (await prepareServing(settings, settings.serve));
  const toolMetrics = new ToolMetrics();
  const evoclaw = await EvoClaw.open({
    settings,
    toolMetrics,
    installed: () => ({ tools: catalog.registry, skills: catalog.installedSkills() }),
    log,
  });
  const state: ToolboxState = {
    get llm() {
      return evoclaw.tuned.llm;
    },
    get limits() {
      return evoclaw.tuned.limits;
    },
    get tools() {
      return catalog.registry.all();
    },
    get guides() {
      return catalog.skills.guides;
    },
    get jobs() {
      return jobs;
    },
  };
  const toolbox = await (options.toolbox ?? openToolbox)(settings, state, options.tools, log);
  const catalog = new ToolCatalog(toolbox, options.skills ?? toolbox.skills, evoclaw);
  const bootId = randomUUID();
  const { signer, verifier, key } = await openKeys(settings, bootId, log);
  let isReady = false;
  let stopping: Promise<void> | undefined;
  const disk = new StateDisk(settings.stateDir, conditionsChanged);
  const ledger = await CommandLedger.open({
    storage: new LedgerFile(join(settings.stateDir, "ledger.jsonl")),
    log,
    onWritten: (error) => disk.wrote(error),
  });
  const stall = new StallDetector({ afterMs: 2_000 });
  const broadcasts = broadcastTopic(settings.mqtt.topicPrefix);

  const connection = new Connection({
    mqtt: settings.mqtt,
    clientId: `edgecall-${settings.agentId}`,
    will: () => ({
      topic: presenceTopic,
      payload: signer.signWill(presenceText("offline", "last will")),
    }),
    log,
    onConnected: advertise,
    onMessage(from, payload, retained) {
      if (from === publisher.topic("commands")) void inbox.receive(payload, retained);
      else if (from === broadcasts) void inbox.broadcast(payload, retained);
      else if (from === presenceTopic) presence.onMessage(payload.toString("utf8"), retained);
      else guard.seen(from, payload.toString("utf8"));
    },
  });
  const publisher = new Publisher({ settings, connection, signer, results: ledger, log });
  const presenceTopic = publisher.topic("presence");
  const guard = new RetainedGuard(publishAgain);
  const presence = new OwnPresence({
    settings,
    bootId,
    topic: presenceTopic,
    connection,
    signer,
    guard,
    rules: () => ({ rules: rules.hash, truths: rules.truths }),
    log,
    freeAfterMs: options.freeAfterMs,
  });

  // All calls on this device share one set of locks, whatever they come from.
  const runner: RunnerOptions = { log: runLog(log), locks: new Locks(), secrets: secretsOf(settings) };
  const metrics = new Metrics();
  const audit = await AuditLog.open({
    dir: join(settings.stateDir, "audit"),
    secrets: runner.secrets ?? [],
    log,
    send: (batch) => publisher.event(batch),
  });
  const record = audit.record.bind(audit);
  const workspace = toolbox.served && (await startServing?.({ environment: toolbox.served, record, log }));
  const questions = new PersonQuestions((question) => publisher.event(question));
  const gatewayCalls = new GatewayCalls((event) => publisher.event(event));
  const own = ownTools(settings);
  const uploads = new Uploads((request) => publisher.event(request), log);
  const events = new ProgramEvents();
  const jobs = new Jobs({ settings, ledger, runner, metrics, uploads, publisher, events, log });
  const tracer = settings.trace && nodeTracer("agent", bootId, settings.trace, log);
  const rules = await AgentRules.open({
    settings,
    tools: catalog,
    runner,
    profile: evoclaw,
    events,
    stateDir: settings.stateDir,
    publish: (event) => publisher.event(event),
    onRead: (action, values) => history?.came(action, values),
    onRules: () => {
      if (connection.connected && !stopping) void presence.announce();
    },
    log,
  });
  const history = await openHistory(settings, (action) => rules.look(action), log);
  const semaphore = new Semaphore(settings.maxPrompts);
  const turns = newTurnCounts();
  const parts = {
    settings,
    ledger,
    questions,
    gatewayCalls,
    jobs,
    uploads,
    audit,
    metrics,
    log,
    tracer,
  };
  const inbox = new Inbox({
    ...parts,
    commands: allCommands({
      ...parts,
      catalog,
      promptTools: () =>
        withOwnTools(
          catalog.registry,
          own.filter(({ feature }) => gatewayCalls.knows(feature)),
        ),
      runner,
      evoclaw,
      events,
      rules,
      history,
      key,
      toolMetrics,
      semaphore,
      turns,
      shutdown: () => setImmediate(() => void stop()),
    }),
    tools: catalog,
    publisher,
    acknowledged: [audit, rules],
    stall,
    clocks: { now: () => performance.now(), wallClock: () => wallClock(settings) },
    verifier,
    goAbove(n) {
      // Only a signed command is obeyed. A new connection has a will with such a number, too.
      if (!verifier || !signer.goAbove(n)) return;
      log("warn", "counter.raised", { above: n });
      connection.restart();
    },
  });
  const unfinished = await inbox.settleInterrupted();
  const served = await serveMetrics(settings, {
    ...{ metrics, toolMetrics, turns, connection, inbox, publisher, log },
    waiting: () => semaphore.waiting,
    unacked: () => ledger.unacked().length,
  });

  async function advertise(): Promise<void> {
    presence.connected();
    await connection.subscribe([publisher.topic("commands"), presenceTopic]);
    // A broker with strict access rules refuses these. Then foreign texts are not replaced there.
    const adverts = [publisher.topic("capabilities"), publisher.topic("tools")];
    await connection.subscribe(adverts).catch(() => undefined);
    // A broker may keep this topic from its agents. The gateway sends nothing there.
    await connection.subscribe([broadcasts]).catch((error: unknown) => {
      log("info", "mqtt.no_broadcast", { error: messageOf(error) });
    });
    // The tools come first: a gateway takes an agent that is there without any for one that knows prompts alone.
    published.clear();
    await advertiseTools();
    await presence.announce();
    await heartbeat();
    await publisher.connected();
    questions.announce();
    gatewayCalls.announce();
    rules.connected();
    void audit.offer();
    if (!isReady && connection.connected) {
      isReady = true;
      options.onReady?.();
    }
  }

  /** The adverts that the broker has from this connection, unsigned. */
  const published = new Map<"capabilities" | "tools", string>();

  /** Publishes the tools, and the line of capabilities that follows from them, where they are others than before. */
  async function advertiseTools(): Promise<void> {
    await advertiseLine();
    await publishRetained("tools", toolsText(catalog.registry));
  }

  async function advertiseLine(): Promise<void> {
    const text = capabilitiesText(settings, catalog.registry.list(), conditions());
    await publishRetained("capabilities", text);
  }

  function conditions(): Condition[] {
    return disk.condition ? [disk.condition] : [];
  }

  function conditionsChanged(): void {
    const codes = conditions().map(({ code }) => code);
    log(codes.length > 0 ? "error" : "info", CONDITIONS_CHANGED, { conditions: codes });
    if (isReady && !stopping) void advertiseLine();
  }

  async function publishRetained(kind: "capabilities" | "tools", advert: string): Promise<void> {
    if (!connection.connected || published.get(kind) === advert) return;
    const text = signer.signAdvert(kind, advert);
    guard.published(publisher.topic(kind), text);
    if (await connection.publish(publisher.topic(kind), text, { retain: true })) published.set(kind, advert);
  }

  /** Something else wrote to a topic of this agent: publishes this agent's text there again, newly signed. */
  function publishAgain(topic: string): void {
    if (!connection.connected || stopping) return;
    log("warn", "retained.mended", { topic });
    if (topic === presenceTopic) {
      void presence.announce();
    } else {
      published.clear();
      signer.renewAdverts();
      void advertiseTools();
    }
  }

  async function heartbeat(): Promise<void> {
    void disk.look();
    const text = reportText(settings, "heartbeat", { ...metrics.read() });
    await publisher.publish("reports", text);
  }

  let ended = () => {};
  const stopped = new Promise<void>((resolve) => {
    ended = resolve;
  });

  function stop(): Promise<void> {
    stopping ??= end().finally(ended);
    return stopping;
  }

  async function end(): Promise<void> {
    log("info", "agent.stopping");
    clearInterval(heartbeats);
    guard.stop();
    served?.stop();
    publisher.stop();
    presence.stop();
    await rules.stop();
    await history?.stop();
    inbox.stop();
    jobs.stop();
    await within(FINISH_WITHIN_MS, Promise.all([inbox.idle(), jobs.idle(), workspace?.close()]));
    await connection.stop({
      topic: presenceTopic,
      payload: presence.goodbye(),
    });
    stall.stop();
    await toolbox.close();
    await audit.close();
    await ledger.close();
    await tracer?.flush();
    log("info", "agent.stopped");
  }

  log("info", "agent.starting", {
    boot_id: bootId,
    tools: catalog.registry.list(),
    model: settings.llm?.model ?? null,
  });
  const toolsChanged = () => {
    log("info", TOOLS_CHANGED, { tools: catalog.registry.list() });
    if (connection.connected) void advertiseTools();
  };
  // A genome that disables a skill withdraws its tools.
  evoclaw.onChange(toolsChanged);
  (options.skills ?? toolbox.skills).onChange(toolsChanged);
  toolbox.onChange?.(toolsChanged);
  stall.start();
  const heartbeats = setInterval(() => {
    heartbeat().catch(() => {});
  }, HEARTBEAT_EVERY_MS);
  for (const job of unfinished) jobs.resume(job);
  await jobs.prune();
  await disk.look();
  connection.start();
  const offered = () => ({ tools: catalog.registry.list(), unavailable: catalog.unavailable });
  const ports = { metricsPort: () => served?.port(), servePort: () => workspace?.port() };
  return { bootId, settings, offered, conditions, ...ports, stop, stopped };
}

/** Loaded only where a port is set. */
async function serveMetrics(
  { agentId, metrics }: Settings,
  source: Omit<MetricsSource, "agentId">,
): Promise<MetricsServer | undefined> {
  if (metrics.port === 0) return undefined;
  const { serveMetrics } = await import("./metrics/metrics-page.ts");
  return serveMetrics(metrics, { agentId, ...source });
}

/** Loaded only where readings are named. */
async function openHistory(
  { agentId, stateDir, history: { readings } }: Settings,
  read: (action: string) => Promise<void>,
  log: Log,
): Promise<AgentHistory | undefined> {
  if (readings.length === 0) return undefined;
  const { AgentHistory } = await import("./history/agent-history.ts");
  return await AgentHistory.open({ agentId, stateDir, readings, read, log });
}

/** Loaded only where it is switched on, and read first, so that an agent that cannot serve as it should does not start. */
async function prepareServing(settings: Settings, serve: ServeSettings) {
  const { prepareServing } = await import("./serve/prepare-serving.ts");
  return await prepareServing(settings, serve);
}

/** An agent that knows its gateway's key signs its messages, and obeys only that gateway. */
async function openKeys(
  { stateDir, agentId, gatewayKey }: Settings,
  bootId: string,
  log: Log,
): Promise<{ signer: MessageSigner; verifier: CommandVerifier | undefined; key: string | undefined }> {
  if (gatewayKey === undefined) return { signer: plainSigner(bootId), verifier: undefined, key: undefined };
  const identity = await openIdentity(stateDir);
  const session = new GatewaySession({ agent: agentId, bootId, agentKey: identity.publicKey, gatewayKey });
  const verifier = new CommandVerifier({ agentId, bootId, gatewayKey, session });
  const counter = await Counter.open({ file: join(stateDir, COUNTER_FILE), log });
  log("info", "agent.signs", { key: identity.fingerprint });
  const signer = messageSigner(agentId, bootId, identity, counter, session);
  return { signer, verifier, key: identity.publicKey };
}

/** The gateway's relay of the model gets a new short-lived token each time, made with this device's key. */
async function withRelay(settings: Settings): Promise<Settings> {
  const { llm, agentId, stateDir, gatewayKey } = settings;
  if (!llm || !settings.llmRelay) return settings;
  if (gatewayKey === undefined)
    throw new AgentSettingsError([
      "llm.relay: the gateway's model answers paired devices alone, and this one is not paired; pair it, or set relay = false",
    ]);
  const identity = await openIdentity(stateDir);
  const place = relayPlace(llm.baseUrl);
  return { ...settings, llm: { ...llm, apiKey: () => identity.relayToken(agentId, place, Date.now()) } };
}

/** The secrets that no tool's result may contain. */
function secretsOf({ llm, mqtt, mcp, tools: { web } }: Settings): string[] {
  const search = [...(web?.brave?.keys ?? []), web?.codesearch?.key];
  const modelKey = typeof llm?.apiKey === "string" ? llm.apiKey : undefined;
  const keys = [modelKey, mqtt.password, ...search, ...mcp.flatMap(mcpSecrets)];
  return keys.filter((secret) => secret !== undefined);
}

/** Waits for `work`, at most `ms`. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Logs the runner's events without their messages, which can contain arguments. */
function runLog(log: Log): (event: RunEvent) => void {
  return (event) => {
    const { event: name, callId, tool } = event;
    const fields = { request_id: callId, tool };
    if (name === "tool.start") log("info", name, fields);
    else if (name === "tool.end") log("info", name, { ...fields, ms: event.ms });
    else log("warn", name, { ...fields, ms: event.ms, code: event.code });
  };
}
