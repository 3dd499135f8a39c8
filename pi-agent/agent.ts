/** One agent: its ledger, its tools and its line to the broker, put together. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { newTurnCounts } from "@edgecall/core/metrics/tally.ts";
import { type AgentEvent, Presence } from "@edgecall/core/protocol/mqtt.ts";
import {
  broadcastTopic,
  HEARTBEAT_EVERY_MS,
  type TopicKind,
  topicOf,
} from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { relayPlace } from "@edgecall/core/protocol/relay-token.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { Locks } from "@edgecall/core/tools/locks.ts";
import type { RunEvent, RunnerOptions } from "@edgecall/core/tools/runner.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { StallDetector } from "@edgecall/node/stall-detector.ts";
import { AuditLog } from "./calls/audit.ts";
import type { Device } from "./calls/device.ts";
import { Inbox } from "./calls/inbox.ts";
import { Jobs } from "./calls/jobs.ts";
import { CommandLedger } from "./calls/ledger.ts";
import { LedgerFile } from "./calls/ledger-file.ts";
import { PersonQuestions } from "./calls/questions.ts";
import { Redelivery } from "./calls/redelivery.ts";
import { Semaphore } from "./calls/semaphore.ts";
import { Uploads } from "./calls/uploads.ts";
import { mcpSecrets } from "./config/mcp-servers.ts";
import type { Settings } from "./config/settings.ts";
import { Profile } from "./evoclaw/profile.ts";
import { Trades } from "./evoclaw/trades.ts";
import { tuned } from "./evoclaw/tuning.ts";
import { capabilitiesText, presenceText, toolsText } from "./link/adverts.ts";
import { wallClock } from "./link/clock.ts";
import { CommandVerifier } from "./link/command-verifier.ts";
import { Connection } from "./link/connection.ts";
import { Counter } from "./link/counter.ts";
import { openIdentity, readGateway } from "./link/identity.ts";
import { type MessageSigner, messageSigner, plainSigner } from "./link/message-signer.ts";
import { reportText } from "./link/reports.ts";
import { RetainedGuard } from "./link/retained-guard.ts";
import { Standby } from "./link/standby.ts";
import { Metrics } from "./metrics/metrics.ts";
import { serveMetrics } from "./metrics/metrics-page.ts";
import { ToolMetrics } from "./metrics/tool-metrics.ts";
import { unavailableOf } from "./skills/skill-file.ts";
import type { Unavailable } from "./toolbox/group.ts";
import type { Later } from "./toolbox/places.ts";
import { type SkillSource, ToolCatalog } from "./toolbox/tool-catalog.ts";
import { openToolbox } from "./toolbox/toolbox.ts";

/** Replies of callers that acknowledge nothing, kept while the broker is away: the newest so many. */
const OUTBOX_MAX = 100;
/** Logged when the agent offers other tools than before. */
export const TOOLS_CHANGED = "tools.changed";
/** What is under way at a stop gets this long to say that it was stopped. */
const LAST_WORDS_MS = 1_000;

export type AgentOptions = {
  log: Log;
  /** Tools beside the device's own; one of the same name replaces it. */
  tools?: readonly Tool[];
  skills?: SkillSource;
  /** Where the device's own come from; tests have simpler ones. */
  toolbox?: typeof openToolbox;
  /** Another device with this id has to be away for so long before this one takes its place. */
  freeAfterMs?: number;
  /** Called after the first complete advert. */
  onReady?: () => void;
};

export type Agent = {
  readonly bootId: string;
  readonly settings: Settings;
  /** The names of its tools as of now, and those that this device cannot offer. */
  offered(): { tools: string[]; unavailable: Unavailable[] };
  /** Where /metrics is; undefined while it is not. */
  metricsPort(): number | undefined;
  /** Says goodbye and ends, within 5 s; again does nothing more. */
  stop(): Promise<void>;
  /** Resolves when the agent has ended, also by a `shutdown` command. */
  readonly stopped: Promise<void>;
};

/**
 * Starts an agent; it connects by itself, now and again and again.
 * @throws IdentityError when its key, or its gateway's, is damaged
 */
