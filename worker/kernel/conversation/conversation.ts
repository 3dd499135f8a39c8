/**
 * One conversation: its transcript and the tool loop over it.
 *
 * A loop advances its turns (turn-loop.ts). Everything that happens (a new turn, a result, a cancel, an alarm) writes a row
 * and sets the loop going. The loop keeps nothing in memory that a row does not say, so after an eviction, a deploy or a kill
 * it goes on by reading rows. While a device works nothing waits here: the calls are out, the alarm stands at their
 * deadline, and the object may sleep.
 */
import { DurableObject } from "cloudflare:workers";
import type { Outcome } from "@edgecall/core/loop/history.ts";
import { joinSources } from "@edgecall/core/loop/taint.ts";
import type { AskedPerson, TurnQuestion, TurnResult } from "../api/answers.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "../api/backup.ts";
import type { Briefing } from "../api/briefing.ts";
import type { ConversationApi } from "../api/conversation-api.ts";
import type { BroughtFiles, KeptFile } from "../api/files.ts";
import type { MediaContent, NewMedia } from "../api/media.ts";
import type { Handed, Notice, PressedButton } from "../api/notices.ts";
import type { QuestionToPerson } from "../api/questions.ts";
import {
  STARTED_TURN,
  STARTS_TURN,
  type StartRequest,
  type StartRule,
  TURN_HEADER,
} from "../api/start-turn.ts";
import { homeOf } from "../api/stubs.ts";
import type { CallProgress } from "../api/turn-events.ts";
import type { HistoryPage, HistoryPlace, NewTurn, TurnInput } from "../api/turns.ts";
import { backupPage, dropStaleImport, hasStaleImport, restoreStep } from "../backup.ts";
import type { Env } from "../env.ts";
import { isBlank, migrate, type NewerRowsError, newerRows, postponeAlarm } from "../migrate.ts";
import { closeQuietly } from "../sockets.ts";
import { readClientContext } from "./client-history.ts";
import type { ConversationContext } from "./context.ts";
import { type ConversationFeature, notifyEnds, openConversation } from "./feature.ts";
import { lostClientsOf } from "./lost-clients.ts";
import { meanwhile } from "./meanwhile.ts";
import { canTell, onApproval, onBriefing, onNotice, onPressed } from "./notices.ts";
import type { ConversationAccess } from "./part.ts";
import {
  isAwaited,
  onAskedMore,
  onLateResult,
  onQuestion,
  onQuestionClosed,
  onResult,
  onSessionEnded,
  waitForPerson,
} from "./results.ts";
import { forgetSessions, wipe } from "./retention.ts";
import type { Turn } from "./store/rows.ts";
import { CONVERSATION_MIGRATIONS } from "./store/schema.ts";
import { Transcript } from "./store/transcript.ts";
import { Subscribers } from "./subscribers.ts";
import { watchCalls } from "./tool-calls.ts";
import { turnInput } from "./turn-input.ts";
import { drive, resume } from "./turn-loop.ts";
import { begunResult, historyPage, turnResult } from "./turn-view.ts";
import { beginTurn, cancelTurn, cancelTurns } from "./turns.ts";

/** worker/conversation.ts gives it its features. */
export class ConversationObject extends DurableObject<Env> implements ConversationApi {
  readonly #features: readonly ConversationFeature[];
  /**
   * Undefined: there were no rows when the object was built, and nothing is to be stored. A look at a made-up name leaves
   * nothing behind, and neither does what comes for a conversation that is gone.
   */
  #opened: ConversationContext | undefined;
  #newer: NewerRowsError | undefined;

  constructor(ctx: DurableObjectState, env: Env, features: readonly ConversationFeature[]) {
    super(ctx, env);
    this.#features = features;
    if (hasStaleImport(ctx)) void ctx.blockConcurrencyWhile(() => dropStaleImport(ctx));
    this.#newer = newerRows(ctx.storage, CONVERSATION_MIGRATIONS);
    if (this.#newer || isBlank(ctx.storage)) return;
    migrate(ctx.storage, CONVERSATION_MIGRATIONS);
    const { alarm } = this.#made();
    void ctx.blockConcurrencyWhile(() => alarm.read());
  }

  /** Before the first thing is stored, which makes the tables (store/tables.ts). */
  #made(): ConversationContext {
    this.#opened = this.#context ?? openConversation(this.ctx, this.env, this.#features);
    return this.#opened;
  }

