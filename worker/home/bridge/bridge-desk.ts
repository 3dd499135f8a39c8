/** What the bridge says, frame by frame. Nothing that it sends can crash the object or go unanswered. */
import { agentSource } from "@edgecall/core/loop/taint.ts";
import { AuditBatch } from "@edgecall/core/protocol/audit.ts";
import { type AgentState, BridgeFrame, CLOSE, type Refusal } from "@edgecall/core/protocol/frames.ts";
import type { UploadRequest } from "@edgecall/core/protocol/media.ts";
import { AgentEvent, type ReadReport, readReport } from "@edgecall/core/protocol/mqtt.ts";
import {
  AGENT_ID,
  BRIDGE_PROTOCOL,
  CallId,
  FRAME_MAX_BYTES,
  HELLO_MAX_BYTES,
  VERSION,
} from "@edgecall/core/protocol/names.ts";
import { checkJson, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { conversationOf } from "../../api/stubs.ts";
import { uploadCommand } from "../../api/uploads.ts";
import type { Env } from "../../env.ts";
import { logError, logInfo } from "../../log.ts";
import { readSettings } from "../../settings/settings.ts";
import { closeQuietly } from "../../sockets.ts";
import type { AgentKeys } from "../agents/agent-keys.ts";
import type { Agents } from "../agents/agents.ts";
import { believe } from "../agents/believing.ts";
import type { GatewayKey } from "../agents/gateway-key.ts";
import type { Audit } from "../audit/audit.ts";
import { placeOf, tellWatchers } from "../calls/call-watchers.ts";
import type { Dispatcher } from "../calls/dispatcher.ts";
import { hasReported, JOB, type Ledger, type LedgerCall, OPEN_MAX } from "../calls/ledger.ts";
import { ARRIVES_LATER, jobsOf, outcomeOf, withoutAdvice } from "../calls/outcome.ts";
import type { HomeContext } from "../context.ts";
import type { Asking } from "../questions/asking.ts";
import type { Tallies } from "../usage/tallies.ts";
import type { BridgeSocket } from "./bridge-socket.ts";

/** Signs of life are written down this coarsely. */
const LIFE_GRAIN_MS = 10_000;
/** Results of jobs that wait for the result of their call; a device has no more jobs at once. */
const EARLY_MAX = 16;
/** A job that reported nothing for so long is given up; its late report still counts. */
const JOB_MAX_MS = 7 * 86_400_000;

/** Agents that are not served, and are shown by name. */
const STRANGERS_MAX = 32;

type SignedKind = "events" | "reports";
type ParsedReport = Parsed<ReadReport>;

export class BridgeDesk {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #bridge: BridgeSocket;
  readonly #agents: Agents;
  readonly #keys: AgentKeys;
  readonly #gatewayKey: GatewayKey;
  readonly #ledger: Ledger;
  readonly #audit: Audit;
  readonly #tallies: Tallies;
  readonly #dispatcher: Dispatcher;
  readonly #asking: Asking;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(home: HomeContext, dispatcher: Dispatcher, asking: Asking) {
    this.#ctx = home.ctx;
    this.#env = home.env;
    this.#bridge = home.bridge;
    this.#agents = home.agents;
    this.#keys = home.keys;
    this.#gatewayKey = home.gatewayKey;
    this.#ledger = home.ledger;
    this.#audit = home.audit;
    this.#tallies = home.tallies;
    this.#dispatcher = dispatcher;
    this.#asking = asking;
  }

  async onMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (this.#bridge.isDropped(socket)) return;
    const max = this.#bridge.isWelcomed(socket) ? FRAME_MAX_BYTES : HELLO_MAX_BYTES;
    if (typeof message !== "string" || message.length > max) {
      const what =
        typeof message === "string"
          ? `a frame of ${message.length} characters, ${max} allowed`
          : "a binary frame";
      return closeQuietly(socket, what, this.#bridge.isWelcomed(socket) ? CLOSE.badFrame : CLOSE.badHello);
    }
    const frame = checkJson(BridgeFrame, message);
    if (!frame.ok) {
      logInfo("bridge.bad_frame", { problem: frame.error });
      if (!this.#bridge.isWelcomed(socket))
        return closeQuietly(socket, `hello: ${frame.error}`.slice(0, 120), CLOSE.badHello);
      socket.send(JSON.stringify({ t: "error", code: "bad_frame", message: frame.error }));
      return;
    }
    try {
      await this.#onFrame(socket, frame.value);
    } catch (error) {
      // An error that leaves the handler would reset the object, and drop the socket with it.
      logError("bridge.frame_failed", error, { t: frame.value.t });
      socket.send(
        JSON.stringify({
          t: "error",
          code: "internal",
          message: `the ${frame.value.t} frame could not be handled`,
        }),
      );
    }
  }

  async #onFrame(socket: WebSocket, frame: BridgeFrame): Promise<void> {
    if (!this.#bridge.isWelcomed(socket)) {
      if (frame.t === "hello") await this.#onHello(socket, frame);
      else closeQuietly(socket, "the first frame must be hello", CLOSE.badHello);
      return;
    }
    switch (frame.t) {
      case "hello":
        return;
      case "snapshot":
        return await this.#onSnapshot(socket, frame.agents, frame.last);
      case "agent":
        return await this.#onAgent(frame.agent);
      case "gone":
        return await this.#onGone(frame.agent);
      case "taken":
        return this.#ledger.taken(frame.id);
      case "refused":
        return await this.#onRefused(frame);
      case "event":
        return await this.#onEvent(socket, frame.id, frame.agent, frame.payload);
      case "report":
        return await this.#onReport(frame.id, frame.agent, frame.payload);
      case "updated": {
        const { id, ok, text } = frame;
        return this.#bridge.noteUpdate(socket, { id, ok, text });
      }
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
    const keys = this.#keys.forBridge();
    const gatewayKey = keys.length > 0 ? await this.#gatewayKey.publicKey() : undefined;
    this.#bridge.welcome(socket, frame.features);
    this.#dispatcher.bridgeBack();
    this.#note(frame, null);
    this.#tallies.bridgeConnected();
    logInfo("bridge.connected", { bridge: frame.bridge, version: frame.version });
    socket.send(
      JSON.stringify({
        t: "welcome",
        protocol: BRIDGE_PROTOCOL,
        home: this.#ctx.id.name ?? "",
        version: VERSION,
        ...(gatewayKey !== undefined && { gateway_key: gatewayKey }),
        keys,
        standby: true,
        unsigned: [...readSettings(this.#env).unsignedAgents].filter((id) => id === "*" || AGENT_ID.test(id)),
      }),
    );
  }

  /** A bridge that does not fit this gateway. `GET /v1/status` tells of it by its version, unless another one serves. */
  #turnAway(socket: WebSocket, frame: BridgeFrame & { t: "hello" }, problem: string): void {
    logInfo("bridge.turned_away", { bridge: frame.bridge, problem });
    const now = Date.now();
    if (!this.#bridge.current(now)) this.#note(frame, now);
    closeQuietly(socket, problem, CLOSE.badProtocol);
  }

  /** @param goneAt null: it is here */
  #note({ bridge, version }: BridgeFrame & { t: "hello" }, goneAt: number | null): void {
    this.#ctx.storage.sql.exec(
      "INSERT OR REPLACE INTO bridge (one, id, version, connected_at, gone_at) VALUES (1, ?, ?, ?, ?)",
      bridge,
      version,
      Date.now(),
      goneAt,
    );
  }

  /**
   * What has to be believed first is looked at in the order in which it came: signatures take their time, and
   * what was said later must not overtake.
   */
  #inOrder<T>(look: () => Promise<T>): Promise<T> {
    const looked = this.#looking.then(look);
    this.#looking = looked.catch(() => {});
    return looked;
  }

  async #onSnapshot(socket: WebSocket, agents: AgentState[], isLast: boolean): Promise<void> {
    const believed = await this.#inOrder(async () => {
      const each = [];
      for (const agent of agents) each.push(await believe(this.#keys, agent));
      return each;
    });
    for (const one of believed) {
      if (!this.#hasRoom(one.state)) continue;
      if (this.#isRemoved(one.state.id)) continue;
      this.#agents.update(one, this.#dispatcher.letIn(one.state.id));
      await this.#dispatcher.greet(one.state);
    }
    if (!isLast) return;
    this.#agents.absentSince(this.#bridge.connectedAt(socket));
    this.#bridge.told(socket);
    await this.#dispatcher.resend(undefined);
    await this.#dispatcher.arm();
  }

  async #onAgent(state: AgentState): Promise<void> {
    const believed = await this.#inOrder(() => believe(this.#keys, state));
    if (!this.#hasRoom(believed.state)) return;
    if (this.#isRemoved(state.id)) return;
    const couldAsk = this.#dispatcher.asks(state.id);
    const isNew = this.#agents.update(believed, this.#dispatcher.letIn(state.id));
    await this.#dispatcher.greet(believed.state);
    // Its advert may come after its presence: then calls that it asks about by itself go out.
    if (!isNew && (couldAsk || !this.#dispatcher.asks(state.id))) return;
    await this.#dispatcher.resend(state.id);
    await this.#dispatcher.arm();
  }

  /**
   * Tells whether an agent may have a row. One that is not served may, so that a person sees its name, but without its adverts,
   * and only a few of them: a stranger on the broker must not fill the home. (An older bridge brings all.)
   */
  #hasRoom(state: AgentState): boolean {
    if (this.#dispatcher.served(state)) return true;
    delete state.capabilities;
    delete state.tools;
    const strangers = this.#agents.ids().filter((id) => !this.#dispatcher.served({ id }));
    return strangers.includes(state.id) || strangers.length < STRANGERS_MAX;
  }

  /** Its key was revoked and it was taken off the list: what is still retained at the broker does not bring it back. */
  #isRemoved(agent: string): boolean {
    return this.#keys.standing(agent) === "revoked" && this.#agents.isHidden(agent);
  }

  /** Its advert is not there any more. Anybody on the broker can see to that, so one with a key is merely away. */
  async #onGone(agent: string): Promise<void> {
    await this.#inOrder(async () => {});
    const standing = this.#keys.standing(agent);
    if (standing === "none") this.#agents.remove(agent);
    else if (standing === "signed") this.#agents.distrust(agent, "its advert was taken from the broker");
  }

  /**
   * Whether the agent said this, of that call. One without a key is believed as it is.
   * @param named the call that the signed text names itself: the frame around it is the bridge's word
   */
  async #isSaid(agent: string, kind: SignedKind, id: string, text: string, named: () => string | undefined) {
    if (this.#keys.standing(agent) === "none") return true;
    const heard = await this.#keys.hear(agent, kind, text);
    const why = heard.ok ? this.#misplaced(agent, kind, id, named(), heard.n) : heard.why;
    if (why !== undefined) logInfo("said.not_believed", { agent, kind, why });
    return why === undefined;
  }

  /** A report is bound to its call, and the bridge may bring it late: only events have to rise. */
  #misplaced(agent: string, kind: SignedKind, id: string, named: string | undefined, n: number) {
    if (named !== id) return "it names another call";
    return kind === "reports" || this.#keys.isNewEvent(agent, n) ? undefined : "it was said before";
  }

  async #onEvent(socket: WebSocket, id: string, agent: string, text: string): Promise<void> {
    const named = () => calledIn(text);
    if (!(await this.#inOrder(() => this.#isSaid(agent, "events", id, text, named)))) return;
    const call = this.#ledger.get(id);
    if (!call) return await this.#onRecord(id, agent, text);
    if (call.agent !== agent) return;
    const event = checkJson(AgentEvent, text);
    if (!event.ok) return logInfo("event.unreadable", { call: id, agent, problem: event.error });
    // A job brings its pictures after its call was answered.
    if (event.value.type === "upload") return await this.#onUpload(socket, call, event.value);
    if (call.outcome) return;
    if (event.value.type === "question") {
      this.#keys.keepMarks(agent);
      return await this.#asking.fromAgent(call, event.value);
    }
    this.#heard(call);
    if (event.value.type === "accepted") return this.#onAccepted(call);
    if (event.value.type !== "progress" || event.value.text === undefined) return;
    // Seen by whoever watches now, kept by nobody: what counts comes with the result.
    const { tool, text: said } = event.value;
    if (call.conversation === null) return tellWatchers(this.#ctx, id, { news: "progress", text: said });
    const told = conversationOf(this.#env, call.conversation).progress(call.lateFor ?? id, tool, said);
    this.#ctx.waitUntil(told.catch((error: unknown) => logError("progress.lost", error, { call: id })));
  }

  /** A sign of life, and for whoever watches a time to be shown. */
  #onAccepted(call: LedgerCall): void {
    if (call.conversation === null || !call.flags.watch) return;
    const told = conversationOf(this.#env, call.conversation).accepted(call.lateFor ?? call.id, Date.now());
    this.#ctx.waitUntil(told.catch((error: unknown) => logError("accepted.lost", error, { call: call.id })));
  }

  /** Lines of a device's record, which belong to no call that is open. */
  async #onRecord(id: string, agent: string, text: string): Promise<void> {
    const batch = checkJson(AuditBatch, text);
    if (!batch.ok || batch.value.request_id !== id) return;
    // It can have done nothing here; and who holds the broker could push everybody's lines out of the record.
    if (!this.#dispatcher.served({ id: agent })) return;
    this.#keys.keepMarks(agent);
    this.#audit.add(agent, id, batch.value.lines);
    await this.#dispatcher.acknowledge(id, agent, undefined);
  }

  /** A device has something that is too large for the broker: it is told where to bring it. */
  async #onUpload(socket: WebSocket, call: LedgerCall, request: UploadRequest): Promise<void> {
    const home = this.#ctx.id.name ?? "";
    const place = {
      home,
      conversation: placeOf(call, home),
      principal: call.caller.principal,
    };
    const origin = readSettings(this.#env).publicUrl ?? this.#bridge.origin(socket);
    await this.#dispatcher.tell(call, "upload", await uploadCommand(this.#env, request, place, origin));
  }

  /** An action has its own time-out; only an agent that was asked in words is waited for by signs of life. */
  #heard(call: LedgerCall): void {
    if (call.endsAt <= call.createdAt + call.silenceMs) return;
    const now = Date.now();
    // A row for each sign would be paid for; one in a while says the same.
    if (call.deadline - now < call.silenceMs - LIFE_GRAIN_MS) this.#ledger.alive(call.id, now);
  }

  async #onRefused({ id, code, message, retry_after_ms }: BridgeFrame & { t: "refused" }): Promise<void> {
    const call = this.#ledger.get(id);
    if (!call) return;
    // What an earlier bridge was sent it may have published: only the device knows, and tells, when it is back.
    if (call.sends > 1) return this.#ledger.taken(id);
    const text = `Error: Agent '${call.agent}' could not be asked: ${message}. Nothing was run.`;
    await this.#dispatcher.conclude(call, {
      status: "error",
      errorType: REFUSAL_TYPES[code],
      text,
      advice: "Tell the user, or try another way.",
      ...(retry_after_ms !== undefined && { retryAfterS: Math.ceil(retry_after_ms / 1_000) }),
      // The reason may be the agent's own: why it went offline.
      sources: [agentSource(call.agent)],
      elapsedMs: Date.now() - call.createdAt,
    });
  }

  async #onReport(id: string, agent: string, text: string): Promise<void> {
    let parsed: ParsedReport | undefined;
    const read = () => {
      parsed ??= readReport(text);
      return parsed;
    };
    const named = () => {
      const report = read();
      return report.ok ? report.value.requestId : undefined;
    };
    if (!(await this.#inOrder(() => this.#isSaid(agent, "reports", id, text, named))))
      return this.#dispatcher.dismiss(id, agent);
    const call = this.#ledger.get(id);
    if (!call && (await this.#onUnannounced(id, agent, read())) === "later") return;
    // The topic is the identity: a report of another agent for this call is a forgery or a mistake.
    if (call && call.agent !== agent) logInfo("report.wrong_agent", { call: id, agent });
    else if (call && !call.flags.early) await this.#take(call, read());
    // In any case: an id that is not known now will not be known later either.
    await this.#dispatcher.acknowledge(id, agent, call?.caller);
  }

  /**
   * A job's result that no call has announced. The job may have ended before the call that began it, whose own result
   * is still to come: then it is held until that names it. After that nobody began it.
   * @returns "later": there is no room for it now; the agent sends it again
   */
  async #onUnannounced(id: string, agent: string, report: ParsedReport): Promise<"later" | "heard"> {
    const of = report.ok ? report.value.payload.job_of : undefined;
    const call = typeof of === "string" ? this.#ledger.get(of) : undefined;
    if (!report.ok || call?.agent !== agent) return "heard";
    if (call.command === JOB || hasReported(call)) {
      this.#drop(call, 1);
      return "heard";
    }
    if (this.#ledger.earlyOf(call.id).length >= EARLY_MAX) return "later";
    if (!(await this.#dispatcher.expectJob(id, call, JOB_MAX_MS, { early: true }))) return "later";
    const job = this.#ledger.get(id);
    const now = Date.now();
    if (job) this.#ledger.settle(id, this.#outcomeOf(job, report.value, now - job.createdAt), true, now);
    return "heard";
  }

  /** Reports of jobs that no call's result announced. */
  #drop(call: LedgerCall, count: number): void {
    if (count === 0) return;
    this.#tallies.jobsDropped(count);
    logInfo("job.not_announced", { call: call.id, agent: call.agent, count });
  }

  async #take(call: LedgerCall, report: ParsedReport): Promise<void> {
    const elapsedMs = Date.now() - call.createdAt;
    let outcome = report.ok
      ? this.#outcomeOf(call, report.value, elapsedMs)
      : unreadable(call, report.error, elapsedMs);
    // The result that counts announces jobs, and it alone: not a second one, and not a job's.
    const announces = report.ok && call.command !== JOB && !hasReported(call);
    const jobs = announces ? jobsOf(report.value.payload) : [];
    if (announces && outcome.job !== undefined) jobs.push(outcome.job);
    const lost: string[] = [];
    for (const job of jobs) if (!(await this.#dispatcher.expectJob(job, call, JOB_MAX_MS))) lost.push(job);
    if (lost.length > 0) outcome = withoutJobs(outcome, call.agent, lost);
    this.#drop(call, this.#ledger.dropEarlyOf(call.id));
    if (call.outcome) return await this.#dispatcher.settleLate(call, outcome);
    const won = await this.#dispatcher.settle(call, outcome);
    // It ran out of time in the very moment: then this is its late result.
    if (!won) await this.#dispatcher.settleLate(call, outcome);
    await this.#asking.callEnded(call.id);
    // Those that have ended could not be told before this.
    if (jobs.length > 0) await this.#dispatcher.handOverNow(jobs);
  }

  #outcomeOf(call: LedgerCall, report: ReadReport, elapsedMs: number): SettledOutcome {
    const target = this.#agents.target(call.agent, null, () => true);
    // A job's result is the result of the tool that began it.
    const advert =
      call.command === "tool" || call.command === JOB
        ? target?.adverts.find((candidate) => candidate.name === call.payload.tool)
        : undefined;
    const outcome = outcomeOf(report, elapsedMs, { agent: call.agent, advert, foreign: target?.foreign });
    if (call.conversation !== null) return outcome;
    // Passed on as it came, but for what a page would show and what is for a model alone.
    const { media } = report.payload;
    const payload = {
      ...(target?.foreign ? report.payload : withoutAdvice(report.payload)),
      ...(media !== undefined && { media: outcome.media ?? [] }),
    };
    return { ...outcome, report: { report_type: report.type, payload } };
  }

  /** A socket closed. Its tags and attachment are gone by now, so it is asked who is left instead. */
  onClose(): void {
    const now = Date.now();
    if (this.#bridge.current(now)) return;
    if (this.#bridge.noteGone(now)) this.#agents.vouchedUntil(now);
  }
}

/** The call that an event names. */
function calledIn(text: string): string | undefined {
  const event = checkJson(Named, text);
  return event.ok ? event.value.request_id : undefined;
}

const Named = z.looseObject({ request_id: CallId });

/** The device goes on with them; only what becomes of them is not heard here. */
function withoutJobs(outcome: SettledOutcome, agent: string, lost: readonly string[]): SettledOutcome {
  const { job, text, advice, ...rest } = outcome;
  const which = lost.length === 1 ? "the result of a job" : `the results of ${lost.length} jobs`;
  const why = `'${agent}' has ${OPEN_MAX} open calls and jobs, so ${which} of this call will not arrive here.`;
  const kept = job !== undefined && !lost.includes(job) ? { job } : {};
  // What it advises of a job that is lost does not hold any more.
  const own = job !== undefined && lost.includes(job) ? undefined : advice;
  return {
    ...rest,
    ...kept,
    text: `${kept.job === undefined ? text.replace(ARRIVES_LATER, ".") : text}\n${why}`,
    advice: `${own ? `${own} ` : ""}Tell the user that, and how to look for it on the device.`,
  };
}

function unreadable(call: LedgerCall, problem: string, elapsedMs: number): SettledOutcome {
  const text = `Error: Agent '${call.agent}' answered with a report that cannot be read (${problem}). Whether it did the work is unknown.`;
  const sources = [agentSource(call.agent)];
  return { status: "error", errorType: "outcome_unknown", text, elapsedMs, sources };
}

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
