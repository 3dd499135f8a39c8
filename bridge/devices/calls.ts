/**
 * The calls of hosted devices: whose turn it is, which were sent before, and what is reported of each.
 *
 * A refusal says that nothing was sent, so it is never said after a command may have left. Commands of one device run one after
 * the other; a read is answered at once, and a stop ends the wait of whatever is under way.
 */
import type { Refusal } from "@edgecall/core/protocol/frames.ts";
import { Command, ToolCommand } from "@edgecall/core/protocol/mqtt.ts";
import { check, checkJson } from "@edgecall/core/protocol/parse.ts";
import type { Mark } from "@edgecall/discovery/model/device.ts";
import type { StallDetector } from "@edgecall/node/stall-detector.ts";
import { type CallFrame, type PublishFrame, TAKEN_AFTER_MS } from "../broker/calls.ts";
import type { ReportBuffer } from "../broker/report-buffer.ts";
import type { ToHome } from "../broker/to-home.ts";
import { answerRead, type ReadParts } from "./answer-read.ts";
import { type CarryOutParts, carryOut, problemOf } from "./carry-out.ts";
import type { CommandEntry, DeviceLedger } from "./command-ledger.ts";
import type { Confirmed } from "./corrections.ts";
import {
  type CallSink,
  type DeviceCall,
  type Ended,
  type Interruption,
  type Later,
  notRun,
} from "./device-call.ts";
import type { HostedAgents } from "./hosted-agents.ts";
import { type Outcome, reportOf, succeeded, unhandled, unknown } from "./reports.ts";

/** Home limits its calls itself; this bounds the bridge's memory. */
const IN_FLIGHT_MAX = 500;
/** Commands of one device that wait, each until its time is over. A gateway has at most 200 open at it. */
const QUEUE_MAX = 256;

/** Of a late confirmation. */
const LATE_HOLDS_MS = 100;

/** A device's answer is told when it comes so long after its time. What it reports after that may have another cause. */
const LATER_MS = 120_000;

type Decision =
  | { kind: "refuse"; code: Refusal; message: string }
  | { kind: "answer"; report: string }
  /** It is under way: nothing more is done for it. */
  | { kind: "known" }
  | { kind: "begin"; call: DeviceCall };

/** A command of the bridge's own, which is carried out as one of Home. */
export type OwnCommand = Pick<DeviceCall, "id" | "agent" | "key" | "action" | "parameters" | "allow"> & {
  /** Its time, ms from now. */
  withinMs: number;
};

type Lane = { running: DeviceCall | undefined; queue: DeviceCall[] };

/** A command that was not confirmed in time. `until`: monotonic ms. `settling`: its device has done it, and may take it back. */
type Unconfirmed = { call: DeviceCall; later: Later; until: number; settling?: NodeJS.Timeout | undefined };

export type DeviceCallsParts = ReadParts &
  CarryOutParts & {
    stall: Pick<StallDetector, "arrival">;
    agents: HostedAgents;
    reports: ReportBuffer;
    outbox: Pick<ToHome, "accepted" | "refuse" | "report">;
  };

export class DeviceCalls {
  readonly #parts: DeviceCallsParts;
  /** Undefined: there is no folder for it. */
  #ledger: DeviceLedger | undefined;
  readonly #calls = new Map<string, DeviceCall>();
  /** By the device's key. */
  readonly #lanes = new Map<string, Lane>();
  /** By the device's key: its last command, if that was not confirmed in time. */
  readonly #unconfirmed = new Map<string, Unconfirmed>();
  /** By the device's key: the id of the command that had its turn last. */
  readonly #lastBegun = new Map<string, string>();
  readonly #home: CallSink;

