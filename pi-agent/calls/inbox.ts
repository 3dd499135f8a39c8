/**
 * Takes what comes on `commands`, from the bytes to the published report:
 * read → recognise a repetition → check the budget → record → run → record → publish.
 */
import { AnswerCommand, type Caller, Command } from "@edgecall/core/protocol/mqtt.ts";
import { check, checkJson } from "@edgecall/core/protocol/parse.ts";
import { type Advised, errorFields } from "@edgecall/core/tools/advice.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { Tracer } from "@edgecall/core/trace/tracer.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { StallDetector } from "@edgecall/node/stall-detector.ts";
import type { Settings } from "../config/settings.ts";
import type { CommandVerifier, Proof } from "../link/command-verifier.ts";
import { GatewayVersion } from "../link/gateway-version.ts";
import type { Publisher } from "../link/publisher.ts";
import {
  failed,
  failureOf,
  isFailure,
  type Reply,
  replyText,
  reportText,
  succeeded,
} from "../link/reports.ts";
import type { AuditLog } from "./audit.ts";
import { type Budget, type BudgetClocks, budgetOf, clockAhead } from "./budget.ts";
import { CallEnded, type CommandCall } from "./command.ts";
import type { CommandKind, Commands } from "./command-kind.ts";
import type { GatewayCalls } from "./gateway-calls.ts";
import { replyOfInterrupted } from "./interrupted.ts";
import type { Jobs, UnfinishedJob } from "./jobs.ts";
import { keptProgram } from "./kept-program.ts";
import type { CommandLedger } from "./ledger.ts";
import type { Metrics } from "./metrics.ts";
import type { OfferedTools } from "./offered-tools.ts";
import { Progress } from "./progress.ts";
import type { PersonQuestions } from "./questions.ts";
import { unrecordable } from "./refusals.ts";
import { addCommandSpan, commandSpan } from "./spans.ts";
import type { Uploads } from "./uploads.ts";

/** Larger commands are not read. The gateway sends far smaller ones. */
const COMMAND_MAX_BYTES = 256 * 1024;
/**
 * The number of commands under way at once. More could use up the memory of a small device. The calls of one reply of a model
 * (core/loop/bounded-calls.ts) may all wait for a person, and leave room for others.
 */
const MAX_UNDER_WAY = 128;
/** Commands that wait for one of those to end, each until its time is over. A gateway has at most 200 open at an agent. */
const MAX_WAITING = 256;
/** A call that ends within this time needs no `accepted`. */
const ACCEPTED_AFTER_MS = 100;
/** The number of cancels without a call that are remembered: their call may still come. */
const EARLY_CANCELS = 100;

/** The caller of a command over the LAN that names nobody. It has no authority. */
const UNNAMED: Caller = { principal: "lan", role: "guest", channel: "mqtt" };

export type InboxOptions = {
  settings: Pick<Settings, "agentId" | "agentType" | "stateDir">;
  /** Those that are answered with a report. */
  commands: Commands;
  tools: Pick<OfferedTools, "registry">;
  publisher: Publisher;
  ledger: CommandLedger;
  jobs: Jobs;
  questions: PersonQuestions;
  gatewayCalls: GatewayCalls;
  uploads: Uploads;
  audit: AuditLog;
  metrics: Metrics;
  /** Other things than reports that the gateway acknowledges, each by ids of its own. */
  acknowledged: ReadonlyArray<{ acked(id: string): boolean }>;
  stall: StallDetector;
  clocks: BudgetClocks;
  /** Checks commands; undefined: this device obeys every client of its broker. */
  verifier: CommandVerifier | undefined;
  /** The gateway asks for higher numbers of this agent's messages. */
  goAbove?: (n: number) => void;
  log: Log;
  /** Undefined: nothing is traced. */
  tracer: Tracer | undefined;
};

const NOT_SIGNED = "it does not carry the gateway's signature";

type UnderWay = { control: AbortController; progress: Progress | undefined };

