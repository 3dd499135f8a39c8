/**
 * One conversation: its transcript and the tool loop over it.
 *
 * One driver advances turns. Whatever happens (a new turn, a result, a cancel, an alarm) writes a row and
 * sets the driver going, detached. It keeps nothing in memory that a row does not say, so after an eviction,
 * a deploy or a kill it goes on by reading rows. While a device works nothing waits here: the calls are out,
 * the alarm stands at their deadline, the object may sleep.
 */
import { DurableObject } from "cloudflare:workers";
import type { Outcome } from "@edgecall/core/loop/history.ts";
import { nextOf } from "@edgecall/core/loop/next.ts";
import { MAX_ATTEMPTS } from "@edgecall/core/loop/retry.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import type { AskedOfPerson } from "./asking.ts";
import { CONVERSATION_MIGRATIONS } from "./conversation-schema.ts";
import { checkEdgeCall } from "./edge-call.ts";
import type { Env } from "./env.ts";
import type { Plan } from "./home.ts";
import { logError, logInfo } from "./log.ts";
import { migrate } from "./migrate.ts";
import { ModelStep } from "./model-step.ts";
import { homeOf } from "./objects.ts";
import { readSettings, type Settings, SettingsError } from "./settings.ts";
import { Transcript } from "./transcript.ts";
import type { NewTurn, StoredCall, StoredEntry, Turn } from "./transcript-rows.ts";
import { eventsAfter, resultOf, type TurnEvent, type TurnResult } from "./turn-view.ts";
import {
  cancelledAnswer,
  cancelledOutcome,
  INTERNAL_ERROR,
  lateNote,
  shownApproval,
  tryAgain,
} from "./turn-words.ts";
import { Waiters } from "./waiters.ts";

/** The driver is brought back this long after a crash at the latest; one that lives moves it on. */
const LEASE_MS = 10_000;
/** How much later than Home a conversation looks after a call itself: Home's answer should win. */
const DEADLINE_GRACE_MS = 10_000;
/** As long as Home keeps the calls of it. */
const KEEP_ONE_SHOT_MS = 48 * 3_600_000;
/** Pause before Home is asked again after it failed (a deploy resets it for a moment). */
const HOME_RETRY_MS = 1_000;

