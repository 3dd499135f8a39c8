/**
 * The step of a turn that has its calls made: which go out now, what each came to, and when to look again. It
 * never waits for a device: calls are given to Home, and come back as results. The gateway's own tools run here
 * (conversation/tools/gateway-calls.ts), and are waited for.
 */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import { MAX_ATTEMPTS } from "@edgecall/core/loop/retry.ts";
import { isTainted, type Source } from "@edgecall/core/loop/taint.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import type { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { checkEdgeCall, EDGE_CALL } from "../api/edge-call.ts";
import type { HomeApi } from "../api/home-api.ts";
import { withRetry } from "../api/stubs.ts";
import { logError, logInfo } from "../log.ts";
import { keysOf } from "../settings/gateway-tools.ts";
import type { Settings } from "../settings/settings.ts";
import { sourcesFor } from "./brought.ts";
import { clientSchema, isClients } from "./client-tools.ts";
import type { Transcript } from "./store/transcript.ts";
import type { StoredCall, StoredEntry, Turn } from "./store/transcript-rows.ts";
import { GatewayCalls } from "./tools/gateway-calls.ts";
import { cancelledOutcome } from "./turn-words.ts";

/** How much later than Home a conversation looks after a call itself: Home's answer should win. */
const DEADLINE_GRACE_MS = 10_000;
/** Pause before Home is asked again after it failed (a deploy resets it for a moment). */
export const HOME_RETRY_MS = 1_000;

/** What the step needs of its conversation. */
export type CallHost = {
  transcript: Transcript;
  /** `home/channel/id`. */
  name(): string;
  /** A new stub for each use. */
  home(): HomeApi;
  /** The gateway's own. */
  tools(settings: Settings): ToolRegistry;
  lease(): Promise<void>;
  wakeBy(time: number): Promise<void>;
  /** Whether somebody watches the turn. */
  watched(turn: Turn): boolean;
  /** A call of turn `n` was answered. */
  settled(n: number, callId: string): void;
};

export class CallStep {
  readonly #host: CallHost;
  readonly #gateway: GatewayCalls;
  /**
   * Calls that Home has, and by when it will have settled each (epoch ms). In memory only: an object that was
   * rebuilt gives them to Home again, which recognises them, and a row less is written for each call.
   */
  readonly #out = new Map<string, { deadline: number; at: number }>();