export class Inbox {
  readonly #options: InboxOptions;
  readonly #underWay = new Map<string, UnderWay>();
  /** What begins when there is room, by id; oldest first. */
  readonly #waiting = new Map<string, () => void>();
  readonly #earlyCancels = new Set<string>();
  readonly #gateway: GatewayVersion;
  readonly #receiving = new Set<Promise<void>>();
  #stopping = false;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#gateway = new GatewayVersion(options.log);
  }

  /** The number of commands under way. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Takes one message. Never throws, whatever was sent. */
  async receive(bytes: Buffer, retained: boolean): Promise<void> {
    const received = this.#receive(bytes, retained);
    this.#receiving.add(received);
    await received.finally(() => this.#receiving.delete(received));
  }

  /**
   * Takes one message of `evoclaw/broadcast` as EvoClaw's agent does: every agent carries out and answers a command. The
   * orchestrator's other messages (`{content, sent_at}`) are ignored.
   */
  async broadcast(bytes: Buffer, retained: boolean): Promise<void> {
    const isCommand = bytes.length <= COMMAND_MAX_BYTES && checkJson(Command, bytes.toString("utf8")).ok;
    if (isCommand) await this.receive(bytes, retained);
  }

  async #receive(bytes: Buffer, retained: boolean): Promise<void> {
    const { log, verifier, commands } = this.#options;
    // A retained command would run again at every connect.
    if (retained) return log("warn", "command.ignored", { reason: "retained" });
    if (bytes.length > COMMAND_MAX_BYTES) {
      return log("warn", "command.ignored", {
        reason: `${bytes.length} bytes, at most ${COMMAND_MAX_BYTES}`,
      });
    }
    // Read before anything is awaited: the budget counts from this moment.
    const unknownAge = this.#options.stall.unknownAgeMs();
    try {
      const text = bytes.toString("utf8");
      const proof = verifier?.proofOf(text);
      if (verifier && !proof) return this.#refuse(requestIdOf(text), NOT_SIGNED);
      const command = checkJson(Command, text);
      if (!command.ok) return await this.#unreadable(text, command.error);
      const maxMs = commands.get(command.value.command)?.maxMs;
      const budget = budgetOf(command.value, unknownAge, this.#options.clocks, maxMs);
      if (verifier && proof && !this.#isAccepted(verifier, command.value, proof)) return;
      for (const id of command.value.acks ?? []) await this.#acked(id);
      await this.#accept(command.value, budget);
    } catch (error) {
      log("error", "command.failed", { error: messageOf(error) });
    }
  }

  /** True if a signed command is to be carried out. A repetition goes on only if the ledger knows it. */
  #isAccepted(verifier: CommandVerifier, command: Command, proof: Proof): boolean {
    const { request_id } = command;
    const verdict = verifier.check(command, proof);
    if (!verdict.obey) this.#refuse(request_id, verdict.why);
    else if (!verdict.repeat || this.#options.ledger.knows(request_id)) return true;
    else this.#options.log("info", "command.repeated", { request_id });
    return false;
  }

  /**
   * Answers without a signature. So a gateway that has this device's key does not take the answer for that of the call that
   * a forged command names. A gateway that does not have the key learns why nothing happens.
   */
  #refuse(id: string | undefined, why: string): void {
    const { settings, publisher, log } = this.#options;
    log("warn", "command.refused", { reason: why, request_id: id });
    const error = `This device obeys its own gateway alone, and refused a command: ${why}. Nothing was run. If the gateway is a new one, pair the device again.`;
    publisher.reportUnsigned(textOf(settings, id, failed(error)));
  }

  /** Ends the calls under way. Each answers with an error that says so. */
  stop(): void {
    this.#stopping = true;
    for (const { control } of this.#underWay.values()) control.abort(new CallEnded("stopping"));
    for (const begin of [...this.#waiting.values()]) begin();
  }

  /** Resolves when all received commands are answered. */
  async idle(): Promise<void> {
    await Promise.all(this.#receiving);
  }

  /**
   * Records results for work that an earlier process left open and that must not run again.
   * @returns jobs that go on
   */
  async settleInterrupted(): Promise<UnfinishedJob[]> {
    const { ledger, settings, tools, jobs } = this.#options;
    const unfinished: UnfinishedJob[] = [];
    for (const entry of ledger.interrupted()) {
      const { id, acks, jobOf: of, route } = entry;
      const { isProgram = false, ...recorded } = of === undefined ? {} : await jobs.recorded(id);
      const name = entry.tool ?? "";
      const tool =
        resumable(tools.registry.get(name)) ?? (isProgram ? keptProgram(name, settings.stateDir) : undefined);
      if (of !== undefined && tool)
        unfinished.push({ id, of, acks, tool, work: tool.resume, route, ...recorded });
      else if (acks)
        await ledger.done(id, replyText(settings, id, replyOfInterrupted(entry, ledger.jobsOf(id)), route));
    }
    return unfinished;
  }

  async #unreadable(text: string, problem: string): Promise<void> {
    const id = requestIdOf(text);
    const { settings, publisher, log } = this.#options;
    log("warn", "command.unreadable", { error: problem, request_id: id });
    await publisher.report(textOf(settings, id, failed(`invalid command: ${problem}`)));
  }

  async #accept(command: Command, budget: Budget): Promise<void> {
    const { commands, metrics, log } = this.#options;
    log("info", "command.received", { command: command.command, request_id: command.request_id });
    switch (command.command) {
      case "cancel":
        return await this.#cancel(command);
      case "ack":
        return await this.#ack(command);
      case "answer":
        return await this.#answer(
          command,
          budget.expired() ? this.#expired(command) : this.#answered(command),
        );
      case "watch":
        return this.#watch(command);
      case "upload":
        return this.#upload(command);
      case "gateway":
        return this.#onGateway(command.payload);
      case "called":
        return this.#called(command);
    }
    const kind = commands.get(command.command);
    const problem = kind ? kind.problem?.(command) : `unknown command: ${command.command}`;
    if (!kind || problem !== undefined) {
      metrics.count("failed");
      return await this.#answer(command, failed(problem ?? "unknown command"));
    }
    if (kind.kind === "work") return await this.#work(command, kind, budget);
    const reply = budget.expired() ? this.#expired(command) : await this.#run(command, kind, budget);
    metrics.count(isFailure(reply) ? "failed" : "success");
    await this.#answer(command, reply);
  }

  #onGateway(payload: unknown): void {
    const { gatewayCalls, goAbove } = this.#options;
    const { features, above } = this.#gateway.onCommand(payload);
    gatewayCalls.gatewayKnows(features);
    if (above !== undefined) goAbove?.(above);
  }

  async #work(command: Command, kind: CommandKind, budget: Budget): Promise<void> {
    const startMs = Date.now();
    const { ledger, publisher, questions, gatewayCalls, log } = this.#options;
    const id = command.request_id;
    const acks = command.n !== undefined;
    const tool = typeof command.payload.tool === "string" ? command.payload.tool.slice(0, 128) : undefined;
    // A command that will not run needs no synced record. It is recorded all the same, so that a repetition is refused too.
    const refusal = this.#refusal(command, budget);
    const idempotent = refusal !== undefined || (kind.idempotent?.(command) ?? false);
    const begun = await ledger.begin({
      id,
      command: command.command,
      ...(tool !== undefined && { tool }),
      idempotent,
      acks,
      route: command.route,
    });
    switch (begun.do) {
      case "wait":
        // The caller may not know of it yet.
        publisher.event({ type: "accepted", request_id: id });
        questions.announce(id);
        gatewayCalls.announce(id);
        return command.watch ? this.#watchCall(id) : undefined;
      case "repeat":
        log("info", "command.repeated", { request_id: id });
        return await publisher.report(begun.report ?? this.#noLongerStored(command), id, acks);
      case "unknown":
        return await this.#finish(command, replyOfInterrupted(begun.entry, ledger.jobsOf(id)));
      case "refuse":
        return await this.#finish(command, refused(command, unrecordable(begun.reason)));
    }
    // Check again: writing the record may have been slow.
    const notRun = refusal ?? this.#refusal(command, budget);
    const reply = notRun ?? (await this.#runAccepted(command, kind, budget));
    addCommandSpan(this.#options, command, commandSpan(this.#options, command), startMs, failureOf(reply));
    await this.#finish(command, reply);
  }

  /** Runs the command. Publishes `accepted` unless the result comes first, which says the same. */
  async #runAccepted(command: Command, kind: CommandKind, budget: Budget): Promise<Reply> {
    const accepted = { type: "accepted" as const, request_id: command.request_id };
    const timer = setTimeout(() => this.#options.publisher.event(accepted), ACCEPTED_AFTER_MS);
    try {
      await this.#room(command.request_id, budget);
      return this.#refusal(command, budget) ?? (await this.#run(command, kind, budget));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits until fewer commands are under way, the call is cancelled, or its time is over. */
  async #room(id: string, budget: Budget): Promise<void> {
    if (this.#underWay.size < MAX_UNDER_WAY || this.#stopping) return;
    await new Promise<void>((resolve) => {
      const begin = () => {
        this.#waiting.delete(id);
        budget.end();
        resolve();
      };
      this.#waiting.set(id, begin);
      budget.start(begin);
    });
  }

  #refusal(command: Command, budget: Budget): Reply | undefined {
    if (budget.expired()) return notRun(this.#expired(command));
    if (this.#earlyCancels.has(command.request_id)) {
      return notRun(refused(command, "Error: The call was cancelled before it came. Nothing was run."));
    }
    const isFull = this.#waiting.size >= MAX_WAITING && this.#underWay.size >= MAX_UNDER_WAY;
    if (!isFull) return undefined;
    const many = `${MAX_UNDER_WAY} commands, and ${MAX_WAITING} wait already`;
    return notRun(refused(command, `Error: This agent is busy with ${many}. Nothing was run.`));
  }

  #expired(command: Command): Reply {
    const { clocks, stall } = this.#options;
    const ahead = clockAhead(command, stall.unknownAgeMs(), clocks.wallClock());
    return expired(command, ahead);
  }

  async #finish({ request_id: id, n, route }: Command, reply: Reply): Promise<void> {
    const { settings, metrics, ledger, publisher } = this.#options;
    metrics.count(isFailure(reply) ? "failed" : "success");
    const text = replyText(settings, id, reply, route);
    await ledger.done(id, text);
    await publisher.report(text, id, n !== undefined);
    reply.afterwards?.();
  }

  async #answer({ request_id, route }: Command, reply: Reply): Promise<void> {
    const { settings, publisher } = this.#options;
    await publisher.report(replyText(settings, request_id, reply, route), request_id);
  }

  async #run(command: Command, kind: CommandKind, budget: Budget): Promise<Reply> {
    const { publisher, log } = this.#options;
    const id = command.request_id;
    const control = new AbortController();
    if (this.#stopping) control.abort(new CallEnded("stopping"));
    budget.start(() => control.abort(new CallEnded("expired")));
    const { tool } = command.payload;
    const progress =
      kind.kind === "work"
        ? new Progress({
            publish: (progress) => publisher.event({ type: "progress", request_id: id, ...progress }),
            watched: command.watch === true,
            ...(typeof tool === "string" && { tool: tool.slice(0, 64) }),
          })
        : undefined;
    const call: CommandCall = {
      command,
      caller: command.caller ?? UNNAMED,
      budget,
      signal: control.signal,
      taint: { inConversation: command.tainted === true, inResults: false },
      progress,
      span: commandSpan(this.#options, command),
    };
    const underWay: UnderWay = { control, progress };
    this.#underWay.set(id, underWay);
    try {
      return await kind.run(call);
    } catch (error) {
      log("error", "command.failed", { request_id: id, error: messageOf(error) });
      return failed(`the command failed: ${messageOf(error)}`);
    } finally {
      budget.end();
      progress?.end();
      if (this.#underWay.get(id) === underWay) this.#underWay.delete(id);
      const [next] = this.#waiting.values();
      if (next && this.#underWay.size < MAX_UNDER_WAY) next();
    }
  }

  async #cancel(command: Command): Promise<void> {
    const target = command.payload.request_id;
    if (typeof target !== "string") {
      return await this.#answer(command, failed("missing request_id: the call to cancel"));
    }
    const call = this.#underWay.get(target);
    call?.control.abort(new CallEnded("cancelled"));
    const waiting = this.#waiting.get(target);
    const found = this.#options.jobs.cancel(target) || call !== undefined || waiting !== undefined;
    if (!found || waiting) this.#rememberCancel(target);
    waiting?.();
    const reply = found
      ? succeeded({ status: "cancelled", cancelled: target })
      : failed(`nothing to cancel: no call ${target.slice(0, 128)} is under way`);
    await this.#answer(command, reply);
  }

  /** A repeated call may come after its cancel. */
  #rememberCancel(id: string): void {
    this.#earlyCancels.add(id);
    for (const oldest of this.#earlyCancels) {
      if (this.#earlyCancels.size <= EARLY_CANCELS) break;
      this.#earlyCancels.delete(oldest);
    }
  }

  #answered(command: Command): Reply {
    const answer = check(AnswerCommand, command.payload);
    if (!answer.ok) return failed(`payload.${answer.error}`);
    const { by = (command.caller ?? UNNAMED).principal } = answer.value;
    const taken = this.#options.questions.answer({ ...answer.value, by }, command.request_id);
    return taken.ok ? succeeded({ status: "answered" }) : failed(taken.error);
  }

  #watch(command: Command): void {
    const { request_id: target, record_ms: recordMs } = command.payload;
    if (typeof target === "string") this.#watchCall(target);
    if (typeof recordMs === "number" && recordMs > 0) this.#options.audit.follow(recordMs);
  }

  /** Nobody waits for an answer to this command, so a problem goes to the log. */
  #upload(command: Command): void {
    const { uploads, log } = this.#options;
    const problem = uploads.onCommand(command.payload);
    if (problem !== undefined) log("warn", "upload.unreadable", { error: problem });
  }

  /** The same. */
  #called(command: Command): void {
    const { gatewayCalls, log } = this.#options;
    const problem = gatewayCalls.onCalled(command.payload);
    if (problem !== undefined) log("warn", "called.unreadable", { error: problem });
  }

  #watchCall(id: string): void {
    this.#underWay.get(id)?.progress?.watch();
    this.#options.jobs.watch(id);
  }

  async #ack(command: Command): Promise<void> {
    const { request_id, request_ids } = command.payload;
    const targets: readonly unknown[] = Array.isArray(request_ids) ? request_ids : [request_id];
    for (const target of targets) if (typeof target === "string") await this.#acked(target);
  }

  /** The gateway has stored a report, lines of the record, or the change of a rule. */
  async #acked(id: string): Promise<void> {
    const { acknowledged, publisher, ledger } = this.#options;
    if (acknowledged.some((one) => one.acked(id))) return;
    publisher.acked(id);
    await ledger.acked(id);
  }

  #noLongerStored({ request_id, route }: Command): string {
    const error =
      "Error: This command was run and its result acknowledged before; it is no longer kept here.";
    return replyText(
      this.#options.settings,
      request_id,
      succeeded({ status: "error", ...errorFields(error), error_type: "outcome_unknown" }),
      route,
    );
  }
}

