/**
 * What Home asks: calls, plain publishes and acks; and the reports that answer them.
 *
 * A refusal says that the agent has certainly not run the call. So once a call was published, whatever goes
 * wrong with a repeat of it is answered with `taken`: its report, or its deadline at Home, decides.
 */
import type { BridgeFrame, HomeFrame, Refusal } from "@edgecall/core/protocol/frames.ts";
import { Command } from "@edgecall/core/protocol/mqtt.ts";
import { FOREIGN_COMMAND_MAX_BYTES, topicOf } from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Publish, Published } from "./broker.ts";
import type { ForeignAgentQueue } from "./foreign-agent-queue.ts";
import type { Roster } from "./presence.ts";
import type { BufferedReport, ReportBuffer } from "./report-buffer.ts";

export type CallFrame = Extract<HomeFrame, { t: "call" }>;
export type PublishFrame = Extract<HomeFrame, { t: "publish" }>;
export type AckFrame = Extract<HomeFrame, { t: "ack" }>;

export type CallsOptions = {
  prefix: string;
  roster: Roster;
  foreign: ForeignAgentQueue;
  reports: ReportBuffer;
  publish: Publish;
  brokerUp(): boolean;
  /** To Home, when it is there. */
  send(frame: BridgeFrame): void;
  /** In a moment: a call that is answered by then needs no `taken`, since its report says as much. */
  soon(work: () => void): void;
  /** Monotonic ms. */
  now(): number;
  /** When what is being read now may have arrived (monotonic ms): earlier than now after a freeze. */
  arrival(): number;
  log: Log;
};

/** An agent reads no command over 256 KiB; the shipped mosquitto.conf takes packets of 1 MiB. */
export const COMMAND_MAX_BYTES = 255 * 1024;
/** Home limits its calls itself; this only bounds the bridge's memory. */
export const IN_FLIGHT_MAX = 2_000;
/** An ack or a cancel that could not be delivered by then is of no use: the agent sends its result again. */
const PLAIN_EXPIRES_MS = 30_000;
/** Commands of ours that a foreign agent would answer with an error, which would look like a result. */
const OURS_ONLY = ["cancel", "answer", "ack"];

type InFlight = {
  agent: string;
  payload: string;
  deadline: number;
  /** `maybe`: the connection went before the broker's ack. */
  published: "pending" | "maybe" | "yes";
  /** How many of its publishes the broker has not acked yet. */
  unacked: number;
};

type Decision =
  | { kind: "refuse"; code: Refusal; message: string }
  /** Its report is held: that is sent again. */
  | { kind: "answered"; report: BufferedReport }
  /** Published before, or waiting; nothing more is done for it. */
  | { kind: "known" }
  | { kind: "own" }
  | { kind: "foreign"; command: string };

export class Calls {
  readonly #o: CallsOptions;
  /** Calls to our own agents, by id. */
  readonly #inFlight = new Map<string, InFlight>();

  constructor(options: CallsOptions) {
    this.#o = options;
  }

  /** Calls to our own agents whose report has not come. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  call(frame: CallFrame): void {
    const { id, agent, payload } = frame;
    const deadline = this.#o.arrival() + frame.expires_in_ms;
    const decision = this.#decide(frame, deadline);
    switch (decision.kind) {
      case "refuse":
        this.refuse(id, decision.code, decision.message);
        break;
      case "answered":
        this.#o.send({ t: "report", ...decision.report });
        break;
      case "known":
        this.#o.log("info", "call_repeated", { id, agent });
        this.taken(id);
        break;
      case "foreign":
        this.#o.foreign.submit({ id, agent, payload, command: decision.command, deadline });
        break;
      case "own": {
        const call = this.#inFlight.get(id) ?? {
          agent,
          payload,
          deadline,
          published: "pending",
          unacked: 0,
        };
        call.payload = payload;
        call.deadline = deadline;
        this.#inFlight.set(id, call);
        this.#publishOwn(id, call);
      }
    }
  }

  /** A command that nobody answers: published when the agent is there, else dropped. */
  publish(frame: PublishFrame): void {
    const problem = this.#plainProblem(frame);
    if (problem === undefined) this.#publishPlain(frame.agent, frame.payload);
    else this.#o.log("info", "publish_dropped", { agent: frame.agent, reason: problem });
  }

