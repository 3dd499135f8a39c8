/**
 * Carries out what Home sends (calls, publishes, acks), and passes on the reports that answer calls.
 *
 * A refusal says that the agent has certainly not run the call. So once a call was published, every problem with a
 * repetition of it is answered with `taken`: its report, or its deadline at Home, decides.
 */
import type { Refusal } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { Command, type ReadReport } from "@edgecall/core/protocol/mqtt.ts";
import { FOREIGN_COMMAND_MAX_BYTES, topicOf } from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { StallDetector } from "@edgecall/node/stall-detector.ts";
import type { Published, Publisher } from "./broker.ts";
import type { ForeignAgentQueue } from "./foreign-agent-queue.ts";
import type { Roster } from "./presence.ts";
import type { BufferedReport, ReportBuffer } from "./report-buffer.ts";
import type { ToHome } from "./to-home.ts";

export type CallFrame = Extract<HomeFrame, { t: "call" }>;
export type PublishFrame = Extract<HomeFrame, { t: "publish" }>;
export type AckFrame = Extract<HomeFrame, { t: "ack" }>;
export type AcksFrame = Extract<HomeFrame, { t: "acks" }>;

/** An agent reads no command over 256 KiB; the shipped mosquitto.conf takes packets of 1 MiB. */
export const COMMAND_MAX_BYTES = 255 * 1024;
/** Home limits its calls itself; this bounds the bridge's memory. */
const IN_FLIGHT_MAX = 2_000;
/** After this an ack or a cancel is of no use: the agent sends its result again. */
const PLAIN_EXPIRES_MS = 30_000;
/** Home waits 5 s for `taken`. Most calls are answered sooner than this, and then their report says as much. */
export const TAKEN_AFTER_MS = 100;
/** A foreign agent would answer these commands with an error, which would look like a result. */
const OURS_ONLY = ["cancel", "answer", "ack"];

type InFlight = {
  agent: string;
  payload: string;
  deadline: number;
  /** `maybe`: the connection went before the broker's ack. */
  published: "pending" | "maybe" | "yes";
  /** The number of its publishes that the broker has not acked yet. */
  unacked: number;
};

type Decision =
  | { kind: "refuse"; code: Refusal; message: string }
  /** Its report is here, and is sent again. */
  | { kind: "answered"; report: BufferedReport }
  /** It was published before, or waits: nothing more is done for it. */
  | { kind: "known" }
  | { kind: "own" }
  | { kind: "foreign"; command: string };

/** The shape is that of the agent's own reports. */
function tooLargeReport(agent: string, id: string, { bytes, max }: { bytes: number; max: number }): string {
  const error =
    `Error: ${agent} has answered, but its answer of ${Math.ceil(bytes / 1024)} KB is too large to be passed on (at most ${max / 1024} KB). ` +
    "What was asked of it may have been done, so do not simply repeat it. Ask for less: a part, or fewer lines.";
  return JSON.stringify({
    agent_id: agent,
    report_type: "error",
    payload: { error, error_type: "outcome_unknown", request_id: id },
  });
}

export type CallsParts = {
  /** The topics' prefix. */
  prefix: string;
  log: Log;
  clock: Clock;
  stall: Pick<StallDetector, "arrival">;
  roster: Roster;
  reports: ReportBuffer;
  broker: Publisher;
  foreign: ForeignAgentQueue;
  outbox: Pick<ToHome, "accepted" | "refuse" | "report">;
};

export class Calls {
  readonly #parts: CallsParts;
  /** Calls to our own agents, by id. */
  readonly #inFlight = new Map<string, InFlight>();

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  /** The number of calls to our own agents whose report has not come. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  call(frame: CallFrame): void {
    const { id, agent, payload } = frame;
    const deadline = this.#parts.stall.arrival() + frame.expires_in_ms;
    const decision = this.#decide(frame, deadline);
    switch (decision.kind) {
      case "refuse":
        this.#parts.outbox.refuse(frame, decision.code, decision.message);
        break;
      case "answered":
        this.#parts.outbox.report(decision.report);
        break;
      case "known":
        this.#parts.log("info", "call.repeated", { id, agent });
        this.#parts.outbox.accepted(id);
        break;
      case "foreign":
        this.#parts.foreign.submit({ id, agent, payload, command: decision.command, deadline });
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

  /** Publishes a command that nobody answers; drops it when the agent is not online. */
  publish(frame: PublishFrame): void {
    const problem = this.#plainProblem(frame);
    if (problem === undefined) this.#publishPlain(frame.agent, frame.payload);
    else this.#parts.log("info", "call.publish_dropped", { agent: frame.agent, reason: problem });
  }

  /** Home has stored the report: the bridge deletes it and passes the ack on to the agent. */
  ack(frame: AckFrame): void {
    const deleted = this.#parts.reports.acked(frame.id, frame.agent);
    const agent = frame.agent ?? deleted[0]?.agent;
    if (agent === undefined || frame.payload === undefined || this.#parts.roster.isForeign(agent)) return;
    if (Buffer.byteLength(frame.payload) <= COMMAND_MAX_BYTES) this.#publishPlain(agent, frame.payload);
  }

  /** The same for many reports at once. */
  acks({ agent, ids, payload }: AcksFrame): void {
    for (const id of ids) this.#parts.reports.acked(id, agent);
    if (Buffer.byteLength(payload) <= COMMAND_MAX_BYTES) this.#publishPlain(agent, payload);
  }

  /** Takes a result or error report of one of our own agents. */
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
    const matched = this.#parts.foreign.answered(agent, requestId, payload);
    if (matched !== undefined) this.#report(agent, matched.id, raw);
    else this.#answersNothing(agent, requestId);
  }