  /** Undefined: nothing was ever stored. @throws NewerRowsError */
  get #context(): ConversationContext | undefined {
    if (this.#newer) throw this.#newer;
    return this.#opened;
  }

  /** What its parts may do with it. */
  get access(): ConversationAccess {
    const context = () => this.#context;
    const made = () => this.#made();
    return {
      get context() {
        return context();
      },
      get made() {
        return made();
      },
    };
  }

  // ── turns ───────────────────────────────────────────────────────────────────────────────────────────

  async start(request: NewTurn, rule: StartRule, withinMs = 0): Promise<TurnResult | undefined> {
    const context = this.#made();
    const turn = this.#begin(context, request, rule);
    if (turn?.status !== "running" || withinMs <= 0) return turn && turnResult(context.transcript, turn);
    lostClientsOf(context).attached(turn.id);
    const why = await context.subscribers.held.hold(request.id, turn.id, withinMs);
    if (why === "later" && turn.origin.client) lostClientsOf(context).expect(turn.id);
    const { transcript } = context;
    transcript.writeAll();
    const now = transcript.turn(turn.id);
    return now ? turnResult(transcript, now) : begunResult(turn);
  }

  async letGo(request: string): Promise<void> {
    this.#context?.subscribers.held.left(request);
  }

  /** No await before the rows are written: two who begin at once are told apart here. @returns undefined: the rule does not take it */
  #begin(context: ConversationContext, request: NewTurn, rule: StartRule): Turn | undefined {
    const taken =
      rule === "any" ? request : rule === "own" ? this.#ofOwn(request) : acceptWithin(context, request, rule);
    if (!taken) return undefined;
    const turn = beginTurn(context, { ...taken, idempotency: idempotencyOf(taken) });
    if (turn.origin.client) lostClientsOf(context).expect(turn.id);
    if (turn.status === "running") drive(context);
    // Without a model, for example, the turn has ended by now.
    return context.transcript.turn(turn.id);
  }

  #ofOwn(request: NewTurn): NewTurn | undefined {
    const by = this.#beganBy();
    return by === undefined || by === request.origin.principal ? request : undefined;
  }

  async look(turnId: string): Promise<TurnResult | undefined> {
    const context = this.#shown();
    const turn = context?.transcript.turn(turnId);
    return context && turn && turnResult(context.transcript, turn);
  }

  async lookStored(turnId: string): Promise<TurnResult | undefined> {
    return this.#storedTurn(turnId) && (await this.look(turnId));
  }

  async answersOf(turnIds: readonly string[]): Promise<Array<TurnResult | undefined>> {
    const context = this.#shown();
    return turnIds.map((id) => {
      const turn = this.#storedTurn(id);
      const result = turn && context && turnResult(context.transcript, turn);
      return result && { ...result, calls: result.calls.map(({ result: _, ...call }) => call) };
    });
  }

  async inputOf(turnId: string): Promise<TurnInput[] | undefined> {
    const turn = this.#storedTurn(turnId);
    return turn && this.#context && turnInput(this.#context.transcript, turn);
  }

  /** What somebody is shown has its row: a crash must not take it back. */
  #shown(): ConversationContext | undefined {
    const context = this.#context;
    context?.transcript.writeAll();
    return context;
  }

  #storedTurn(turnId: string): Turn | undefined {
    const turn = this.#context?.transcript.turn(turnId);
    return turn?.origin.unstored ? undefined : turn;
  }

  async meanwhile(turnId: string, origin: string, ends?: string): Promise<TurnResult | undefined> {
    const context = this.#shown();
    const turn = context?.transcript.turn(turnId);
    return context && turn && meanwhile(context, turn, origin, ends);
  }

  async history(place: HistoryPlace): Promise<HistoryPage> {
    const context = this.#shown();
    return context ? historyPage(context.transcript, place) : { turns: [], before: null };
  }

  async cancel(turnId: string): Promise<TurnResult | undefined> {
    const context = this.#context;
    const turn = context?.transcript.turn(turnId);
    if (!context || !turn) return undefined;
    if (turn.status === "running") {
      await cancelTurn(context, turn);
      drive(context);
    }
    return await this.look(turnId);
  }

  // ── clients ─────────────────────────────────────────────────────────────────────────────────────────

  async adopt(request: string, principal: string): Promise<string | undefined> {
    const context = this.#context;
    return context && (await lostClientsOf(context).adopt(request, principal))?.id;
  }

  async leave(turnId: string): Promise<void> {
    const context = this.#context;
    const turn = context?.transcript.turn(turnId);
    if (!context || turn?.status !== "running") return;
    if (!lostClientsOf(context).left(turn)) await this.cancel(turnId);
  }

  /** Only the Worker gets here. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const isLive = url.searchParams.has("live");
    if (url.pathname === "/follow") return this.#follow();
    if (url.pathname === STARTS_TURN)
      return this.#startAndAttach(request.headers.get(TURN_HEADER) ?? "", isLive);
    const context = this.#context;
    const turn = context?.transcript.turn(url.searchParams.get("turn") ?? "");
    if (!context || !turn) return new Response("no such turn", { status: 404 });
    return this.#attach(context, turn, Number(url.searchParams.get("after") ?? 0), isLive);
  }

  #startAndAttach(text: string, isLive: boolean): Response {
    // SAFETY: our own Worker sent it (http/start-turn.ts).
    const { turn: request, rule } = JSON.parse(text) as StartRequest;
    const context = this.#made();
    const turn = this.#begin(context, request, rule);
    if (!turn) return new Response("not taken", { status: 409 });
    const response = this.#attach(context, turn, 0, isLive);
    response.headers.set(STARTED_TURN, turn.id);
    return response;
  }

  #attach(context: ConversationContext, turn: Turn, after: number, isLive: boolean): Response {
    context.transcript.writeAll();
    const response = context.subscribers.attach(turn, after, isLive);
    if (!response) return new Response("nothing more", { status: 410 });
    lostClientsOf(context).attached(turn.id);
    if (turn.status === "running") {
      // After a crash the client attaches again before the alarm fires.
      resume(context);
      // Devices send their output only while a client watches.
      if (isLive) context.later(watchCalls(context, turn));
    }
    return response;
  }

  /** It stores nothing, also in a conversation that is not there yet. */
  #follow(): Response {
    const context = this.#context;
    if (!context) return new Subscribers(this.ctx, new Transcript(this.ctx.storage)).follow([]);
    context.transcript.writeAll();
    const running = context.transcript.turns().filter(({ status }) => status === "running");
    const response = context.subscribers.follow(running);
    if (running.length > 0) resume(context);
    for (const turn of running) context.later(watchCalls(context, turn));
    return response;
  }

  override async webSocketMessage(): Promise<void> {
    // Clients only listen.
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    closeQuietly(socket, "bye");
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    closeQuietly(socket, "bye");
  }

  // ── what Home brings ────────────────────────────────────────────────────────────────────────────────

  async settle(callId: string, outcome: Outcome, rosterVersion?: number): Promise<void> {
    if (this.#context) await onResult(this.#context, callId, outcome, rosterVersion);
  }

  async late(callId: string, by: string, outcome: Outcome, isJob: boolean): Promise<void> {
    if (this.#context) await onLateResult(this.#context, callId, by, outcome, isJob);
  }

  async sessionEnded(callId: string, turnId: string, outcome: Outcome): Promise<boolean> {
    return this.#context ? await onSessionEnded(this.#context, callId, turnId, outcome) : true;
  }

  async notice(notice: Notice): Promise<Handed> {
    return await onNotice(this.#made(), notice);
  }

  async canTell(by: string | null): Promise<Handed | undefined> {
    return await canTell(this.#made(), by);
  }

  async brief(briefing: Briefing): Promise<Handed> {
    return await onBriefing(this.#made(), briefing);
  }

  async pressed(press: PressedButton, words: string): Promise<boolean> {
    return this.#context !== undefined && onPressed(this.#context, press, words);
  }

  async asked(question: string): Promise<{ question: TurnQuestion; principal: string } | undefined> {
    return this.#context?.transcript.question(question);
  }

  async ask(asked: QuestionToPerson): Promise<void> {
    if (this.#context) await onQuestion(this.#context, asked);
  }

  async askedMore(id: string, all: AskedPerson[], since: AskedPerson[]): Promise<void> {
    if (this.#context) await onAskedMore(this.#context, id, all, since);
  }

  async isAwaited(call: string): Promise<boolean> {
    return this.#context !== undefined && (await isAwaited(this.#context, call));
  }

  async decide(asked: QuestionToPerson): Promise<Handed> {
    return await onApproval(this.#made(), asked);
  }

  async waits(call: string, until: number): Promise<void> {
    if (!this.#context) return;
    waitForPerson(this.#context, call, until);
    drive(this.#context);
  }

  async closeQuestion(
    id: string,
    answer: string,
    by: string | null,
    name?: string,
    how?: string,
  ): Promise<void> {
    if (this.#context) await onQuestionClosed(this.#context, id, answer, { by, name, how });
  }

  async progress(data: CallProgress, note?: string): Promise<void> {
    this.#context?.subscribers.callEvent({ event: "progress", data });
    if (note !== undefined) this.#context?.chat?.note(data.call, note);
  }

  async accepted(call: string, at: number): Promise<void> {
    this.#context?.subscribers.callEvent({ event: "accepted", data: { call, at } });
  }

  // ── what is kept, and for whom ──────────────────────────────────────────────────────────────────────

  async belongs(): Promise<{ principal: string | undefined } | undefined> {
    const principal = this.#beganBy();
    return principal !== undefined || this.#context?.media.nextExpiry() !== undefined
      ? { principal }
      : undefined;
  }

  #beganBy(): string | undefined {
    return this.#context?.transcript.beganBy() ?? this.#context?.media.owner();
  }

  async keep(media: NewMedia, principal?: string): Promise<boolean> {
    const context = this.#made();
    const isKept = context.media.add(media);
    if (principal !== undefined && context.transcript.beganBy() === undefined)
      context.media.setOwner(principal);
    // The alarm has to stand at its expiry, also where no turn sets it.
    drive(context);
    return isKept;
  }

  async keepBrought({ pictures, ids, principal }: BroughtFiles): Promise<KeptFile[]> {
    for (const picture of pictures) await this.keep(picture, principal);
    return this.#context?.media.keptOf(ids) ?? [];
  }

  async media(id: string): Promise<MediaContent | undefined> {
    return this.#context?.media.get(id);
  }

  async forget(isParents = false): Promise<void> {
    const context = this.#context;
    if (context) {
      if (isParents) context.transcript.forgetParents();
      await cancelTurns(context);
      // Else a call that waits for its end would begin it anew.
      await notifyEnds(context);
    }
    const name = this.ctx.id.name ?? "";
    await homeOf(this.env, name.split("/", 1)[0] ?? "").conversations.forgetConversation(name);
    if (!context) return;
    await forgetSessions(context);
    await wipe(context);
  }

  async backup(from: BackupPlace | undefined): Promise<BackupPage> {
    return backupPage(this.ctx.storage, from);
  }

  async restore(step: RestoreStep): Promise<void> {
    const giveUp = () => new Transcript(this.ctx.storage).giveUpAll();
    await restoreStep({ ctx: this.ctx, migrations: CONVERSATION_MIGRATIONS, giveUp }, step);
  }

  override async alarm(): Promise<void> {
    if (this.#newer) return await postponeAlarm(this.ctx.storage);
    const context = this.#context;
    context?.alarm.isGone();
    await dropStaleImport(this.ctx);
    if (!context) return;
    if (!context.loop.isRunning) return drive(context);
    // The loop sets its own alarm when it parks; until then one has to stand.
    await context.alarm.renew();
    context.chat?.wake();
  }
}

/** The caller's key. Without one the turn's own id, by which the Worker's second try is known (`withRetry`). */
function idempotencyOf({ id, idempotency }: NewTurn): string {
  return idempotency ?? id;
}

/** @returns undefined: too many other turns wait for their end, or too much is held here for a chat that begins */
function acceptWithin(
  { transcript, isOneShot }: ConversationContext,
  request: NewTurn,
  { within, chars }: Exclude<StartRule, string>,
): NewTurn | undefined {
  if (transcript.turnByKey(idempotencyOf(request)) !== undefined) return request;
  const running = transcript.turns().filter(({ status }) => status === "running").length;
  const { brought } = request.origin;
  if (!brought) return running < within ? request : undefined;
  // A chat that goes on from a turn that runs on without its client belongs behind that turn.
  const mayQueue =
    isOneShot && transcript.turns().some(({ status, meanwhile }) => status === "running" && meanwhile);
  if (running >= within && !mayQueue) return undefined;
  const read = readClientContext(transcript, brought, isOneShot);
  const goesOn = transcript.turn(read.brought.after ?? "")?.status === "running";
  if (running >= (mayQueue && goesOn ? within + 1 : within)) return undefined;
  const isNew = read.brought.follows === undefined;
  if (isNew && chars !== undefined && transcript.heldChars() > chars) return undefined;
  const sources = joinSources(request.sources ?? [], read.sources);
  return { ...request, sources, origin: { ...request.origin, brought: read.brought } };
}