export async function startAgent(given: Settings, options: AgentOptions): Promise<Agent> {
  const settings = await withRelay(given);
  const { log } = options;
  const profile = await Profile.open(settings.stateDir, log);
  const now = () => tuned(settings, profile.taught.agent);
  const later: Later = {
    llm: () => now().llm,
    limits: () => now().limits,
    tools: () => catalog.registry.all(),
    guides: () => catalog.skills.guides,
  };
  const toolbox = await (options.toolbox ?? openToolbox)(settings, later, options.tools, log);
  const bootId = randomUUID();
  const { signer, verifier } = await trustOf(settings, bootId, log);
  const topic = (kind: TopicKind) => topicOf(settings.mqtt.topicPrefix, settings.agentId, kind);
  const broadcasts = broadcastTopic(settings.mqtt.topicPrefix);
  /** @returns whether the broker took it; nothing is said, and no number used, while there is none */
  const say = async (kind: Exclude<TopicKind, "commands">, text: string, options?: { retain?: boolean }) =>
    connection.connected && (await connection.publish(topic(kind), signer.say(kind, text), options));
  const ledger = await CommandLedger.open({
    storage: new LedgerFile(join(settings.stateDir, "ledger.jsonl")),
    log,
  });
  const stall = new StallDetector({ afterMs: 2_000 });
  const outbox: string[] = [];
  let isReady = false;

  const event = (said: AgentEvent) => void say("events", JSON.stringify(said));
  // One set of locks for everything that runs here, whoever asked for it.
  const runner: RunnerOptions = { log: runLog(log), locks: new Locks(), secrets: secretsOf(settings) };
  const metrics = new Metrics();
  const audit = await AuditLog.open({
    dir: join(settings.stateDir, "audit"),
    secrets: runner.secrets ?? [],
    log,
    send: event,
  });
  const catalog = new ToolCatalog(() => toolbox.tools, options.skills ?? toolbox.skills, profile);
  const questions = new PersonQuestions(event);
  const uploads = new Uploads(event, log);
  const jobs = new Jobs({
    settings,
    ledger,
    runner,
    metrics,
    uploads,
    log,
    report,
    progress: (token, said) => event({ type: "progress", request_id: token, ...said }),
  });
  const unavailable = () => [...toolbox.unavailable, ...unavailableOf(catalog.skipped)];
  const device: Device = {
    settings,
    get registry() {
      return catalog.registry;
    },
    catalog,
    unavailable,
    runner,
    metrics,
    toolMetrics: new ToolMetrics(),
    turns: newTurnCounts(),
    trades: new Trades(),
    audit,
    profile,
    ledger,
    questions,
    jobs,
    uploads,
    promptSemaphore: new Semaphore(settings.maxPrompts),
    log,
    shutdown: () => setImmediate(() => void stop()),
  };

  const inbox = new Inbox({
    device,
    clocks: { now: () => performance.now(), wallClock: () => wallClock(settings) },
    unknownAgeMs: () => stall.unknownAgeMs(),
    report,
    refuse: (text) => void connection.publish(topic("reports"), text),
    event,
    acked: (id) => redelivery.acked(id),
    ...(verifier && { verifier }),
  });
  const unfinished = await inbox.settleInterrupted();

  const connection = new Connection({
    mqtt: settings.mqtt,
    clientId: `edgecall-${settings.agentId}`,
    will: () => ({
      topic: topic("presence"),
      payload: signer.connecting(presenceText("offline", "last will")),
    }),
    log,
    onConnected: advertise,
    onMessage(from, payload, retained) {
      if (from === topic("commands")) void inbox.receive(payload, retained);
      else if (from === broadcasts) void inbox.broadcast(payload, retained);
      else if (from === topic("presence")) seePresence(payload.toString("utf8"), retained);
      else guard.saw(from, payload.toString("utf8"));
    },
  });
  const redelivery = new Redelivery(ledger, (text) => say("reports", text), log);

  const served = serveMetrics(device, { connection, inbox, outbox });

  async function advertise(): Promise<void> {
    if (born) earlierBirth = birthText;
    await connection.subscribe([topic("commands"), topic("presence")]);
    // A broker that lets an agent read only what it has to refuses these: then nothing is mended there.
    await connection.subscribe([topic("capabilities"), topic("tools")]).catch(() => undefined);
    // A broker may keep it from its agents; nothing of ours is sent there.
    await connection.subscribe([broadcasts]).catch((error: unknown) => {
      log("info", "mqtt.no_broadcast", { error: messageOf(error) });
    });
    birthText = signer.say("presence", presenceText("online", "birth"));
    await birth();
    toldCapabilities = "";
    await advertiseTools();
    await heartbeat();
    for (const text of outbox.splice(0)) await report(text);
    redelivery.connected();
    questions.announce();
    void audit.offer();
    if (!isReady && connection.connected) {
      isReady = true;
      options.onReady?.();
    }
  }

  let toldCapabilities = "";

  /** The line too, where it follows from the tools. */
  async function advertiseTools(): Promise<void> {
    const text = capabilitiesText(settings, catalog.registry.list());
    if (text !== toldCapabilities && (await sayRetained("capabilities", text))) toldCapabilities = text;
    await sayRetained("tools", toolsText(catalog.registry));
  }

  /** @returns whether the broker took it */
  async function sayRetained(kind: "capabilities" | "tools", said: string): Promise<boolean> {
    if (!connection.connected) return false;
    const text = signer.say(kind, said);
    guard.said(topic(kind), text);
    return await connection.publish(topic(kind), text, { retain: true });
  }

  /** Somebody else wrote where only this agent should: what is retained there is said again, signed anew. */
  const guard = new RetainedGuard((changed) => {
    if (!connection.connected || stopping) return;
    log("warn", "retained.mended", { topic: changed });
    if (changed !== topic("presence")) {
      toldCapabilities = "";
      void advertiseTools();
    } else {
      birthText = signer.say("presence", presenceText("online", "birth"));
      void birth();
    }
  });

  /** The broker has had our birth: whatever of another boot comes after it is someone else's. */
  let born = false;
  let birthText = "";
  /** The birth of an earlier connection. */
  let earlierBirth: string | undefined;

  async function birth(): Promise<void> {
    guard.said(topic("presence"), birthText);
    if (await connection.publish(topic("presence"), birthText, { retain: true })) born = true;
  }

  async function heartbeat(): Promise<void> {
    const text = reportText(settings, "heartbeat", { ...device.metrics.read() });
    await say("reports", text);
  }

  async function report(text: string, id?: string, acks = false): Promise<void> {
    const taken = await say("reports", text);
    if (acks && id !== undefined) redelivery.add(id);
    else if (!taken) outbox.splice(0, Math.max(0, outbox.push(text) - OUTBOX_MAX));
  }

  /** Our own presence, as the broker has it: it may be a late will of our earlier connection. */
  function seePresence(text: string, retained: boolean): void {
    // Later subscribers find the retained text: it must not be a stranger's, nor an old one of ours.
    guard.saw(topic("presence"), text);
    if (!signer.isMine(text)) return;
    const presence = checkJson(Presence, text);
    if (!presence.ok) return;
    const { boot_id } = presence.value;
    if (boot_id !== undefined && boot_id !== bootId) seeOther(text, boot_id, retained);
    if (presence.value.state === "offline" && !retained && connection.connected && !stopping) void birth();
  }

  /** Runs that were there before this one: our own past, or another device with our id. */
  const before = new Set<string>();

  /**
   * Another run of this id. What stands there when we come for the first time may be our past. What stands there when
   * we come again was said after our birth: another device has our id and key, for instance from a copied card. The one
   * that was there first stays.
   */
  function seeOther(text: string, boot: string, retained: boolean): void {
    if (connection.connects <= 1) return void before.add(boot);
    if (!retained || stopping || earlierBirth === undefined || !signer.isAfter(text, earlierBirth)) return;
    if (before.has(boot)) void giveWay(boot);
    // Its numbers are ahead of ours: without this the gateway would take what we say for old.
    else if (signer.outdo(text)) connection.restart();
  }

  let standby: Standby | undefined;

  async function giveWay(other: string): Promise<void> {
    if (standby) return;
    log("error", "mqtt.duplicate_agent_id", {
      reason: `another device with the id '${settings.agentId}' was here first`,
      other,
      hint: "give each device an agent_id and a key of its own: on this one, pair it anew under another id. It waits until the other one is gone",
    });
    standby = new Standby({
      mqtt: settings.mqtt,
      clientId: `edgecall-${settings.agentId}-${bootId.slice(0, 8)}`,
      topic: topic("presence"),
      isTaken(text) {
        const presence = signer.isMine(text) ? checkJson(Presence, text) : undefined;
        return (
          presence?.ok === true && presence.value.state === "online" && presence.value.boot_id !== bootId
        );
      },
      ...(options.freeAfterMs !== undefined && { freeAfterMs: options.freeAfterMs }),
    });
    await connection.leave();
    await standby.free;
    standby = undefined;
    log("info", "mqtt.duplicate_gone", {});
    connection.start();
  }

  let stopping: Promise<void> | undefined;
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
    redelivery.stop();
    standby?.stop();
    inbox.stop();
    jobs.stop();
    await within(LAST_WORDS_MS, Promise.all([inbox.idle(), jobs.idle()]));
    await connection.stop({
      topic: topic("presence"),
      payload: signer.say("presence", presenceText("offline", "shutdown")),
    });
    stall.stop();
    await toolbox.close();
    await audit.close();
    await ledger.close();
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
  // A genome that disables a skill takes its tools back.
  profile.onChange(toolsChanged);
  (options.skills ?? toolbox.skills).onChange(toolsChanged);
  toolbox.onChange?.(toolsChanged);
  stall.start();
  const heartbeats = setInterval(() => {
    heartbeat().catch(() => {});
  }, HEARTBEAT_EVERY_MS);
  for (const job of unfinished) jobs.resume(job);
  connection.start();
  const offered = () => ({ tools: catalog.registry.list(), unavailable: unavailable() });
  return { bootId, settings, offered, metricsPort: () => served?.port(), stop, stopped };
}