  /** A foreign agent's report that is too large to be passed on ends its call all the same. @param read undefined: not read */
  foreignTooLarge(
    agent: string,
    read: Pick<ReadReport, "requestId" | "payload"> | undefined,
    size: { bytes: number; max: number },
  ): void {
    const matched = this.#parts.foreign.answered(agent, read?.requestId, read?.payload ?? {});
    if (matched !== undefined) this.#report(agent, matched.id, tooLargeReport(agent, matched.id, size));
    else this.#answersNothing(agent, read?.requestId);
  }

  #answersNothing(agent: string, requestId: string | undefined): void {
    this.#parts.log("debug", "report.ignored", {
      agent,
      id: requestId,
      reason: "answers none of our calls",
    });
  }

  /**
   * One of our own agents reported (again) that it is online. A command that was on its way when the agent or the
   * broker went away may be lost, even if the broker had acked it. It is published again, and the agent's ledger
   * recognises it. Otherwise a break too short for Home to notice would lose it.
   */
  agentBack(agent: string): void {
    if (!this.#parts.broker.up) return;
    for (const [id, call] of this.#inFlight) {
      if (call.agent === agent && this.#parts.clock.now() < call.deadline) this.#publishOwn(id, call);
    }
  }

  /** The broker is back: agents that reported meanwhile that they are online get their commands now. */
  brokerBack(): void {
    const waiting = new Set([...this.#inFlight.values()].map((call) => call.agent));
    for (const agent of waiting) {
      if (this.#parts.roster.judge(agent)?.online) this.agentBack(agent);
    }
  }

  /** Drops calls whose time has run out. A late report is forwarded all the same. */
  tick(): void {
    const now = this.#parts.clock.now();
    for (const [id, call] of this.#inFlight) {
      if (now >= call.deadline) this.#inFlight.delete(id);
    }
  }

  #decide(frame: CallFrame, deadline: number): Decision {
    const { id, agent, payload } = frame;
    const command = checkJson(Command, payload);
    if (!command.ok) return { kind: "refuse", code: "invalid", message: `payload: ${command.error}` };
    if (command.value.request_id !== id) {
      return { kind: "refuse", code: "invalid", message: "payload: request_id: should be the call's id" };
    }
    // Home acknowledges reports in its next command to their agent.
    for (const stored of command.value.acks ?? []) this.#parts.reports.acked(stored, agent);
    const report = this.#parts.reports.get(agent, id);
    if (report !== undefined) return { kind: "answered", report };
    if (this.#parts.foreign.has(id)) return { kind: "known" };
    const before = this.#inFlight.get(id);
    if (before !== undefined && before.agent !== agent) {
      return { kind: "refuse", code: "invalid", message: "id: a call to another agent has it" };
    }
    const judged = this.#parts.roster.judge(agent);
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
    if (this.#parts.clock.now() >= deadline) {
      return { code: "expired", message: "its time ran out before the bridge could publish it" };
    }
    if (!this.#parts.broker.up) return { code: "broker_offline", message: "the broker is not connected" };
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
    const topic = topicOf(this.#parts.prefix, call.agent, "commands");
    call.unacked += 1;
    void this.#parts.broker
      .publish(topic, call.payload, call.deadline - this.#parts.clock.now())
      .then((published) => this.#published(id, call, published));
  }

  #published(id: string, call: InFlight, published: Published): void {
    call.unacked -= 1;
    if (published.kind === "delivered" && published.listening) call.published = "yes";
    if (published.kind === "unsure" && call.published === "pending") call.published = "maybe";
    if (call.published !== "pending") {
      setTimeout(() => {
        if (this.#inFlight.get(id) === call) this.#parts.outbox.accepted(id);
      }, TAKEN_AFTER_MS);
      return;
    }
    // It was published again meanwhile, and the agent may be subscribed by now: that ack decides.
    if (call.unacked > 0) return;
    if (this.#inFlight.get(id) === call) this.#inFlight.delete(id);
    if (published.kind === "delivered") {
      this.#parts.outbox.refuse(
        { id, agent: call.agent },
        "not_listening",
        `nobody listens on ${call.agent}'s commands at the moment`,
      );
    } else {
      const message = published.kind === "rejected" ? published.message : "the broker is not connected";
      this.#parts.outbox.refuse({ id, agent: call.agent }, "broker_offline", message);
    }
  }

  #plainProblem(frame: PublishFrame): string | undefined {
    const judged = this.#parts.roster.judge(frame.agent);
    // The gateway tells it with which numbers it has to go on.
    const isReached = judged?.online === true || this.#parts.roster.hasOldNumbers(frame.agent);
    if (!judged || !isReached) return "agent_offline";
    const max = judged.foreign ? FOREIGN_COMMAND_MAX_BYTES : COMMAND_MAX_BYTES;
    if (Buffer.byteLength(frame.payload) > max) return "too_large";
    if (!judged.foreign) return undefined;
    const command = checkJson(Command, frame.payload);
    return !command.ok || OURS_ONLY.includes(command.value.command) ? "foreign" : undefined;
  }

  #publishPlain(agent: string, payload: string): void {
    void this.#parts.broker.publish(
      topicOf(this.#parts.prefix, agent, "commands"),
      payload,
      PLAIN_EXPIRES_MS,
    );
  }

  #report(agent: string, id: string, payload: string): void {
    const report = { id, agent, payload };
    this.#parts.reports.add(report);
    this.#parts.outbox.report(report);
  }
}