export class Conversation extends DurableObject<Env> {
  readonly #transcript: Transcript;
  readonly #waiters: Waiters;
  readonly #model: ModelStep;
  /** One driver at a time: an object has one instance, so a flag in memory is enough. */
  #driving = false;
  /** Something was written while the driver was on its way out. */
  #again = false;
  /**
   * Calls that Home has, and by when it will have settled each (epoch ms). In memory only: an object that was
   * rebuilt gives them to Home again, which recognises them, and a row less is written for each call.
   */
  readonly #out = new Map<string, { deadline: number; at: number }>();
  /** When the alarm stands, as far as this instance knows. */
  #alarmAt: number | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, CONVERSATION_MIGRATIONS);
    this.#transcript = new Transcript(ctx.storage);
    this.#waiters = new Waiters(ctx);
    this.#model = new ModelStep({
      transcript: this.#transcript,
      home: () => this.#home(),
      lease: () => this.#lease(),
      fail: (turn, answer, code) => this.#finish(turn, "failed", answer, code),
      delta: (turn, text) => this.#waiters.tell(turn.id, { event: "delta", data: { text } }),
      reset: (turn) => this.#waiters.tell(turn.id, { event: "reset", data: {} }),
      replied: (turn, seq) => this.#tellSince(turn, seq - 1),
      later: (work) => ctx.waitUntil(work.catch((error: unknown) => logError("later.failed", error))),
    });
  }

  /** Accepts a turn, or recognises a repeat by its idempotency key. Durable when it returns. */
  async start(request: NewTurn): Promise<TurnResult> {
    const turn = this.#transcript.begin(request);
    if (turn.status === "running") this.#drive();
    return this.#result(turn);
  }

  /** The result of a call, from Home. The first one counts. */
  /** @param plan what Home knows at this moment: spares asking it again for the model call that follows */
  async settle(callId: string, outcome: Outcome, plan?: Plan): Promise<void> {
    if (!this.#settle(callId, outcome)) return;
    if (plan) this.#model.planned(plan);
    this.#drive();
  }

  /** A result that comes after the call was answered: a job's, a queued call's, or one that was given up. */
  async late(callId: string, by: string, outcome: Outcome, isJob: boolean): Promise<void> {
    const call = this.#transcript.call(callId);
    if (!call) return;
    // It overtook the reply to submit: Home brings it again in a moment.
    if (!call.outcome) throw new Error("the call has no answer yet that this could come after");
    // A queued call may turn out to begin a job: only the last word sets off a turn.
    const ownTurn = isJob && outcome.job === undefined;
    if (!this.#transcript.settleLate(callId, by, outcome, lateNote(call, outcome), ownTurn)) return;
    logInfo("call.late", { call: callId, by });
    this.#drive();
  }

  /** A device (or the gateway, for it) asks the person something in the middle of a call. */
  async ask(asked: AskedOfPerson): Promise<void> {
    const call = this.#transcript.call(asked.call);
    const turn = call && this.#transcript.turnAt(call.turn);
    if (!turn || call.outcome) return;
    const { approval, expiresAt: expires_at, ...rest } = asked;
    if (
      !this.#transcript.questions.add(
        { ...rest, expires_at, ...(approval && { approval: shownApproval(approval) }) },
        turn.n,
      )
    )
      return;
    this.#out.set(call.id, {
      at: Date.now(),
      ...this.#out.get(call.id),
      deadline: expires_at + DEADLINE_GRACE_MS,
    });
    this.#tellNewest(turn);
    this.#drive();
  }

  /** It was answered, or nobody needs to any more. */
  async closeQuestion(id: string, answer: string, by: string | null): Promise<void> {
    const n = this.#transcript.questions.close(id, answer, by);
    const turn = n === undefined ? undefined : this.#transcript.turnAt(n);
    if (turn) this.#tellNewest(turn);
  }

  /** Output of a device as it comes, for whoever watches. Never a row. */
  async progress(callId: string, tool: string | undefined, text: string): Promise<void> {
    const call = this.#transcript.call(callId);
    const turn = call && this.#transcript.turnAt(call.turn);
    if (turn)
      this.#waiters.tell(turn.id, {
        event: "progress",
        data: { call: callId, ...(tool !== undefined && { tool }), text },
      });
  }

  /** A turn as it stands, or undefined. */
  async look(turnId: string): Promise<TurnResult | undefined> {
    const turn = this.#transcript.turn(turnId);
    return turn && this.#result(turn);
  }

  /** Every turn with what was said in it. */
  async history(): Promise<Array<TurnResult & { text: string; created_at: number }>> {
    const turns = this.#transcript.turns();
    const entries = this.#transcript.entries(turns.at(-1)?.n ?? 0);
    return turns.map((turn) => {
      const own = entries.filter((entry) => entry.turn === turn.n);
      const text = own.find((entry) => entry.role === "user")?.text ?? "";
      return {
        text,
        created_at: turn.createdAt,
        ...resultOf(turn, own, this.#transcript.questions.of(turn.n)),
      };
    });
  }

  /** Ends a turn; what was done so far stays said. Undefined when there is no such turn. */
  async cancel(turnId: string): Promise<TurnResult | undefined> {
    const turn = this.#transcript.turn(turnId);
    if (!turn) return undefined;
    if (turn.status !== "running") return this.#result(turn);
    await this.#end(turn);
    this.#drive();
    return this.look(turnId);
  }

  /** Cancels a turn: first its calls, also those that the driver sends meanwhile, then itself. */
  async #end(turn: Turn): Promise<void> {
    const sent = new Set<string>();
    const stopped = new Set<string>();
    const open = () => this.#openCalls(turn).map((call) => call.id);
    for (let ids = open(); ids.length > 0; ids = open().filter((id) => !stopped.has(id))) {
      for (const id of await this.#stopCalls(ids)) sent.add(id);
      for (const id of ids) stopped.add(id);
    }
    for (const id of open()) this.#settle(id, cancelledOutcome(sent.has(id)));
    this.#finish(turn, "cancelled", cancelledAnswer(sent.size), "cancelled");
    this.#model.cancel(turn);
  }

  /** Home tells the devices, and keeps back what has not reached it yet. @returns those that were sent, or may be */
  async #stopCalls(ids: string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    try {
      return new Set(await this.#home().cancel(ids, this.#name()));
    } catch (error) {
      logError("cancel.failed", error, { conversation: this.ctx.id.name });
      return new Set(ids);
    }
  }

  /** Forgets everything. */
  async forget(): Promise<void> {
    for (let turn = this.#transcript.currentTurn(); turn; turn = this.#transcript.currentTurn()) {
      await this.#end(turn);
    }
    await this.#wipe();
  }

  async #wipe(): Promise<void> {
    this.#waiters.closeAll();
    await this.ctx.storage.deleteAll();
    migrate(this.ctx.storage, CONVERSATION_MIGRATIONS);
    this.#transcript.forgetSeq();
    // The alarm went with the rows.
    this.#alarmAt = undefined;
    this.#out.clear();
    this.#model.planned(undefined);
  }

  /** `/attach?turn=…&after=seq`: the Worker's waiting room. Only the Worker can reach this. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const turn = this.#transcript.turn(url.searchParams.get("turn") ?? "");
    if (!turn) return new Response("no such turn", { status: 404 });
    const after = Number(url.searchParams.get("after") ?? 0);
    const missed = this.#eventsAfter(turn, after);
    if (turn.status !== "running" && missed.length === 0)
      return new Response("nothing more", { status: 410 });
    const live = url.searchParams.has("live");
    const response = this.#waiters.accept(turn.id, missed, live, turn.status !== "running");
    if (turn.status === "running") {
      // After a crash the waiting room comes back before the lease does.
      this.#drive();
      const out = live ? this.#openCalls(turn).filter((call) => this.#out.has(call.id)) : [];
      if (out.length > 0) this.ctx.waitUntil(this.#watch(out.map((call) => call.id)));
    }
    return response;
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = undefined;
    if (this.#driving) await this.#lease();
    else this.#drive();
  }

  override async webSocketMessage(): Promise<void> {
    // Waiters only listen.
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    this.#waiters.closed(socket);
  }

  /** Sets the driver going. Never awaited by callers: they return, and it goes on. */
  #drive(): void {
    this.#again = true;
    if (this.#driving) return;
    this.#driving = true;
    this.ctx.waitUntil(this.#run());
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await this.#advance();
      }
    } catch (error) {
      await this.#failed(error);
    } finally {
      this.#driving = false;
    }
  }

  /** Something that no step expects. Counted, so that it cannot come back for ever. */
  async #failed(error: unknown): Promise<void> {
    logError("turn.step_failed", error, { conversation: this.ctx.id.name });
    const turn = this.#transcript.currentTurn();
    if (!turn) return;
    if (this.#transcript.countAttempt(turn.n) > MAX_ATTEMPTS)
      this.#finish(
        turn,
        "failed",
        `${INTERNAL_ERROR} ${tryAgain(this.#transcript.entriesOf(turn.n))}`,
        "internal",
      );
    await this.#wakeBy(Date.now() + HOME_RETRY_MS);
  }

  /** Takes steps until nothing is left to do, or nothing can be done before an answer or an alarm. */
  async #advance(): Promise<void> {
    for (;;) {
      const turn = this.#transcript.currentTurn();
      if (!turn) return await this.#expire();
      if (turn.notBefore > Date.now()) return await this.#wakeBy(turn.notBefore);
      if ((await this.#step(turn)) === "parked") return;
    }
  }

  /** A question of `/ask` stands alone: no route reaches it again, so its rows go after a while. */
  async #expire(): Promise<void> {
    if (this.#name().split("/")[1] !== "ask") return;
    const ended = this.#transcript.turns().at(-1)?.finishedAt ?? null;
    if (ended === null) return;
    if (Date.now() < ended + KEEP_ONE_SHOT_MS) await this.#wakeBy(ended + KEEP_ONE_SHOT_MS);
    else await this.#wipe();
  }

  async #step(turn: Turn): Promise<"on" | "parked"> {
    const settings = this.#settings();
    if (settings instanceof SettingsError) {
      this.#finish(turn, "failed", `The gateway is not set up right. ${settings.message}`, "settings");
      return "on";
    }
    const history = this.#transcript.entries(turn.n);
    const own = history.filter((entry) => entry.turn === turn.n);
    const next = nextOf(own, settings.limits);
    if (next.do === "done") {
      this.#finish(turn, "done", next.text);
      return "on";
    }
    if (next.do === "calls") return await this.#makeCalls(turn, history, settings);
    await this.#model.take(turn, history, next, settings);
    return "on";
  }

  #settings(): Settings | SettingsError {
    try {
      return readSettings(this.env);
    } catch (error) {
      if (error instanceof SettingsError) return error;
      throw error;
    }
  }

  // ── calls ───────────────────────────────────────────────────────────────────────────────────────────

  /** Puts calls out, at most `maxParallel` at once, and parks the turn until a result or a deadline. */
  async #makeCalls(
    turn: Turn,
    history: readonly StoredEntry[],
    settings: Settings,
  ): Promise<"on" | "parked"> {
    const now = Date.now();
    const open = openCalls(history.filter((entry) => entry.turn === turn.n));
    const out = open.filter((call) => this.#out.has(call.id));
    const overdue = out.filter((call) => this.#dueAt(call) <= now);
    const room = Math.max(0, settings.limits.maxParallel - out.length);
    const due = [...open.filter((call) => !this.#out.has(call.id)).slice(0, room), ...overdue];
    if (due.length > 0) {
      await this.#lease();
      const tainted = history.some(isTainted);
      const failed = await Promise.all(due.map((call) => this.#submit(turn, call, tainted)));
      const unreached = failed.filter((call) => call !== undefined);
      if (unreached.length > 0) this.#homeFailed(turn, unreached);
    }
    const left = this.#openCalls(turn);
    // Something was settled on the spot: there is room for another call, or the batch is complete.
    if (left.length < open.length) return "on";
    const deadlines = left.filter((call) => this.#out.has(call.id)).map((call) => this.#dueAt(call));
    const retryAt = this.#transcript.turn(turn.id)?.notBefore ?? 0;
    if (retryAt > now) deadlines.push(retryAt);
    // Home may be late itself: it is asked again, but not at once for ever.
    await this.#wakeBy(Math.max(Math.min(...deadlines), now + HOME_RETRY_MS));
    return "parked";
  }

  /** When Home is asked what became of a call. */
  #dueAt(call: StoredCall): number {
    return (this.#out.get(call.id)?.deadline ?? 0) + DEADLINE_GRACE_MS;
  }

  /** Gives one call to Home, or answers it on the spot. @returns the call, when Home did not take it */
  async #submit(turn: Turn, call: StoredCall, tainted: boolean): Promise<StoredCall | undefined> {
    const checked = checkEdgeCall(call);
    if (!checked.ok) {
      this.#settle(call.id, checked.outcome);
      return undefined;
    }
    try {
      const reply = await this.#home().submit({
        id: call.id,
        conversation: this.#name(),
        args: checked.args,
        caller: { principal: turn.origin.principal, role: turn.origin.role, channel: turn.origin.channel },
        watched: this.#waiters.watched(turn.id),
        tainted,
      });
      if (reply.accepted) this.#out.set(call.id, { deadline: reply.deadline, at: Date.now() });
      else this.#settle(call.id, reply.outcome);
      return undefined;
    } catch (error) {
      logError("call.submit_failed", error, { turn: turn.id, call: call.id });
      return call;
    }
  }

  /** Home is being replaced, or is overloaded: the calls are given to it again, a few times. */
  #homeFailed(turn: Turn, calls: readonly StoredCall[]): void {
    if (this.#transcript.countAttempt(turn.n) <= MAX_ATTEMPTS) {
      this.#transcript.postpone(turn.n, Date.now() + HOME_RETRY_MS);
      return;
    }
    const text = errorText.outcomeUnknown("this call");
    for (const call of calls)
      this.#settle(call.id, { status: "error", errorType: "outcome_unknown", text, elapsedMs: 0 });
  }

  #settle(callId: string, outcome: Outcome): boolean {
    const n = this.#transcript.settle(callId, outcome, this.#out.get(callId)?.at);
    this.#out.delete(callId);
    if (n === undefined) return false;
    const turn = this.#waiters.any() ? this.#transcript.turnAt(n) : undefined;
    if (turn) this.#tellNewest(turn);
    return true;
  }

  #openCalls(turn: Turn): StoredCall[] {
    return openCalls(this.#transcript.entriesOf(turn.n));
  }

  // ── the end of a turn, and who hears of it ──────────────────────────────────────────────────────────

  #finish(turn: Turn, status: "done" | "failed" | "cancelled", answer: string, error?: string): void {
    if (!this.#transcript.finish(turn, status, answer, error)) return;
    const ended = this.#transcript.turn(turn.id);
    if (ended && this.#waiters.any(turn.id)) {
      for (const event of this.#eventsAfter(ended, (ended.finishedSeq ?? 1) - 1))
        this.#waiters.tell(turn.id, event);
    }
    this.#waiters.end(turn.id);
  }

  /** Somebody came to watch after the calls were sent. */
  async #watch(calls: string[]): Promise<void> {
    try {
      await this.#home().watch(calls);
    } catch (error) {
      logError("watch.failed", error, { conversation: this.ctx.id.name });
    }
  }

  #eventsAfter(turn: Turn, after: number): TurnEvent[] {
    return eventsAfter(
      turn,
      this.#transcript.entriesOf(turn.n),
      this.#transcript.questions.of(turn.n),
      after,
    );
  }

  /** Sends what the last write brought. */
  #tellNewest(turn: Turn): void {
    this.#tellSince(turn, this.#transcript.lastSeq() - 1);
  }

  /** Sends what rows say since a seq: the same events that a client gets that attaches later. */
  #tellSince(turn: Turn, after: number): void {
    if (!this.#waiters.watched(turn.id)) return;
    for (const event of this.#eventsAfter(turn, after)) this.#waiters.tell(turn.id, event);
  }

  #result(turn: Turn): TurnResult {
    return resultOf(turn, this.#transcript.entriesOf(turn.n), this.#transcript.questions.of(turn.n));
  }

  async #lease(): Promise<void> {
    await this.#wakeBy(Date.now() + LEASE_MS);
  }

  /**
   * Sets the alarm, unless it stands earlier: it is a row each time, and whoever it wakes looks what is due. So
   * a conversation pays for one alarm per lease, which at the end fires once, finds nothing, and is not set anew.
   */
  async #wakeBy(time: number): Promise<void> {
    if (this.#alarmAt !== undefined && this.#alarmAt <= time && this.#alarmAt > Date.now()) return;
    this.#alarmAt = time;
    await this.ctx.storage.setAlarm(time);
  }

  /** A stub that threw is broken, so each use gets a new one. */
  #home() {
    return homeOf(this.env, this.#name().split("/", 1)[0] ?? "");
  }

  /** `home/channel/id`, given by the route that made the object. */
  #name(): string {
    if (!this.ctx.id.name) throw new Error("a conversation is reached by its name only");
    return this.ctx.id.name;
  }
}

function openCalls(entries: readonly StoredEntry[]): StoredCall[] {
  return entries.flatMap((entry) =>
    entry.role === "assistant" ? entry.calls.filter((call) => call.outcome === undefined) : [],
  );
}

/** Whether an entry brought a stranger's text: a device's file or web page, or a person's picture. */
function isTainted(entry: StoredEntry): boolean {
  if (entry.role === "user") return (entry.images?.length ?? 0) > 0;
  return entry.role === "assistant" && entry.calls.some((call) => call.outcome?.tainted === true);
}