  constructor(host: CallHost) {
    this.#host = host;
    this.#gateway = new GatewayCalls({
      countAttempt: (n) => host.transcript.countAttempt(n),
      progressed: (n) => host.transcript.progressed(n),
      settle: (callId, outcome) => void this.settle(callId, outcome),
      name: () => host.name(),
      record: async (callId, line) => await host.home().record(callId, line),
    });
  }

  /** Puts calls out, at most `maxParallel` at once, and parks the turn until a result or a deadline. */
  async take(turn: Turn, history: readonly StoredEntry[], settings: Settings): Promise<"on" | "parked"> {
    const now = Date.now();
    const open = oursOf(turn, openCalls(history.filter((entry) => entry.turn === turn.n)));
    const out = open.filter((call) => this.#out.has(call.id));
    const overdue = out.filter((call) => this.#dueAt(call) <= now);
    const room = Math.max(0, settings.limits.maxParallel - out.length);
    const due = [...open.filter((call) => !this.#out.has(call.id)).slice(0, room), ...overdue];
    if (due.length > 0) {
      await this.#host.lease();
      const { transcript } = this.#host;
      const sources = sourcesFor(transcript, transcript.turnAt(turn.n) ?? turn);
      const tools = this.#host.tools(settings);
      const isOurs = (call: StoredCall) => tools.get(call.name) !== undefined;
      const calls = due.filter(isOurs);
      const others = due.filter((call) => !isOurs(call));
      const [failed] = await Promise.all([
        Promise.all(others.map((call) => this.#submit(turn, call, sources, tools.list()))),
        this.#gateway.run({
          turn,
          calls,
          history,
          tools,
          tainted: isTainted(sources, "gateway"),
          secrets: keysOf(settings.tools),
        }),
      ]);
      const unreached = failed.filter((call) => call !== undefined);
      if (unreached.length > 0) this.#homeFailed(turn, unreached);
    }
    const left = oursOf(turn, this.#open(turn));
    // Something was settled on the spot: there is room for another call, or the batch is complete.
    if (left.length < open.length) return "on";
    const deadlines = left.filter((call) => this.#out.has(call.id)).map((call) => this.#dueAt(call));
    const retryAt = this.#host.transcript.turn(turn.id)?.notBefore ?? 0;
    if (retryAt > now) deadlines.push(retryAt);
    // Home may be late itself: it is asked again, but not at once for ever.
    await this.#host.wakeBy(Math.max(Math.min(...deadlines), now + HOME_RETRY_MS));
    return "parked";
  }

  /** Answers a call; the first answer counts. @returns whether this was it */
  settle(callId: string, outcome: Outcome): boolean {
    const n = this.#host.transcript.settle(callId, outcome, this.#out.get(callId)?.at);
    this.#out.delete(callId);
    if (n !== undefined) this.#host.settled(n, callId);
    return n !== undefined;
  }

  /** Ends the calls of a turn, also those that the driver sends meanwhile. @returns how many a device may have run */
  async cancel(turn: Turn): Promise<number> {
    const sent = new Set<string>();
    const stopped = new Set<string>();
    const open = (which: (call: StoredCall) => boolean) =>
      this.#open(turn)
        .filter(which)
        .map((call) => call.id);
    this.#gateway.cancel(open(() => true));
    const unstopped = () => open((call) => call.name === EDGE_CALL && !stopped.has(call.id));
    for (let ids = unstopped(); ids.length > 0; ids = unstopped()) {
      for (const id of await this.#stop(ids)) sent.add(id);
      for (const id of ids) stopped.add(id);
    }
    for (const id of open(() => true)) this.settle(id, cancelledOutcome(sent.has(id)));
    return sent.size;
  }

  /** The person is asked: the call cannot be over before then. */
  extend(callId: string, until: number): void {
    this.#out.set(callId, { at: Date.now(), ...this.#out.get(callId), deadline: until });
  }

  /** Somebody came to watch after the calls were sent. */
  async watch(turn: Turn): Promise<void> {
    const out = this.#open(turn).filter((call) => this.#out.has(call.id));
    if (out.length > 0) await this.#host.home().watch(out.map((call) => call.id));
  }

  forget(): void {
    this.#out.clear();
  }

  /** When Home is asked what became of a call. */
  #dueAt(call: StoredCall): number {
    return (this.#out.get(call.id)?.deadline ?? 0) + DEADLINE_GRACE_MS;
  }

  /** Gives one call to Home, or answers it on the spot. @returns the call, when Home did not take it */
  async #submit(
    turn: Turn,
    call: StoredCall,
    sources: readonly Source[],
    ours: readonly string[],
  ): Promise<StoredCall | undefined> {
    if (isClients(turn, call)) {
      const words = errorText.invalidParams(
        call.name,
        call.problem ?? "",
        clientSchema(this.#host.transcript.broughtBy(turn), call),
      );
      this.settle(call.id, { status: "error", errorType: "invalid_params", ...words, elapsedMs: 0 });
      return undefined;
    }
    const checked = checkEdgeCall(call, ours);
    if (!checked.ok) {
      this.settle(call.id, checked.outcome);
      return undefined;
    }
    try {
      const reply = await this.#host.home().submit({
        id: call.id,
        conversation: this.#host.name(),
        args: checked.args,
        caller: {
          principal: turn.origin.principal,
          role: turn.origin.role,
          channel: turn.origin.channel,
          conversation: this.#host.name().split("/").slice(2).join("/"),
        },
        watched: this.#host.watched(turn),
        limits: turn.origin.limits ?? {},
        tainted: isTainted(sources, { agent: checked.args.agent_id }),
      });
      // The one line that has both ids: devices and bridge know the call, and no turn.
      logInfo("call.submitted", {
        turn: turn.id,
        call: call.id,
        agent: checked.args.agent_id,
        accepted: reply.accepted,
      });
      if (reply.accepted) this.#out.set(call.id, { deadline: reply.deadline, at: Date.now() });
      else this.settle(call.id, reply.outcome);
      return undefined;
    } catch (error) {
      logError("call.submit_failed", error, { turn: turn.id, call: call.id });
      return call;
    }
  }

  /** Home is being replaced, or is overloaded: the calls are given to it again, a few times. */
  #homeFailed(turn: Turn, calls: readonly StoredCall[]): void {
    const { transcript } = this.#host;
    if (transcript.countAttempt(turn.n) <= MAX_ATTEMPTS) {
      transcript.postpone(turn.n, Date.now() + HOME_RETRY_MS);
      return;
    }
    const words = errorText.outcomeUnknown("this call");
    for (const call of calls)
      this.settle(call.id, {
        status: "error",
        errorType: "outcome_unknown",
        ...words,
        elapsedMs: 0,
        sources: [],
      });
  }

  /**
   * Home tells the devices, and keeps back what has not reached it yet. One that is being replaced is asked again: it
   * would go on with the calls. @returns those that were sent, or may be
   */
  async #stop(ids: string[]): Promise<string[]> {
    try {
      return await withRetry(async () => await this.#host.home().cancel(ids, this.#host.name()));
    } catch (error) {
      logError("cancel.failed", error, { conversation: this.#host.name() });
      return ids;
    }
  }

  #open(turn: Turn): StoredCall[] {
    return openCalls(this.#host.transcript.entriesOf(turn.n));
  }
}

/** Without those that the caller runs; one that cannot be read is answered here. */
function oursOf(turn: Turn, calls: StoredCall[]): StoredCall[] {
  return calls.filter((call) => !isClients(turn, call) || call.problem !== undefined);
}

function openCalls(entries: readonly StoredEntry[]): StoredCall[] {
  return entries.flatMap((entry) =>
    entry.role === "assistant" ? entry.calls.filter((call) => call.outcome === undefined) : [],
  );
}
