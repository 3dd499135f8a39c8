/** Handles what the bridge sends, frame by frame. No frame can crash the object or go unanswered. */

import { agentSource, type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import { AuditBatch } from "@edgecall/core/protocol/audit.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { DEVICES_FEATURE } from "@edgecall/core/protocol/devices.ts";
import {
  type AgentKey,
  type AgentState,
  BridgeFrame,
  CLOSE,
  encodeFrame,
  type HomeFrame,
  type Refusal,
} from "@edgecall/core/protocol/frames.ts";
import type { UploadRequest } from "@edgecall/core/protocol/media.ts";
import { AgentEvent, type ReadReport, RULES_FEATURE, readReport } from "@edgecall/core/protocol/mqtt.ts";
import {
  AGENT_ID,
  BRIDGE_PROTOCOL,
  CallId,
  FRAME_MAX_BYTES,
  HELLO_MAX_BYTES,
  VERSION,
} from "@edgecall/core/protocol/names.ts";
import { checkJson, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import { SESSION_FEATURE } from "@edgecall/core/protocol/session.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { conversationOf } from "../../api/stubs.ts";
import { uploadCommand } from "../../api/uploads.ts";
import { logError, logInfo } from "../../log.ts";
import { readSettings } from "../../settings/settings.ts";
import { closeQuietly, sendQuietly } from "../../sockets.ts";
import { agentAnswersOf } from "../agents/agent-answers.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { agentsOf } from "../agents/agents.ts";
import { gatewayKeyOf } from "../agents/gateway-key.ts";
import { NO_TEXTS, type VerifiedState, verifyPresence } from "../agents/verify-presence.ts";
import { addToAudit } from "../audit/add-to-audit.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { acknowledgeReport, dismissReport } from "../calls/acks.ts";
import { loadOf } from "../calls/agent-load.ts";
import { placeOf, showProgress } from "../calls/call-watchers.ts";
import { tryNext } from "../calls/choose-agent.ts";
import { greetAgent, sendNotice } from "../calls/commands.ts";
import { expectJob, resend } from "../calls/dispatch.ts";
import { storeInFlight } from "../calls/in-flight-rows.ts";
import { lifeSignsOf } from "../calls/life-signs.ts";
import { ARRIVES_LATER, jobsOf, outcomeOf, withoutAdvice } from "../calls/outcome.ts";
import {
  deliverNow,
  deliverRouted,
  settleByGateway,
  settleFromReport,
  settleInFlight,
  settleLate,
} from "../calls/outcome-delivery.ts";
import { openReturnAddress, type RoutedCall } from "../calls/return-address.ts";
import type { HomeContext } from "../context.ts";
import { deviceStatesOf } from "../devices/device-states.ts";
import { emit, featuresOf } from "../feature.ts";
import { hasReported, JOB, JOB_MAX_MS, type LedgerCall, ledgerOf, OPEN_MAX } from "../ledger/ledger.ts";
import { permissionsOf } from "../permissions/permission-store.ts";
import { onDeviceTold } from "../permissions/written-out.ts";
import { askFromAgent, closeQuestions } from "../questions/approvals.ts";
import { onAgentCall } from "../submit/delegation.ts";
import { countersOf } from "../usage/usage-counters.ts";
import { admits } from "./admission.ts";

/** A sign of life is stored when the one before is this old. */
const LIFE_GRAIN_MS = 10_000;
/** Results of jobs that wait for the result of their call. A device has no more jobs at once. */
const EARLY_MAX = 16;

/** Within this time after its beginning, a call that was forgotten in a crash is submitted again. */
const FORGOTTEN_MS = 5 * 60_000;

/** Agents without a key that the settings do not name, and that are listed all the same. */
const UNSERVED_MAX = 32;
/** Keys, and hashes of agents' texts, in one frame. A key with its login and session has at most 850 characters. */
const KNOWN_AT_ONCE = 1_000;

type SignedKind = "events" | "reports";
type ParsedReport = Parsed<ReadReport>;

export class BridgeFrames {
  readonly #home: HomeContext;
  #verifying: Promise<unknown> = Promise.resolve();
  /** The snapshot that is on its way, by its connection, and the agents that it has named so far. */
  #snapshot: { of: number; named: Set<string> } | undefined;

  constructor(home: HomeContext) {
    this.#home = home;
  }

  async onMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const bridge = bridgeOf(this.#home);
    if (bridge.isRevoked(socket)) return;
    const isWelcomed = bridge.isWelcomed(socket);
    bridge.heard(socket, Date.now());
    const max = isWelcomed ? FRAME_MAX_BYTES : HELLO_MAX_BYTES;
    if (typeof message !== "string" || message.length > max) {
      const what =
        typeof message === "string"
          ? `a frame of ${message.length} characters, ${max} allowed`
          : "a binary frame";
      return closeQuietly(socket, what, isWelcomed ? CLOSE.badFrame : CLOSE.badHello);
    }
    const frame = checkJson(BridgeFrame, message);
    if (!frame.ok) {
      logInfo("bridge.bad_frame", { problem: frame.error });
      if (!isWelcomed) return closeQuietly(socket, `hello: ${frame.error}`.slice(0, 120), CLOSE.badHello);
      sendQuietly(socket, JSON.stringify({ t: "error", code: "bad_frame", message: frame.error }));
      return;
    }
    try {
      if (isWelcomed) await this.#onFrame(socket, frame.value);
      else if (frame.value.t === "hello") await this.#onHello(socket, frame.value);
      else closeQuietly(socket, "the first frame must be hello", CLOSE.badHello);
    } catch (error) {
      // An error that leaves the handler would reset the object, and drop the socket with it.
      logError("bridge.frame_failed", error, { t: frame.value.t });
      sendQuietly(
        socket,
        JSON.stringify({
          t: "error",
          code: "internal",
          message: `the ${frame.value.t} frame could not be handled`,
        }),
      );
    }
    if ("n" in frame.value && frame.value.n !== undefined)
      sendQuietly(socket, encodeFrame({ t: "stored", n: frame.value.n }));
  }

  async #onFrame(socket: WebSocket, frame: BridgeFrame): Promise<void> {
    switch (frame.t) {
      case "hello":
        return;
      case "snapshot":
        return await this.#onSnapshot(socket, frame);
      case "agent":
        return await this.#onAgents(socket, [frame.agent]);
      case "agents":
        if (frame.over !== undefined) bridgeOf(this.#home).storeOver(socket, frame.over);
        // A device that comes may need the room of one that goes.
        for (const gone of frame.gone ?? []) await this.#onGone(gone);
        return await this.#onAgents(socket, frame.agents);
      case "gone":
        return await this.#onGone(frame.agent);
      case "taken":
        return ledgerOf(this.#home).markAccepted(frame.id);
      case "refused":
        return await this.#onRefused(frame);
      case "event":
        return await this.#onEvent(socket, frame.id, frame.agent, frame.payload);
      case "report":
        return await this.#onReport(frame.id, frame.agent, frame.payload);
      case "states":
        return deviceStatesOf(this.#home).onAnswer(frame);
      case "conditions":
        return this.#storeConditions(frame.all);
      case "updated": {
        const { id, ok, text } = frame;
        return bridgeOf(this.#home).storeUpdate(socket, { id, ok, text });
      }
      default:
        return await this.#onFeatureFrame(frame);
    }
  }

  async #onFeatureFrame(frame: BridgeFrame): Promise<void> {
    for (const { frames } of featuresOf(this.#home)) {
      // SAFETY: the handler is that of this kind of frame.
      const handle = frames?.[frame.t] as
        | ((home: HomeContext, frame: BridgeFrame) => Promise<void>)
        | undefined;
      await handle?.(this.#home, frame);
    }
  }

  async #onHello(socket: WebSocket, frame: BridgeFrame & { t: "hello" }): Promise<void> {
    if (frame.protocol !== BRIDGE_PROTOCOL) {
      const which = frame.protocol < BRIDGE_PROTOCOL ? "update the bridge" : "update the gateway";
      const why = `protocol ${frame.protocol}, this gateway speaks ${BRIDGE_PROTOCOL}: ${which}`;
      closeQuietly(socket, why, CLOSE.badProtocol);
      return;
    }
    const problem = versionProblem("bridge", frame.version);
    if (problem !== undefined) return this.#turnAway(socket, frame, problem);
    const keeps = frame.features?.includes("kept") === true;
    const lastConfirmedAt = bridgeOf(this.#home).lastConfirmedAt();
    const goneAt = bridgeOf(this.#home).goneAt();
    const bridge = bridgeOf(this.#home);
    const { env } = this.#home;
    const gatewayKey = keysOf(this.#home).hasAgents()
      ? await gatewayKeyOf(this.#home).publicKey()
      : undefined;
    // What was sent over an earlier line is sent again, from its row.
    await storeInFlight(this.#home);
    // From here to the welcome nothing is awaited: a session that began meanwhile would be told to the bridge before.
    const keys = keysOf(this.#home).forBridge(frame.features?.includes(SESSION_FEATURE) === true);
    keysOf(this.#home).markSessionsUnconfirmed();
    bridge.welcome(socket, frame.features);
    ledgerOf(this.#home).lineRestored(Date.now());
    this.#storeBridge(frame, null, lastConfirmedAt);
    countersOf(this.#home).bridgeConnected();
    logInfo("bridge.connected", { bridge: frame.bridge, version: frame.version });
    const welcome: HomeFrame = {
      t: "welcome",
      protocol: BRIDGE_PROTOCOL,
      home: this.#home.name,
      version: VERSION,
      ...(gatewayKey !== undefined && { gateway_key: gatewayKey }),
      keys: keeps ? [] : keys,
      ...(keeps && { kept: true }),
      paced: true,
      standby: true,
      conditions: true,
      ...(frame.features?.includes(DEVICES_FEATURE) && { devices: true }),
      ...(frame.features?.includes(RULES_FEATURE) && { rules: true }),
      unsigned: [...readSettings(env).unsignedAgents].filter((id) => id === "*" || AGENT_ID.test(id)),
      unasked: [...readSettings(env).unaskedReports].filter((id) => AGENT_ID.test(id)),
    };
    sendQuietly(socket, encodeFrame(welcome));
    if (keeps) this.#sendKnown(socket, keys);
    await emit("bridgeWelcomed", this.#home, frame, goneAt);
    await emit("presence", this.#home);
  }

  /** Sends the bridge all keys, and the hashes of the texts that it need not send. */
  #sendKnown(socket: WebSocket, keys: AgentKey[]): void {
    const texts = agentsOf(this.#home).storedTexts();
    const end = Math.max(keys.length, texts.length, 1);
    for (let at = 0; at < end; at += KNOWN_AT_ONCE) {
      const upTo = at + KNOWN_AT_ONCE;
      const part = { keys: keys.slice(at, upTo), texts: texts.slice(at, upTo), last: upTo >= end };
      sendQuietly(socket, encodeFrame({ t: "known", ...part }));
    }
  }

  /** A bridge that does not fit this gateway. `GET /v1/status` shows its version, unless another bridge is connected. */
  #turnAway(socket: WebSocket, frame: BridgeFrame & { t: "hello" }, problem: string): void {
    logInfo("bridge.turned_away", { bridge: frame.bridge, problem });
    const now = Date.now();
    const bridge = bridgeOf(this.#home);
    // It has been gone since before it dialled, however often it does.
    if (!bridge.isConnected(now)) this.#storeBridge(frame, bridge.goneAt() ?? now, null);
    closeQuietly(socket, problem, CLOSE.badProtocol);
  }

  /** @param goneAt epoch ms; null: it is connected @param lastConfirmedAt when the one before vouched for its agents last */
  #storeBridge(
    { bridge, version }: BridgeFrame & { t: "hello" },
    goneAt: number | null,
    lastConfirmedAt: number | null,
  ): void {
    this.#home.ctx.storage.sql.exec(
      `INSERT INTO bridge (one, id, version, connected_at, gone_at, vouched_at) VALUES (1, ?, ?, ?, ?, ?)
       ON CONFLICT (one) DO UPDATE SET id = excluded.id, version = excluded.version, connected_at = excluded.connected_at,
         gone_at = excluded.gone_at, conditions = '[]', vouched_at = COALESCE(excluded.vouched_at, vouched_at)`,
      bridge,
      version,
      Date.now(),
      goneAt,
      lastConfirmedAt,
    );
  }

  #storeConditions(all: readonly Condition[]): void {
    this.#home.ctx.storage.sql.exec("UPDATE bridge SET conditions = ?", JSON.stringify(all));
  }

  /** Verifies messages in the order in which they came. Verifying takes time, and a later message must not overtake. */
  #inOrder<T>(verify: () => Promise<T>): Promise<T> {
    const verified = this.#verifying.then(verify);
    this.#verifying = verified.catch(() => {});
    return verified;
  }

  async #onSnapshot(socket: WebSocket, frame: BridgeFrame & { t: "snapshot" }): Promise<void> {
    const bridge = bridgeOf(this.#home);
    const { alarm } = this.#home;
    const of = bridge.connectedAt(socket);
    if (this.#snapshot?.of !== of) {
      // The object was rebuilt within a snapshot, so nobody knows what the frames before it named.
      if (bridge.isInSnapshot(socket))
        return closeQuietly(socket, "the snapshot was interrupted", CLOSE.silent);
      this.#snapshot = { of, named: new Set() };
    }
    const { named } = this.#snapshot;
    bridge.snapshotBegun(socket, frame.over);
    for (const { id } of frame.agents) named.add(id);
    await this.#apply(socket, frame.agents);
    if (!frame.last) return;
    agentsOf(this.#home).setAbsentExcept(named);
    this.#snapshot = undefined;
    bridge.snapshotStored(socket);
    await resend(this.#home, undefined);
    await emit("presence", this.#home);
    await alarm.arm();
  }

  async #onAgents(socket: WebSocket, reported: AgentState[]): Promise<void> {
    const arrived = await this.#apply(socket, reported);
    await emit("presence", this.#home);
    if (arrived.length > 0) await resend(this.#home, arrived);
    else if (agentsOf(this.#home).voided().length + permissionsOf(this.#home).untold().length === 0) return;
    await this.#home.alarm.arm();
  }

  /**
   * Stores what counts of the bridge's word about these agents.
   * @returns the agents that came online, and those that can ask a person by now: their open calls have to be sent again
   */
  async #apply(socket: WebSocket, reported: AgentState[]): Promise<string[]> {
    const agents = agentsOf(this.#home);
    const keys = keysOf(this.#home);
    const arrived: string[] = [];
    const greeted: string[] = [];
    const lacking: string[] = [];
    const served: string[] = [];
    await this.#inOrder(async () => {
      for (const state of reported) {
        const { id } = state;
        if (!admits(this.#home, state)) continue;
        const isServed = keys.serves(id) || state.hosted !== undefined;
        const known = isServed ? agents.textsOf(id) : NO_TEXTS;
        const verified = await verifyPresence(keys, isServed ? state : withoutTexts(state), known);
        if (!this.#hasRoom(id, isServed) || this.#isRemoved(id)) continue;
        this.#passSession(verified);
        const couldAsk = agents.canAsk(id);
        const { isNew, greets } = await agents.update(verified, keys.isLetIn(id), keys.isOpen(id));
        if (state.hosted) onDeviceTold(this.#home, id);
        // The advert may come after the presence: then the calls that the agent asks about itself go out.
        if (isNew || (!couldAsk && agents.canAsk(id))) arrived.push(id);
        if (greets) greeted.push(id);
        if (isServed && state.online) served.push(id);
        if (isServed && state.kept?.some((kind) => known.hashes[kind] === undefined)) lacking.push(id);
      }
      // Many frames may be waiting. Without this, all would be applied before any other request.
      if (reported.length > 1) await scheduler.wait(0);
    });
    for (const id of greeted) await greetAgent(this.#home, id);
    for (const id of served) void emit("agentServed", this.#home, id);
    if (lacking.length > 0) sendQuietly(socket, encodeFrame({ t: "lacks", agents: lacking }));
    return arrived;
  }

  /** The bridge has the key of a session before any message of it. */
  #passSession({ state, session }: VerifiedState): void {
    const now = Date.now();
    if (session && bridgeOf(this.#home).has(SESSION_FEATURE, now))
      bridgeOf(this.#home).send({ t: "session", agent: state.id, session }, now);
  }

  /**
   * True if an agent may have a row. One that is not served may, so that a person sees its name, but without its adverts.
   * There may be only a few of these: a stranger on the broker must not fill the home. (An older bridge reports all.)
   */
  #hasRoom(id: string, isServed: boolean): boolean {
    const agents = agentsOf(this.#home);
    if (agents.has(id)) return true;
    if (isServed) return agents.hasRoomFor(id);
    const unserved = agents
      .ids()
      .filter((other) => !keysOf(this.#home).serves(other) && !agents.device(other));
    return unserved.length < UNSERVED_MAX;
  }

  /** Its key was revoked and it was taken off the list. What the broker still retains of it does not bring it back. */
  #isRemoved(agent: string): boolean {
    return keysOf(this.#home).standing(agent) === "revoked" && agentsOf(this.#home).isHidden(agent);
  }

  /** The broker has no advert of it any more. Anybody on the broker can delete adverts, so an agent with a key is only offline. */
  async #onGone(agent: string): Promise<void> {
    await this.#inOrder(async () => {});
    const standing = keysOf(this.#home).standing(agent);
    if (standing === "none") agentsOf(this.#home).remove(agent);
    else if (standing === "signed")
      agentsOf(this.#home).setOffline(agent, "its advert was taken from the broker");
    await emit("presence", this.#home);
  }

  /**
   * Verifies that the agent sent this about that call. An agent without a key is trusted as it is.
   * @param named the call that the signed text names: the frame around it is the bridge's word
   */
  async #isVerified(
    agent: string,
    kind: SignedKind,
    id: string,
    text: string,
    named: () => string | undefined,
  ): Promise<boolean> {
    if (keysOf(this.#home).standing(agent) === "none") return true;
    const verified = await keysOf(this.#home).verify(agent, kind, text);
    const why = verified.ok ? this.#misplaced(agent, kind, id, named(), verified.n) : verified.why;
    if (why !== undefined) logInfo("agent.not_verified", { agent, kind, why });
    return why === undefined;
  }

  /** A report is bound to its call, and the bridge may bring it late. Only the counters of events have to rise. */
  #misplaced(agent: string, kind: SignedKind, id: string, named: string | undefined, n: number) {
    if (named !== id) return "it names another call";
    return kind === "reports" || keysOf(this.#home).acceptEvent(agent, n) ? undefined : "it was said before";
  }

  async #onEvent(socket: WebSocket, id: string, agent: string, text: string): Promise<void> {
    const { alarm } = this.#home;
    const named = () => calledIn(text);
    if (!(await this.#inOrder(() => this.#isVerified(agent, "events", id, text, named)))) return;
    const call = ledgerOf(this.#home).get(id);
    if (!call) return await this.#onRecord(id, agent, text);
    if (call.agent !== agent) return;
    lifeSignsOf(this.#home).seen(agent, Date.now());
    const event = checkJson(AgentEvent, text);
    if (!event.ok) return logInfo("event.unreadable", { call: id, agent, problem: event.error });
    // The bridge asks nobody in the name of a device, so this is somebody else on the broker.
    if (event.value.type === "question" && agentsOf(this.#home).device(agent)) return;
    // A job uploads its pictures after its call was answered.
    if (event.value.type === "upload") return await this.#onUpload(socket, call, event.value);
    if (event.value.type === "call") {
      await onAgentCall(this.#home, call, event.value);
      return await this.#home.alarm.arm();
    }
    if (call.outcome) return;
    if (event.value.type === "question") {
      ledgerOf(this.#home).store(id);
      keysOf(this.#home).storeCounters(agent);
      // A row needs the alarm also where the question is asked of nobody.
      await Promise.all([alarm.arm(), askFromAgent(this.#home, call, event.value)]);
      return;
    }
    this.#onSignOfLife(call);
    if (event.value.type === "accepted") return this.#onAccepted(call);
    if (event.value.type !== "progress" || event.value.text === undefined) return;
    // Only clients that watch right now see it, and it is not stored: the result has what counts.
    const { tool, text: output } = event.value;
    showProgress(this.#home, call, output, { tool });
    void emit("progress", this.#home, call, { text: output });
  }

  /** The device has the call: a client that watches shows since when. */
  #onAccepted(call: LedgerCall): void {
    if (call.conversation === null || call.asker || !call.flags.watch) return;
    const { ctx, env } = this.#home;
    const sent = conversationOf(env, call.conversation).accepted(call.lateFor ?? call.id, Date.now());
    ctx.waitUntil(sent.catch((error: unknown) => logError("accepted.lost", error, { call: call.id })));
  }

  /** What belongs to no open call: lines of a device's record, changes of the rules that it watches, and what it says unasked. */
  async #onRecord(id: string, agent: string, text: string): Promise<void> {
    // An agent that is not served did nothing here. If its lines counted, anybody on the broker could push all others out of the record.
    if (!keysOf(this.#home).serves(agent)) return;
    const event = checkJson(AgentEvent, text);
    if (event.ok && event.value.type === "event" && event.value.request_id === id)
      return await emit("agentEvent", this.#home, agent, event.value);
    if (!event.ok)
      for (const feature of featuresOf(this.#home))
        if (await feature.unsolicited?.(this.#home, agent, text)) return;
    const batch = checkJson(AuditBatch, text);
    if (!batch.ok || batch.value.request_id !== id) return;
    keysOf(this.#home).storeCounters(agent);
    addToAudit(this.#home, agent, id, batch.value.lines);
    await acknowledgeReport(this.#home, id, agent, undefined);
  }

  /** A device has a file that is too large for the broker, and learns where to upload it. */
  async #onUpload(socket: WebSocket, call: LedgerCall, request: UploadRequest): Promise<void> {
    const { env, name } = this.#home;
    const place = { home: name, conversation: placeOf(call, name), principal: call.caller.principal };
    const origin = readSettings(env).publicUrl ?? bridgeOf(this.#home).origin(socket);
    await sendNotice(this.#home, call, "upload", await uploadCommand(env, request, place, origin));
  }

  /** An action has its own time-out. Only an agent that was asked in words is waited for by signs of life. */
  #onSignOfLife(call: LedgerCall): void {
    if (call.endsAt <= call.createdAt + call.silenceMs) return;
    const now = Date.now();
    // Each sign would be a billed row; one in a while is enough.
    if (call.deadline - now < call.silenceMs - LIFE_GRAIN_MS) ledgerOf(this.#home).extend(call.id, now);
  }

  async #onRefused(frame: BridgeFrame & { t: "refused" }): Promise<void> {
    const { id, code, message, retry_after_ms } = frame;
    const refused = ledgerOf(this.#home).get(id);
    // The agent before this one refused it, and this one may run it.
    if (!refused || (refused.flags.any && frame.agent !== undefined && frame.agent !== refused.agent)) return;
    // An older bridge does not say which agent it means.
    const isThisAgent = frame.agent !== undefined || !refused.flags.any?.tried.length;
    if (!isThisAgent) return ledgerOf(this.#home).markAccepted(id);
    const why = OF_ONE_AGENT[code];
    const call = why === undefined ? refused : await tryNext(this.#home, refused, "refused", why);
    if (!call) return;
    // An earlier bridge may have published it. Only the device knows, and reports it when it is back.
    if (call.sends > 1) return ledgerOf(this.#home).markAccepted(id);
    const text = `Error: Agent '${call.agent}' could not be asked: ${message}. Nothing was run.`;
    await settleByGateway(this.#home, call, {
      status: "error",
      errorType: REFUSAL_TYPES[code],
      text,
      advice: "Tell the user, or try another way.",
      ...(retry_after_ms !== undefined && { retryAfterS: Math.ceil(retry_after_ms / 1_000) }),
      sources: this.#sourcesOf(call.agent),
      elapsedMs: Date.now() - call.createdAt,
    });
  }

  /** The reason may be the agent's own: why it went offline. */
  #sourcesOf(agent: string): Source[] {
    return agentsOf(this.#home).isPlainDevice(agent) ? [] : [agentSource(agent)];
  }

  async #onReport(id: string, agent: string, text: string): Promise<void> {
    const ledger = ledgerOf(this.#home);
    let parsed: ParsedReport | undefined;
    const read = () => {
      parsed ??= readReport(text);
      return parsed;
    };
    const named = () => {
      const report = read();
      return report.ok ? report.value.requestId : undefined;
    };
    if (!(await this.#inOrder(() => this.#isVerified(agent, "reports", id, text, named))))
      return dismissReport(this.#home, id, agent);
    // Nobody else waits for it, and the agent does not keep it.
    if (lifeSignsOf(this.#home).answered(id, agent, Date.now())) return dismissReport(this.#home, id, agent);
    const answer = read();
    if (answer.ok && agentAnswersOf(this.#home).answered(id, agent, answer.value.payload))
      return await acknowledgeReport(this.#home, id, agent, undefined);
    const routed = ledger.get(id) ? undefined : await this.#routed(agent, read());
    // Its conversation may have submitted it again meanwhile.
    const call = ledger.get(id);
    if (!call && (await this.#onUnknown(id, agent, read(), routed)) === "again") return;
    // The topic is the identity: a report of another agent for this call is a forgery or a mistake.
    if (call && call.agent !== agent) logInfo("report.wrong_agent", { call: id, agent });
    else if (call && !call.flags.early) await this.#settle(call, read());
    // The conversation says when it has the outcome.
    if (ledger.inFlight.held(id)) return;
    // In any case: an id that is unknown now stays unknown.
    await acknowledgeReport(this.#home, id, agent, call?.caller);
  }

  /** The call that a report's route names. */
  async #routed(agent: string, report: ParsedReport): Promise<RoutedCall | undefined> {
    const route = report.ok ? report.value.route : undefined;
    return route === undefined ? undefined : await openReturnAddress(this.#home, route, agent, Date.now());
  }

  /** @returns "again": the agent has to send it again */
  async #onUnknown(
    id: string,
    agent: string,
    report: ParsedReport,
    routed: RoutedCall | undefined,
  ): Promise<"again" | "done"> {
    if (!report.ok) return "done";
    if (routed?.id === id) return await this.#onRouted(routed, report.value);
    const begunBy = routed && !ledgerOf(this.#home).get(routed.id) ? routed : undefined;
    // The call that began this job was forgotten, and is about to be submitted again.
    if (begunBy && Date.now() - begunBy.createdAt < FORGOTTEN_MS) return "again";
    return await this.#onUnannounced(id, agent, report);
  }

  /**
   * A report of a call that has no row: it was answered before, or this object forgot it in a crash. Then its conversation, whose
   * `submit` failed, is about to submit it again.
   * @returns "again": the agent has to send it again
   */
  async #onRouted(call: RoutedCall, report: ReadReport): Promise<"again" | "done"> {
    const elapsedMs = Date.now() - call.createdAt;
    const outcome = this.#outcomeOf(call, report, elapsedMs);
    // Jobs are expected with the call's own row.
    if (outcome.job !== undefined || jobsOf(report.payload).length > 0) return "again";
    return (await deliverRouted(this.#home, call, outcome)) ? "done" : "again";
  }

  /**
   * A job's result that no call has announced. The job may have ended before the call that began it, whose own result
   * is still to come. Then the job's result is stored until that result names it; after that, nobody began the job.
   * @returns "again": there is no room to store it, and the agent sends it again
   */
  async #onUnannounced(id: string, agent: string, report: ParsedReport): Promise<"again" | "done"> {
    const ledger = ledgerOf(this.#home);
    const of = report.ok ? report.value.payload.job_of : undefined;
    const call = typeof of === "string" ? ledger.get(of) : undefined;
    if (!report.ok || call?.agent !== agent) return "done";
    if (call.command === JOB || hasReported(call)) {
      this.#countDropped(call, 1);
      return "done";
    }
    if (ledger.earlyOf(call.id).length >= EARLY_MAX) return "again";
    ledger.store(call.id);
    if (!(await expectJob(this.#home, id, call, JOB_MAX_MS, { early: true }))) return "again";
    const job = ledger.get(id);
    const now = Date.now();
    if (job)
      ledger.settle(id, asDelegated(job, this.#outcomeOf(job, report.value, now - job.createdAt)), true, now);
    return "done";
  }

  #countDropped(call: LedgerCall, count: number): void {
    if (count === 0) return;
    countersOf(this.#home).jobsDropped(count);
    logInfo("job.not_announced", { call: call.id, agent: call.agent, count });
  }

  async #settle(reported: LedgerCall, report: ParsedReport): Promise<void> {
    const home = this.#home;
    const now = Date.now();
    const elapsedMs = now - reported.createdAt;
    const answer = report.ok
      ? this.#outcomeOf(reported, report.value, elapsedMs)
      : unreadable(reported, report.error, elapsedMs);
    if (!reported.outcome) {
      lifeSignsOf(home).seen(reported.agent, now);
      loadOf(home).answered(reported, answer, now);
    }
    const hasNotBegun = this.#hasNotBegun(reported, report, answer);
    const call = hasNotBegun ? await tryNext(home, reported, "not_run", "did not begin") : reported;
    if (!call) return;
    let outcome = asDelegated(call, answer);
    // Only the first result of a call announces jobs, and a job's result announces none.
    const announces = report.ok && call.command !== JOB && !hasReported(call);
    const jobs = announces ? jobsOf(report.value.payload) : [];
    if (announces && outcome.job !== undefined) jobs.push(outcome.job);
    const lost: string[] = [];
    if (jobs.length > 0) ledgerOf(home).store(call.id);
    for (const job of jobs) if (!(await expectJob(home, job, call, JOB_MAX_MS))) lost.push(job);
    if (lost.length > 0) outcome = withoutJobs(outcome, call.agent, lost);
    this.#countDropped(call, ledgerOf(home).dropEarlyOf(call.id));
    if (call.outcome) return await settleLate(home, call, outcome);
    if (settleInFlight(home, call, outcome)) return;
    const isFirst = await settleFromReport(home, call, outcome);
    // It ran out of time in the very moment: then this is its late result.
    if (!isFirst) await settleLate(home, call, outcome);
    await closeQuestions(home, call.id);
    // Jobs that have ended could not be delivered before this.
    if (jobs.length > 0) await deliverNow(home, jobs);
  }

  /** The agent's own word that it will never run this call. A foreign agent has no ledger to hold it to that. */
  #hasNotBegun({ agent, outcome }: LedgerCall, report: ParsedReport, reported: SettledOutcome): boolean {
    if (!report.ok || outcome || report.value.payload.not_run !== true) return false;
    const isError = reported.status === "error" && reported.job === undefined;
    return isError && jobsOf(report.value.payload).length === 0 && !agentsOf(this.#home).isForeign(agent);
  }

  #outcomeOf(
    call: Pick<LedgerCall, "agent" | "command" | "payload" | "conversation">,
    report: ReadReport,
    elapsedMs: number,
  ): SettledOutcome {
    const { agent } = call;
    // A job's result is the result of the tool that began it.
    const isTool = call.command === "tool" || call.command === JOB;
    const reporter = agentsOf(this.#home).advertOf(agent, isTool ? call.payload.tool : undefined);
    const { foreign } = reporter;
    const outcome = outcomeOf(report, elapsedMs, { agent, ...reporter });
    if (call.conversation !== null) return outcome;
    // Passed on as it came, without what is for a model alone. Media are what a page shows.
    const { media } = report.payload;
    const payload = {
      ...(foreign ? report.payload : withoutAdvice(report.payload)),
      ...(media !== undefined && { media: outcome.media ?? [] }),
    };
    return { ...outcome, report: { report_type: report.type, payload } };
  }

  /** A socket closed. Its tags and attachment are gone by now, so the sockets that are left are asked. */
  async onClose(): Promise<void> {
    const now = Date.now();
    if (bridgeOf(this.#home).isConnected(now)) return;
    if (bridgeOf(this.#home).storeGone(now)) agentsOf(this.#home).setLastSeen(now);
    await storeInFlight(this.#home);
  }
}

/** What is stored of an agent that this home does not serve. */
function withoutTexts({ id, online, reason, last_seen, foreign }: AgentState): AgentState {
  return { id, online, ...(reason !== undefined && { reason }), last_seen, foreign };
}

/** The call that an event names. */
function calledIn(text: string): string | undefined {
  const event = checkJson(Named, text);
  return event.ok ? event.value.request_id : undefined;
}

const Named = z.looseObject({ request_id: CallId });

/** An agent that called others has read their answers, whatever it says itself. */
function asDelegated({ flags }: LedgerCall, outcome: SettledOutcome): SettledOutcome {
  const { sources = [] } = outcome;
  if (flags.delegates === undefined || sources.includes(STRANGER)) return outcome;
  return { ...outcome, sources: [...sources, STRANGER] };
}

/** The device goes on with these jobs, but their results will not arrive here. */
function withoutJobs(outcome: SettledOutcome, agent: string, lost: readonly string[]): SettledOutcome {
  const { job, text, advice, ...rest } = outcome;
  const which = lost.length === 1 ? "the result of a job" : `the results of ${lost.length} jobs`;
  const why = `'${agent}' has ${OPEN_MAX} open calls and jobs, so ${which} of this call will not arrive here.`;
  const announced = job !== undefined && !lost.includes(job) ? { job } : {};
  // The device's advice on a lost job does not hold any more.
  const ownAdvice = job !== undefined && lost.includes(job) ? undefined : advice;
  return {
    ...rest,
    ...announced,
    text: `${announced.job === undefined ? text.replace(ARRIVES_LATER, ".") : text}\n${why}`,
    advice: `${ownAdvice ? `${ownAdvice} ` : ""}Tell the user that, and how to look for it on the device.`,
  };
}

function unreadable(call: LedgerCall, problem: string, elapsedMs: number): SettledOutcome {
  const text = `Error: Agent '${call.agent}' answered with a report that cannot be read (${problem}). Whether it did the work is unknown.`;
  const sources = [agentSource(call.agent)];
  return { status: "error", errorType: "outcome_unknown", text, elapsedMs, sources };
}

/** Refusals that another agent may not get, with the words for it. */
const OF_ONE_AGENT: Partial<Record<Refusal, string>> = {
  agent_offline: "was not online",
  not_listening: "did not listen",
  agent_busy: "was busy",
};

/** In each of these the agent has certainly not run the call. */
const REFUSAL_TYPES: Record<Refusal, ErrorType> = {
  expired: "timeout",
  agent_offline: "offline",
  not_listening: "offline",
  broker_offline: "offline",
  agent_busy: "execution_failed",
  too_large: "invalid_params",
  invalid: "execution_failed",
};