  constructor(parts: DeviceCallsParts) {
    this.#parts = parts;
    const { outbox } = parts;
    this.#home = {
      accepted: ({ id }) => outbox.accepted(id),
      refused: (call, code, message) => outbox.refuse(call, code, message),
      reported: ({ id, agent }, _, report) => this.#answer(id, agent, report),
    };
  }

  get inFlight(): number {
    return this.#calls.size;
  }

  /** Takes the ledger, before the first call, and reports what an earlier bridge left open. */
  open(ledger: DeviceLedger): void {
    this.#ledger = ledger;
    for (const entry of ledger.interrupted()) {
      const { id, agent, route } = entry.begun;
      this.#parts.log("warn", "devices.call_interrupted", { id, agent, state: entry.state });
      ledger.done(id, reportOf({ id, agent, route }, outcomeOfInterrupted(entry)));
    }
    for (const report of ledger.unacked()) this.#answer(report.id, report.agent, report.payload);
  }

  /** Carries out a command of the bridge's own. Its id is one that `entry` does not know. */
  carryOut({ withinMs, ...of }: OwnCommand, sink: CallSink): void {
    const now = this.#parts.clock.now();
    const call = { ...of, route: undefined, deadline: now + withinMs, began: now, own: true as const, sink };
    if (this.#calls.size >= IN_FLIGHT_MAX)
      sink.refused(
        { ...call, interrupted: undefined, wake: () => {} },
        "agent_busy",
        `${IN_FLIGHT_MAX} calls are in flight already`,
      );
    else this.#begin({ ...call, interrupted: undefined, wake: () => {} });
  }

  /** What is on disk of a command of the bridge's own; undefined: it was never begun. */
  entry(id: string): CommandEntry | undefined {
    return this.#ledger?.get(id);
  }

  /** The outcome of a command of the bridge's own is on disk elsewhere. */
  settle(id: string): void {
    this.#ledger?.settle(id);
  }

  /** Settles all commands of the bridge's own but these: their outcomes are not wanted any more. */
  settleAllBut(wanted: ReadonlySet<string>): void {
    for (const { begun } of this.#ledger?.own() ?? []) if (!wanted.has(begun.id)) this.settle(begun.id);
  }

  /**
   * Waits until the device reports what a command asked for that was sent before: until a time, or as long as such a command is waited
   * for. A later command of the device ends it.
   * @param since what came after it counts @returns the words; undefined: not in time
   */
  async reported(
    { id, agent, key, action, parameters }: Omit<OwnCommand, "withinMs">,
    since: Mark,
    withinMs?: number,
  ): Promise<string | undefined> {
    const { catalog, clock, watch } = this.#parts;
    const plan = catalog.plan(agent, action, parameters, clock.wall());
    if ("error" in plan || plan.confirm === null) return undefined;
    const { confirm, settleMs, waitMs, ask = [] } = plan;
    const last = this.#lastBegun.get(key);
    const isOver = () => last !== this.#lastBegun.get(key) && this.#lastBegun.get(key) !== id;
    const sender = this.#parts.senders[catalog.device(agent, clock.wall())?.source ?? "mqtt"];
    for (const step of ask)
      if (sender.forbidden(step) === undefined && sender.problem() === undefined)
        void sender.send(step, waitMs);
    const until = clock.now() + (withinMs ?? waitMs);
    for (;;) {
      const left = until - clock.now();
      const found = await watch.until(left, () => (isOver() ? "" : confirm(since)?.text));
      if (!found) return undefined;
      // What its device takes back at once was no confirmation.
      const isBack = () => isOver() || confirm(since) === undefined || undefined;
      if (!(await watch.until(Math.max(LATE_HOLDS_MS, settleMs), isBack))) return found;
    }
  }

  /** True if the call was sent by the bridge before this one, or by this one: its device may be gone since. */
  knows(id: string): boolean {
    return this.#ledger?.get(id) !== undefined;
  }

  call(frame: CallFrame): void {
    const { id, agent } = frame;
    const { log, outbox } = this.#parts;
    const decision = this.#decide(frame);
    switch (decision.kind) {
      case "refuse":
        outbox.refuse(frame, decision.code, decision.message);
        break;
      case "answer":
        this.#answer(id, agent, decision.report);
        break;
      case "known":
        log("info", "call.repeated", { id, agent });
        outbox.accepted(id);
        break;
      case "begin":
        this.#begin(decision.call);
    }
  }

  #decide(frame: CallFrame): Decision {
    const { id, agent, allow } = frame;
    const { agents, clock, reports, stall } = this.#parts;
    const deadline = stall.arrival() + frame.expires_in_ms;
    const refuse = (code: Refusal, message: string): Decision => ({ kind: "refuse", code, message });
    const command = checkJson(Command, frame.payload);
    if (!command.ok) return refuse("invalid", `payload: ${command.error}`);
    const { acks = [], route } = command.value;
    if (command.value.request_id !== id)
      return refuse("invalid", "payload: request_id: should be the call's id");
    for (const stored of acks) reports.acked(stored, agent);
    this.acked(acks);
    if (this.#calls.has(id)) return { kind: "known" };
    const answer = (outcome: Outcome): Decision => ({
      kind: "answer",
      report: reportOf({ id, agent, route }, outcome),
    });
    const before = this.#ledger?.get(id);
    const report = reports.get(agent, id)?.payload ?? before?.report;
    if (report !== undefined) return { kind: "answer", report };
    if (before) return answer(sentBefore(before));
    if (command.value.command !== "tool") return answer(this.#other(command.value));
    const tool = check(ToolCommand, command.value.payload);
    if (!tool.ok) return refuse("invalid", `payload: ${tool.error}`);
    const key = agents.device(agent)?.key;
    if (key === undefined)
      return refuse("agent_offline", `${agent} is not online: no such device is known here`);
    if (this.#calls.size >= IN_FLIGHT_MAX)
      return refuse("agent_busy", `${IN_FLIGHT_MAX} calls are in flight already`);
    const { tool: action, parameters } = tool.value;
    const began = clock.now();
    const of = { id, agent, key, action, parameters, allow, route, deadline, began, sink: this.#home };
    return { kind: "begin", call: { ...of, interrupted: undefined, wake: () => {} } };
  }

  /** A notice of Home. Only a cancel means anything here. */
  publish({ payload }: PublishFrame): void {
    const command = checkJson(Command, payload);
    if (command.ok && command.value.command === "cancel") this.#cancel(command.value.payload.request_id);
  }

  /** Home has stored these reports. */
  acked(ids: readonly string[]): void {
    for (const id of ids) this.#ledger?.acked(id);
  }

  #begin(call: DeviceCall): void {
    const { id, agent, key, action } = call;
    const { agents } = this.#parts;
    const known = agents.device(agent)?.actions.find(({ name }) => name === action);
    const lane = this.#lanes.get(key) ?? { running: undefined, queue: [] };
    const isRead = known?.effect === "read";
    if (!isRead && lane.queue.length >= QUEUE_MAX) {
      call.sink.refused(call, "agent_busy", `${lane.queue.length} calls of ${agent} wait already`);
      return;
    }
    this.#calls.set(id, call);
    setTimeout(() => {
      if (this.#calls.get(id) === call) call.sink.accepted(call);
    }, TAKEN_AFTER_MS).unref();
    if (isRead) {
      void this.#run(call, answerRead(this.#parts, call));
      return;
    }
    if (known && isStop(action)) {
      // A stop that is not sent must not end the wait of another call.
      const problem = problemOf(this.#parts, this.#ledger, call);
      if (problem) {
        this.#end(call, problem);
        return;
      }
      this.#makeWay(lane);
    }
    this.#lanes.set(key, lane);
    lane.queue.push(call);
    this.#next(key, lane);
  }

  /** Devices have reported something, perhaps what Home was told is not known. */
  look(): void {
    for (const [key, open] of this.#unconfirmed) {
      if (this.#parts.clock.now() > open.until) this.#unconfirmed.delete(key);
      else if (open.settling === undefined && open.later.look() !== undefined)
        // A report that takes it back may be here, unread, when the timer is due.
        open.settling = setTimeout(() => setImmediate(() => this.#late(key, open)), open.later.settleMs);
    }
  }

  #late(key: string, open: Unconfirmed): void {
    open.settling = undefined;
    const text = open.later.look();
    if (text === undefined || this.#unconfirmed.get(key) !== open) return;
    this.#unconfirmed.delete(key);
    const { call } = open;
    this.#end(call, { report: succeeded(call.action, text, { confirmed: true }) });
  }

  /** A blind that moves must not move on because its own call is waited for. */
  #makeWay(lane: Lane): void {
    for (const queued of lane.queue.splice(0)) {
      queued.interrupted = "stopped";
      this.#end(queued, { report: notRun(queued) });
    }
    if (lane.running) interrupt(lane.running, "stopped");
  }

  #next(key: string, lane: Lane): void {
    if (lane.running) return;
    const call = lane.queue.shift();
    lane.running = call;
    if (!call) {
      this.#lanes.delete(key);
      return;
    }
    this.#lastBegun.set(key, call.id);
    // A report may be of this one from now on.
    this.#unconfirmed.delete(key);
    void this.#run(call, carryOut(this.#parts, this.#ledger, call)).then(() => {
      lane.running = undefined;
      this.#next(key, lane);
    });
  }

  /** A fault in here still answers the call, and the next one has its turn. */
  async #run(call: DeviceCall, work: Promise<Ended>): Promise<void> {
    let ended: Ended;
    try {
      ended = await work;
    } catch (error) {
      const text = error instanceof Error ? error.stack : String(error);
      this.#parts.log("error", "bridge.internal_error", { side: "devices", error: text });
      ended = { report: unknown(call.action, "Error: The bridge failed in the middle of this call.") };
    }
    this.#end(call, ended);
  }

  #end(call: DeviceCall, ended: Ended): void {
    this.#calls.delete(call.id);
    if ("refuse" in ended) {
      call.sink.refused(call, ended.refuse, ended.message);
      return;
    }
    if (ended.later)
      this.#unconfirmed.set(call.key, {
        call,
        later: ended.later,
        until: this.#parts.clock.now() + LATER_MS,
      });
    const { type, payload } = ended.report;
    const elapsed_ms = Math.round(this.#parts.clock.now() - call.began);
    this.#report(call, { type, payload: { ...payload, elapsed_ms } });
    if (ended.confirmed) void this.#correctWhenTakenBack(call, ended.confirmed);
  }

  /** A second report of the same call, in place of the one that told it as done. */
  async #correctWhenTakenBack(call: DeviceCall, confirmed: Confirmed): Promise<void> {
    const outcome = await this.#parts.corrections.follow(confirmed);
    if (!outcome) return;
    const { id, agent } = call;
    this.#parts.log("info", "devices.taken_back", { id, agent });
    this.#report(call, outcome);
  }

  #report(call: DeviceCall, outcome: Outcome): void {
    const report = reportOf(call, outcome);
    this.#ledger?.done(call.id, report);
    call.sink.reported(call, outcome, report);
  }

  #answer(id: string, agent: string, payload: string): void {
    const report = { id, agent, payload };
    this.#parts.reports.add(report);
    this.#parts.outbox.report(report);
  }

  #other({ command, payload }: Command): Outcome {
    if (command === "ping") return { type: "result", payload: { pong: true } };
    if (command !== "cancel")
      return unhandled(`unknown command: ${command}; a hosted device knows tool alone`);
    this.#cancel(payload.request_id);
    return { type: "result", payload: { status: "cancelled" } };
  }

  #cancel(id: unknown): void {
    const call = typeof id === "string" ? this.#calls.get(id) : undefined;
    if (!call) return;
    const queue = this.#lanes.get(call.key)?.queue ?? [];
    const at = queue.indexOf(call);
    interrupt(call, "cancelled");
    if (at < 0) return;
    queue.splice(at, 1);
    this.#end(call, { report: notRun(call) });
  }
}

function interrupt(call: DeviceCall, why: Interruption): void {
  call.interrupted ??= why;
  call.wake();
}

/** A device's entity may be in the name: `stop_left`. */
function isStop(action: string): boolean {
  return /^stop(_|$)/.test(action);
}

/** An earlier bridge was ended in the middle of it. */
function outcomeOfInterrupted({ begun, state }: CommandEntry): Outcome {
  const { action, device, unconfirmable } = begun;
  const ended = "the bridge was ended before";
  if (state === "begun")
    return unknown(
      action,
      `Error: It is not known whether this was sent to ${device}: ${ended} the broker had it.`,
    );
  if (unconfirmable === undefined)
    return unknown(action, `Error: Sent to ${device}, not confirmed: ${ended} an answer came.`);
  return succeeded(action, unconfirmable, { confirmed: false });
}

/** Home has the outcome, or had it. */
function sentBefore({ begun: { action, device } }: CommandEntry): Outcome {
  return unknown(
    action,
    `Error: This call was sent to ${device} before, and is not sent again. Its outcome was reported then.`,
  );
}
