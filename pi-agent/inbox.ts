/**
 * What comes on `commands`, from the bytes to the published report:
 * read → recognise a repetition → check the budget → record → run → record → publish.
 */
import { type Caller, Command } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { type Budget, type BudgetClocks, budgetOf } from "./budget.ts";
import { COMMANDS } from "./commands/all.ts";
import { CallEnded, type CommandCall, type CommandKind, type Device } from "./commands/command.ts";
import { PROMPT_MAX_MS } from "./commands/prompt.ts";
import type { Ledger } from "./ledger.ts";
import { messageOf } from "./log.ts";
import { Progress } from "./progress.ts";
import { failed, isFailure, type Reply, replyText, succeeded } from "./reports.ts";

/** The largest command that is read at all; the gateway sends far smaller ones. */
export const COMMAND_MAX_BYTES = 256 * 1024;
/** Commands under way at once: beyond it a flood would eat the memory of a small device. */
export const MAX_UNDER_WAY = 64;
/** Node's timers take no more than this (24.8 days). */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** A command over the LAN that names nobody: it carries no authority. */
const UNNAMED: Caller = { principal: "lan", role: "guest", channel: "mqtt" };

export type InboxOptions = {
  device: Device;
  ledger: Ledger;
  clocks: BudgetClocks;
  unknownAgeMs(): number;
  /** Publishes a report; one whose caller acknowledges it is sent again until then. */
  report(text: string, id: string, acks: boolean): Promise<void>;
  event(payload: Record<string, unknown>): void;
  acked(id: string): void;
};

export class Inbox {
  readonly #options: InboxOptions;
  readonly #underWay = new Map<string, AbortController>();
  readonly #receiving = new Set<Promise<void>>();
  #stopping = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Takes one message. Never throws, whatever was sent. */
  async receive(bytes: Buffer, retained: boolean): Promise<void> {
    const received = this.#receive(bytes, retained);
    this.#receiving.add(received);
    await received.finally(() => this.#receiving.delete(received));
  }

  async #receive(bytes: Buffer, retained: boolean): Promise<void> {
    const { log } = this.#options.device;
    // A retained command is one that someone once left there: it would run again at every connect.
    if (retained) return log("warn", "command.ignored", { reason: "retained" });
    if (bytes.length > COMMAND_MAX_BYTES) {
      return log("warn", "command.ignored", {
        reason: `${bytes.length} bytes, at most ${COMMAND_MAX_BYTES}`,
      });
    }
    // Before anything else is awaited: this is the moment from which the budget counts.
    const unknownAge = this.#options.unknownAgeMs();
    try {
      const text = bytes.toString("utf8");
      const command = checkJson(Command, text);
      if (!command.ok) return await this.#unreadable(text, command.error);
      await this.#take(command.value, budgetOf(command.value, unknownAge, this.#options.clocks));
    } catch (error) {
      log("error", "command.failed", { error: messageOf(error) });
    }
  }

  /** Ends what is under way; each call answers with an error that says so. */
  stop(): void {
    this.#stopping = true;
    for (const call of this.#underWay.values()) call.abort(new CallEnded("stopping"));
  }

  /** Resolves when everything received is answered, or after `withinMs`. */
  async idle(withinMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([Promise.all(this.#receiving), late]);
    clearTimeout(timer);
  }

  /** Results of work that an earlier process left open and must not run again. */
  async settleInterrupted(): Promise<void> {
    const { ledger, device } = this.#options;
    for (const entry of ledger.interrupted()) {
      if (!entry.acks) continue;
      const text = replyText(device.settings, entry.id, outcomeUnknown(entry.tool ?? entry.command));
      await ledger.done(entry.id, text);
    }
  }

  async #unreadable(text: string, problem: string): Promise<void> {
    const id = requestIdOf(text);
    this.#options.device.log("warn", "command.unreadable", { error: problem, request_id: id });
    if (id !== undefined) await this.#answer(id, failed(`invalid command: ${problem}`), false);
  }

  async #take(command: Command, budget: Budget): Promise<void> {
    const { device } = this.#options;
    device.log("info", "command.received", { command: command.command, request_id: command.request_id });
    switch (command.command) {
      case "cancel":
        return await this.#cancel(command);
      case "ack":
        return await this.#ack(command);
      case "answer":
        return await this.#answer(command.request_id, failed("no open question"), false);
    }
    const kind = COMMANDS.get(command.command);
    const problem = kind ? kind.problem?.(command) : `unknown command: ${command.command}`;
    if (!kind || problem !== undefined) {
      device.metrics.count("failed");
      return await this.#answer(command.request_id, failed(problem ?? "unknown command"), false);
    }
    if (kind.kind === "work") return await this.#work(command, kind, budget);
    const reply = budget.expired() ? expired(command) : await this.#run(command, kind, budget);
    device.metrics.count(isFailure(reply) ? "failed" : "success");
    await this.#answer(command.request_id, reply, false);
  }

  async #work(command: Command, kind: CommandKind, budget: Budget): Promise<void> {
    const { device, ledger } = this.#options;
    const id = command.request_id;
    const acks = command.n !== undefined;
    const tool = typeof command.payload.tool === "string" ? command.payload.tool.slice(0, 128) : undefined;
    // What will not run needs no synced record; it is still recorded, so that a repetition is refused too.
    const refusal = this.#refusal(command, budget);
    const idempotent = refusal !== undefined || (kind.idempotent?.(command, device) ?? false);
    const begun = await ledger.begin({
      id,
      command: command.command,
      ...(tool !== undefined && { tool }),
      idempotent,
      acks,
    });
    switch (begun.do) {
      case "wait":
        return this.#options.event({ type: "accepted", request_id: id });
      case "repeat":
        device.log("info", "command.repeated", { request_id: id });
        return await this.#options.report(begun.report ?? this.#nothingKept(id), id, acks);
      case "unknown":
        return await this.#conclude(id, outcomeUnknown(tool ?? command.command), acks);
      case "refuse":
        return await this.#answer(id, unrecordable(command, begun.reason), false);
    }
    // Once more: the record may have taken its time on a slow card.
    const refused = refusal ?? this.#refusal(command, budget);
    if (!refused) this.#options.event({ type: "accepted", request_id: id });
    await this.#conclude(id, refused ?? (await this.#run(command, kind, budget)), acks);
  }

  #refusal(command: Command, budget: Budget): Reply | undefined {
    if (budget.expired()) return expired(command);
    if (this.#underWay.size < MAX_UNDER_WAY) return undefined;
    return refused(command, `Error: This agent is busy with ${MAX_UNDER_WAY} commands. Nothing was run.`);
  }

  async #conclude(id: string, reply: Reply, acks: boolean): Promise<void> {
    const { device, ledger } = this.#options;
    device.metrics.count(isFailure(reply) ? "failed" : "success");
    const text = replyText(device.settings, id, reply);
    await ledger.done(id, text);
    await this.#options.report(text, id, acks);
  }