function resumable(tool: Tool | undefined): (Tool & Required<Pick<Tool, "resume">>) | undefined {
  return tool?.resume && { ...tool, resume: tool.resume };
}

function inSeconds(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** The text of a report. Without an id nobody waits for it, but a person who looks at the reports sees what was wrong. */
function textOf(settings: InboxOptions["settings"], id: string | undefined, reply: Reply): string {
  return id === undefined ? reportText(settings, reply.type, reply.payload) : replyText(settings, id, reply);
}

/** The request id of a command that is otherwise wrong, so that its sender learns what is wrong. */
function requestIdOf(text: string): string | undefined {
  try {
    const id = (JSON.parse(text) as { request_id?: unknown } | null)?.request_id;
    return typeof id === "string" && id.length > 0 && id.length <= 128 ? id : undefined;
  } catch {
    return undefined;
  }
}

function refused(
  command: Command,
  text: string | Advised,
  errorType = "execution_failed",
  code?: string,
): Reply {
  const tool = typeof command.payload.tool === "string" ? { tool: command.payload.tool } : {};
  return succeeded({
    status: "error",
    ...tool,
    ...errorFields(text),
    error_type: errorType,
    ...(code && { code }),
    elapsed_ms: 0,
  });
}

/**
 * The ledger has this answer, so the call will never run here, however often it comes: the gateway may give it to another
 * agent.
 */
function notRun(reply: Reply): Reply {
  return { ...reply, payload: { ...reply.payload, not_run: true } };
}

/** @param ahead ms by which this device's clock is ahead of the gateway's, if that is the reason */
function expired(command: Command, ahead?: number): Reply {
  return refused(
    command,
    ahead === undefined
      ? {
          text: "Error: The command came after its time was over. Nothing was run.",
          advice: "Try again or explain to the user.",
        }
      : {
          text: `Error: This device's clock is about ${inSeconds(ahead)} ahead of the gateway's, so every command comes too late for it. Nothing was run. Set the clock (timedatectl set-ntp true), or clock = "unsynced" in agent.toml, so that the clock is not asked.`,
          advice: "Explain this to the user; do not try again.",
        },
    "timeout",
    "expired",
  );
}