  /** Home has stored the report: it is forgotten here, and the agent is told so. */
  ack(frame: AckFrame): void {
    const forgotten = this.#o.reports.acked(frame.id, frame.agent);
    const agent = frame.agent ?? forgotten[0]?.agent;
    if (agent === undefined || frame.payload === undefined || this.#o.roster.isForeign(agent)) return;
    if (Buffer.byteLength(frame.payload) <= COMMAND_MAX_BYTES) this.#publishPlain(agent, frame.payload);
  }

  /** A result or error report of one of our own agents. */
  ownReport(agent: string, id: string, payload: string): void {
    if (this.#inFlight.get(id)?.agent === agent) this.#inFlight.delete(id);
    this.#report(agent, id, payload);
  }

  foreignReport(
    agent: string,
    requestId: string | undefined,
    raw: string,
    payload: Record<string, unknown>,
  ): void {
    const matched = this.#o.foreign.answered(agent, requestId, payload);
    if (matched !== undefined) this.#report(agent, matched.id, raw);
    else
      this.#o.log("debug", "report_ignored", { agent, id: requestId, reason: "answers none of our calls" });
  }

  /**
   * One of our own agents said (again) that it is online. A command that was on its way when it, or the
   * broker, went may be lost, even though the broker had acked it: it is published again, and the agent's
   * ledger recognises it. A break too short for Home to hear of would otherwise lose it.
   */
  agentBack(agent: string): void {
    if (!this.#o.brokerUp()) return;
    for (const [id, call] of this.#inFlight) {
      if (call.agent === agent && this.#o.now() < call.deadline) this.#publishOwn(id, call);
    }
  }

  /** The broker is back. Who said meanwhile that it is online could not be sent anything yet. */
  brokerBack(): void {
    const waiting = new Set([...this.#inFlight.values()].map((call) => call.agent));
    for (const agent of waiting) {
      if (this.#o.roster.judge(agent)?.online) this.agentBack(agent);
    }
  }

  /** Forgets calls whose time has run out; a late report is forwarded all the same. */
  tick(): void {
    const now = this.#o.now();
    for (const [id, call] of this.#inFlight) {
      if (now >= call.deadline) this.#inFlight.delete(id);
    }
  }

  taken(id: string): void {
    this.#o.send({ t: "taken", id });
  }

  refuse(id: string, code: Refusal, message: string, retryAfterMs?: number): void {
    this.#o.log("info", "call_refused", { id, code });
    const retry = retryAfterMs !== undefined && { retry_after_ms: Math.ceil(retryAfterMs) };
    this.#o.send({ t: "refused", id, code, message: message.slice(0, 1_000), ...retry });
  }

  #decide(frame: CallFrame, deadline: number): Decision {
    const { id, agent, payload } = frame;
    const command = checkJson(Command, payload);
    if (!command.ok) return { kind: "refuse", code: "invalid", message: `payload: ${command.error}` };
    if (command.value.request_id !== id) {
      return { kind: "refuse", code: "invalid", message: "payload: request_id: should be the call's id" };
    }
    const report = this.#o.reports.get(agent, id);
    if (report !== undefined) return { kind: "answered", report };
    if (this.#o.foreign.has(id)) return { kind: "known" };
    const before = this.#inFlight.get(id);
    if (before !== undefined && before.agent !== agent) {
      return { kind: "refuse", code: "invalid", message: "id: a call to another agent has it" };
    }
    const judged = this.#o.roster.judge(agent);
    const problem = this.#problem(frame, deadline, judged);
    if (problem !== undefined)
      return before === undefined ? { kind: "refuse", ...problem } : { kind: "known" };
    return judged?.foreign ? { kind: "foreign", command: command.value.command } : { kind: "own" };
  }

  #problem(
    frame: CallFrame,
    deadline: number,
    judged: ReturnType<Roster["judge"]>,
  ): { code: Refusal; message: string } | undefined {
    const { agent, id } = frame;
    if (this.#o.now() >= deadline) {
      return { code: "expired", message: "its time ran out before the bridge could publish it" };
    }
    if (!this.#o.brokerUp()) return { code: "broker_offline", message: "the broker is not connected" };
    if (judged?.online !== true) {
      const why = judged === undefined ? "no such agent is known here" : judged.reason;
      return { code: "agent_offline", message: `${agent} is not online: ${why}` };
    }
    const bytes = Buffer.byteLength(frame.payload);
    const max = judged.foreign ? FOREIGN_COMMAND_MAX_BYTES : COMMAND_MAX_BYTES;
    if (bytes > max) {
      return { code: "too_large", message: `the command has ${bytes} bytes, and ${agent} takes ${max}` };
    }
    if (this.#inFlight.size >= IN_FLIGHT_MAX && !this.#inFlight.has(id)) {
      return { code: "agent_busy", message: `${IN_FLIGHT_MAX} calls are in flight already` };
    }
    return undefined;
  }

  #publishOwn(id: string, call: InFlight): void {
    const topic = topicOf(this.#o.prefix, call.agent, "commands");
    call.unacked += 1;
    void this.#o
      .publish(topic, call.payload, call.deadline - this.#o.now())
      .then((published) => this.#published(id, call, published));
  }

  #published(id: string, call: InFlight, published: Published): void {
    call.unacked -= 1;
    if (published.kind === "delivered" && published.listening) call.published = "yes";
    if (published.kind === "unsure" && call.published === "pending") call.published = "maybe";
    if (call.published !== "pending") {
      this.#o.soon(() => {
        if (this.#inFlight.get(id) === call) this.taken(id);
      });
      return;
    }
    // Published again meanwhile, the agent may have come for just that one: its ack tells.
    if (call.unacked > 0) return;
    if (this.#inFlight.get(id) === call) this.#inFlight.delete(id);
    if (published.kind === "delivered") {
      this.refuse(id, "not_listening", `nobody listens on ${call.agent}'s commands at the moment`);
    } else {
      const message = published.kind === "rejected" ? published.message : "the broker is not connected";
      this.refuse(id, "broker_offline", message);
    }
  }

  #plainProblem(frame: PublishFrame): string | undefined {
    const judged = this.#o.roster.judge(frame.agent);
    if (judged?.online !== true) return "agent_offline";
    const max = judged.foreign ? FOREIGN_COMMAND_MAX_BYTES : COMMAND_MAX_BYTES;
    if (Buffer.byteLength(frame.payload) > max) return "too_large";
    if (!judged.foreign) return undefined;
    const command = checkJson(Command, frame.payload);
    return !command.ok || OURS_ONLY.includes(command.value.command) ? "foreign" : undefined;
  }

  #publishPlain(agent: string, payload: string): void {
    void this.#o.publish(topicOf(this.#o.prefix, agent, "commands"), payload, PLAIN_EXPIRES_MS);
  }

  #report(agent: string, id: string, payload: string): void {
    const report = { id, agent, payload };
    this.#o.reports.keep(report);
    this.#o.send({ t: "report", ...report });
  }
}