/** An agent that knows its gateway's key signs what it says, and obeys that gateway alone. */
async function trustOf(
  { stateDir, agentId, gatewayKey: given }: Settings,
  bootId: string,
  log: Log,
): Promise<{ signer: MessageSigner; verifier: CommandVerifier | undefined }> {
  const gatewayKey = given ?? (await readGateway(stateDir));
  if (gatewayKey === undefined) return { signer: plainSigner(bootId), verifier: undefined };
  const verifier = new CommandVerifier({ agentId, bootId, gatewayKey });
  const identity = await openIdentity(stateDir);
  const counter = await Counter.open({ file: join(stateDir, "counter.json"), log });
  log("info", "agent.signs", { key: identity.fingerprint });
  return { signer: messageSigner(agentId, bootId, identity, counter), verifier };
}

/** The model over the gateway's relay is asked with a new token each time: made of this device's key, they are short-lived. */
async function withRelay(settings: Settings): Promise<Settings> {
  const { llm, agentId, stateDir } = settings;
  if (!llm || !settings.llmRelay) return settings;
  const identity = await openIdentity(stateDir);
  const place = relayPlace(llm.baseUrl);
  return { ...settings, llm: { ...llm, apiKey: () => identity.relayToken(agentId, place, Date.now()) } };
}

/** What no tool may give away, least of all the agent's own keys. */
function secretsOf({ llm, mqtt, mcp, tools: { web } }: Settings): string[] {
  const search = [...(web?.brave?.keys ?? []), web?.codesearch?.key];
  const modelKey = typeof llm?.apiKey === "string" ? llm.apiKey : undefined;
  const keys = [modelKey, mqtt.password, ...search, ...mcp.flatMap(mcpSecrets)];
  return keys.filter((secret) => secret !== undefined);
}

/** Waits for `work`, but only so long. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** The runner's events without their messages: those can hold arguments. */
function runLog(log: Log): (event: RunEvent) => void {
  return (event) => {
    const { event: name, callId, tool } = event;
    const fields = { request_id: callId, tool };
    if (name === "tool.start") log("info", name, fields);
    else if (name === "tool.end") log("info", name, { ...fields, ms: event.ms });
    else log("warn", name, { ...fields, ms: event.ms, code: event.code });
  };
}