  async #answer(id: string, reply: Reply, acks: boolean): Promise<void> {
    await this.#options.report(replyText(this.#options.device.settings, id, reply), id, acks);
  }

  async #run(command: Command, kind: CommandKind, budget: Budget): Promise<Reply> {
    const { device, event } = this.#options;
    const id = command.request_id;
    const control = new AbortController();
    if (this.#stopping) control.abort(new CallEnded("stopping"));
    const limit = Math.min(budget.remainingMs(), command.command === "prompt" ? PROMPT_MAX_MS : TIMER_MAX_MS);
    const timer = setTimeout(() => control.abort(new CallEnded("expired")), Math.min(limit, TIMER_MAX_MS));
    const progress =
      kind.kind === "work"
        ? new Progress((text) => event({ type: "progress", request_id: id, text }))
        : undefined;
    const call: CommandCall = {
      command,
      caller: command.caller ?? UNNAMED,
      budget,
      signal: control.signal,
      say: (text) => progress?.say(text),
    };
    this.#underWay.set(id, control);
    try {
      return await kind.run(call, device);
    } catch (error) {
      device.log("error", "command.failed", { request_id: id, error: messageOf(error) });
      return failed(`the command failed: ${messageOf(error)}`);
    } finally {
      clearTimeout(timer);
      progress?.end();
      if (this.#underWay.get(id) === control) this.#underWay.delete(id);
    }
  }

  async #cancel(command: Command): Promise<void> {
    const target = command.payload.request_id;
    const call = typeof target === "string" ? this.#underWay.get(target) : undefined;
    call?.abort(new CallEnded("cancelled"));
    const reply =
      typeof target !== "string"
        ? failed("missing request_id: the call to cancel")
        : call
          ? succeeded({ status: "cancelled", cancelled: target })
          : failed(`nothing to cancel: no call ${target.slice(0, 128)} is under way`);
    await this.#answer(command.request_id, reply, false);
  }

  async #ack(command: Command): Promise<void> {
    const target = command.payload.request_id;
    if (typeof target !== "string") return;
    this.#options.acked(target);
    await this.#options.ledger.acked(target);
  }

  #nothingKept(id: string): string {
    const error =
      "Error: This command was run and its result acknowledged before; it is no longer kept here.";
    return replyText(
      this.#options.device.settings,
      id,
      succeeded({ status: "error", error, error_type: "outcome_unknown" }),
    );
  }
}

/** The request id of a command that is wrong otherwise, so that its sender learns what is wrong. */
function requestIdOf(text: string): string | undefined {
  try {
    const id = (JSON.parse(text) as { request_id?: unknown } | null)?.request_id;
    return typeof id === "string" && id.length > 0 && id.length <= 128 ? id : undefined;
  } catch {
    return undefined;
  }
}

function refused(command: Command, error: string, errorType = "execution_failed", code?: string): Reply {
  const tool = typeof command.payload.tool === "string" ? { tool: command.payload.tool } : {};
  return succeeded({
    status: "error",
    ...tool,
    error,
    error_type: errorType,
    ...(code && { code }),
    elapsed_ms: 0,
  });
}

function expired(command: Command): Reply {
  return refused(
    command,
    "Error: The command came after its time was over. Nothing was run.\nTry again or explain to the user.",
    "timeout",
    "expired",
  );
}

function unrecordable(command: Command, reason: string): Reply {
  return refused(
    command,
    `Error: Nothing was run: this device cannot write its record of commands (${reason}), and without it a repeated command could run twice. Tell the user to check the device's disk.`,
  );
}

function outcomeUnknown(what: string): Reply {
  return succeeded({
    status: "error",
    tool: what,
    error: `${errorText.outcomeUnknown(`'${what}'`)}\nThe device restarted while this ran; it may or may not have taken effect.`,
    error_type: "outcome_unknown",
    elapsed_ms: 0,
  });
}
