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
import { joinSources } from "@edgecall/core/loop/taint.ts";
import type { TurnQuestion, TurnResult } from "../api/answers.ts";
import type { BackupPage, BackupPlace, RestoreStep } from "../api/backup.ts";
import type { Accepted, Delivery } from "../api/chat.ts";
import type { ConversationApi } from "../api/conversation-api.ts";
import type { MediaContent, NewMedia } from "../api/media.ts";
import type { Plan } from "../api/plan.ts";
import type { QuestionToPerson } from "../api/questions.ts";
import { homeOf } from "../api/stubs.ts";
import type { HistoryPage, HistoryPlace, NewTurn } from "../api/turns.ts";
import { backupPage, dropStaleImport, hasStaleImport, restoreStep } from "../backup.ts";
import type { Env } from "../env.ts";
import { logError, logInfo } from "../log.ts";
import { isBlank, migrate } from "../migrate.ts";
import { modelFetch } from "../models/workers-ai.ts";
import { settingsOrError } from "../settings/settings.ts";
import { Alarm } from "./alarm.ts";
import { readBrought } from "./aligned.ts";
import { CallStep } from "./call-step.ts";
import { ChatDesk } from "./chat/desk.ts";
import { Driver } from "./driver.ts";
import { FromHome } from "./from-home.ts";
import { LostClients } from "./lost-clients.ts";
import { ModelStep } from "./model-step.ts";
import { isOneShot, oneShotEnded, oneShotEnds, oneShotLooks } from "./one-shot.ts";
import { MediaStore, mediaLimits } from "./store/media.ts";
import { CONVERSATION_MIGRATIONS } from "./store/schema.ts";
import { Transcript } from "./store/transcript.ts";
import type { Turn } from "./store/transcript-rows.ts";
import { gatewayTools } from "./tools/registry.ts";
import { TurnTeller } from "./turn-teller.ts";
import { cancelledAnswer } from "./turn-words.ts";
import { Waiters } from "./waiters.ts";

export class Conversation extends DurableObject<Env> implements ConversationApi {
  readonly #transcript: Transcript;
  readonly #media: MediaStore;
  readonly #waiters: Waiters;
  readonly #model: ModelStep;
  readonly #calls: CallStep;
  readonly #chat: ChatDesk;
  readonly #driver: Driver;
  readonly #tell: TurnTeller;
  readonly #fromHome: FromHome;
  readonly #alarm: Alarm;
  readonly #clients: LostClients;
  /**
   * No tables yet, or a crash while it was forgotten: whoever looks at a name that they made up, and what comes for a
   * conversation that is gone, leaves nothing behind.
   */
  #blank: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (hasStaleImport(ctx)) void ctx.blockConcurrencyWhile(() => dropStaleImport(ctx));
    this.#blank = isBlank(ctx.storage);
    if (!this.#blank) migrate(ctx.storage, CONVERSATION_MIGRATIONS);
    this.#alarm = new Alarm(ctx.storage);
    this.#transcript = new Transcript(ctx.storage, isOneShot(ctx.id.name ?? ""));
    this.#media = new MediaStore({
      storage: ctx.storage,
      name: () => this.#name(),
      limits: () => mediaLimits(env),
    });
    this.#waiters = new Waiters(ctx);
    this.#tell = new TurnTeller(this.#transcript, this.#waiters);
    this.#clients = new LostClients(this.#transcript, this.#waiters);
    const later = (work: Promise<unknown>) => this.#later(work);
    this.#calls = new CallStep({
      transcript: this.#transcript,
      name: () => this.#name(),
      home: () => this.#home(),
      tools: (settings) => gatewayTools(settings.tools, env),
      lease: () => this.#alarm.lease(),
      wakeBy: (time) => this.#alarm.by(time),
      watched: (turn) => this.#waiters.watched(turn.id),
      settled: (n, callId) => this.#tellSettled(n, callId),
    });
    this.#model = new ModelStep({
      name: () => this.#name(),
      transcript: this.#transcript,
      media: this.#media,
      home: () => this.#home(),
      tools: (settings) => gatewayTools(settings.tools, env),
      fetch: (baseUrl) => modelFetch(env.AI, baseUrl),
      lease: () => this.#alarm.lease(),
      fail: (turn, answer, code) => this.#finish(turn, "failed", answer, code),
      delta: (turn, text, at) => {
        this.#tell.said(turn, text, at);
        this.#chat.delta(turn, text, at);
      },
      waiting: (turn, until, text) =>
        this.#waiters.tell(turn.id, { event: "waiting", data: { until, text } }),
      reset: (turn) => {
        this.#tell.unsaid(turn);
        this.#chat.delta(turn, "", 0);
      },
      replied: (turn, seq) => {
        this.#tell.replied(turn, seq);
        this.#chat.progress(turn);
      },
      later,
    });
    this.#chat = new ChatDesk({
      storage: ctx.storage,
      env,
      transcript: this.#transcript,
      media: this.#media,
      name: () => this.#name(),
      home: () => this.#home(),
      lease: () => this.#alarm.lease(),
      wakeBy: (time) => this.#alarm.by(time),
      later,
      begin: (turn) => this.#begin(turn),
      drive: () => this.#drive(),
      end: (turn) => this.#end(turn),
      renew: () => this.#renew(),
    });
    this.#fromHome = new FromHome({
      transcript: this.#transcript,
      media: this.#media,
      calls: this.#calls,
      model: this.#model,
      chat: this.#chat,
      tell: this.#tell,
      isOneShot: () => isOneShot(this.#name()),
      drive: () => this.#drive(),
    });
    this.#driver = new Driver({
      transcript: this.#transcript,
      calls: this.#calls,
      model: this.#model,
      chat: this.#chat,
      name: () => this.#name(),
      settings: () => settingsOrError(env),
      later: (work) => ctx.waitUntil(work),
      wakeBy: (time) => this.#alarm.by(time),
      end: (turn) => this.#end(turn),
      finish: (turn, status, answer, error) => this.#finish(turn, status, answer, error),
      idle: () => this.#expire(),
    });
  }

  async start(request: NewTurn): Promise<TurnResult> {
    const turn = this.#begin({ ...request, idempotency: keyOf(request) });
    if (turn.origin.client) this.#clients.expect(turn.id);
    if (turn.status === "running") this.#drive();
    return this.#tell.result(turn);
  }

  async startOwn(request: NewTurn): Promise<TurnResult | undefined> {
    const by = this.#blank ? undefined : this.#beganBy();
    // No await before the rows are written: two who begin at once are told apart here.
    return by === undefined || by === request.origin.principal ? await this.start(request) : undefined;
  }

  /** The rows alone. */
  #begin(request: NewTurn): Turn {
    this.#makeTables();
    const { turn, as } = this.#transcript.begin(request);
    logInfo("turn.begun", { turn: turn.id, conversation: this.#name(), as });
    if (as !== "known") for (const picture of request.media ?? []) this.#media.add(picture);
    if (as !== "known") this.#tell.began(turn);
    // What the model is about to say is no answer to all that was said.
    if (as === "joined") this.#model.cancel(turn);
    return turn;
  }

  async startWithin(unfinished: number, request: NewTurn, chars?: number): Promise<TurnResult | undefined> {
    this.#makeTables();
    const turns = this.#transcript.turns().filter(({ status }) => status === "running");
    const isKnown = this.#transcript.turnByKey(keyOf(request)) !== undefined;
    if (isKnown) return await this.start(request);
    if (turns.length >= unfinished) return undefined;
    const { brought } = request.origin;
    if (!brought) return await this.start(request);
    const read = readBrought(this.#transcript, brought, isOneShot(this.#name()));
    const isNew = read.brought.follows === undefined;
    if (isNew && chars !== undefined && this.#transcript.heldChars() > chars) return undefined;
    const sources = joinSources(request.sources ?? [], read.sources);
    return await this.start({ ...request, sources, origin: { ...request.origin, brought: read.brought } });
  }

  async adopt(request: string, principal: string): Promise<string | undefined> {
    return this.#blank ? undefined : (await this.#clients.adopt(request, principal))?.id;
  }

  async leave(turnId: string): Promise<void> {
    const turn = this.#blank ? undefined : this.#transcript.turn(turnId);
    if (turn?.status === "running" && !this.#clients.left(turn)) await this.cancel(turnId);
  }

  async receive(delivery: Delivery): Promise<Accepted> {
    this.#makeTables();
    return await this.#chat.receive(delivery);
  }

  async asked(question: string): Promise<{ question: TurnQuestion; principal: string } | undefined> {
    return this.#blank ? undefined : this.#chat.question(question);
  }

  async settle(callId: string, outcome: Outcome, plan?: Plan): Promise<void> {
    if (!this.#blank) await this.#fromHome.settle(callId, outcome, plan);
  }

  async late(callId: string, by: string, outcome: Outcome, isJob: boolean): Promise<void> {
    if (!this.#blank) await this.#fromHome.late(callId, by, outcome, isJob);
  }

  async ask(asked: QuestionToPerson): Promise<void> {
    if (!this.#blank) this.#fromHome.ask(asked);
  }

  async closeQuestion(id: string, answer: string, by: string | null): Promise<void> {
    if (!this.#blank) this.#fromHome.closeQuestion(id, answer, by);
  }

  async progress(call: string, tool: string | undefined, text: string): Promise<void> {
    if (this.#blank) return;
    this.#tell.ofCall({ event: "progress", data: { call, ...(tool !== undefined && { tool }), text } });
  }

  async accepted(call: string, at: number): Promise<void> {
    if (this.#blank) return;
    this.#tell.ofCall({ event: "accepted", data: { call, at } });
  }

  async look(turnId: string): Promise<TurnResult | undefined> {
    const turn = this.#blank ? undefined : this.#transcript.turn(turnId);
    return turn && this.#tell.result(turn);
  }

  async belongs(): Promise<{ principal: string | undefined } | undefined> {
    if (this.#blank) return undefined;
    const principal = this.#beganBy();
    return principal !== undefined || this.#media.nextExpiry() !== undefined ? { principal } : undefined;
  }

  #beganBy(): string | undefined {
    return this.#transcript.beganBy() ?? this.#media.broughtFor();
  }

  async history(place: HistoryPlace): Promise<HistoryPage> {
    return this.#blank ? { turns: [], before: null } : this.#tell.history(place);
  }

  async cancel(turnId: string): Promise<TurnResult | undefined> {
    const turn = this.#blank ? undefined : this.#transcript.turn(turnId);
    if (!turn) return undefined;
    if (turn.status !== "running") return this.#tell.result(turn);
    await this.#end(turn);
    this.#drive();
    return this.look(turnId);
  }

  async #end(turn: Turn): Promise<void> {
    // Written down, and the alarm near: a crash while Home tells the devices must not let the turn go on.
    this.#transcript.cancelling(turn.n);
    await this.#alarm.lease();
    const sent = await this.#calls.cancel(turn);
    this.#finish(turn, "cancelled", cancelledAnswer(sent), "cancelled");
    this.#model.cancel(turn);
  }

  async keep(media: NewMedia, principal?: string): Promise<boolean> {
    this.#makeTables();
    const kept = this.#media.add(media);
    if (principal !== undefined && this.#transcript.beganBy() === undefined) this.#media.bringFor(principal);
    // Its time has to be set, also where no turn will.
    this.#drive();
    return kept;
  }

  async media(id: string): Promise<MediaContent | undefined> {
    return this.#blank ? undefined : this.#media.get(id);
  }

  async forget(): Promise<void> {
    if (!this.#blank)
      for (let turn = this.#transcript.currentTurn(); turn; turn = this.#transcript.currentTurn())
        await this.#end(turn);
    await this.#home().forgetConversation(this.#name());
    if (!this.#blank) await this.#wipe();
  }

  async backup(from: BackupPlace | undefined): Promise<BackupPage> {
    return backupPage(this.ctx.storage, from);
  }

  async restore(step: RestoreStep): Promise<void> {
    const giveUp = () => new Transcript(this.ctx.storage).giveUp();
    await restoreStep({ ctx: this.ctx, migrations: CONVERSATION_MIGRATIONS, giveUp }, step);
  }

  async #wipe(): Promise<void> {
    this.#waiters.closeAll();
    await this.ctx.storage.deleteAll();
    migrate(this.ctx.storage, CONVERSATION_MIGRATIONS);
    // It went with the rows.
    this.#alarm.isGone();
    this.#forgotten();
  }

  /** Forgets what was said; what has to be sent still is, and a repeat of what was delivered is still one. */
  #renew(): void {
    for (const table of [
      "turn",
      "message",
      "call",
      "question",
      "summary",
      "merged",
      "brought",
      "media",
      "media_part",
    ])
      this.ctx.storage.sql.exec(`DELETE FROM ${table}`);
    this.#forgotten();
  }

  /** Before the first thing is stored. */
  #makeTables(): void {
    if (!this.#blank) return;
    migrate(this.ctx.storage, CONVERSATION_MIGRATIONS);
    this.#blank = false;
  }

  #forgotten(): void {
    this.#transcript.forget();
    this.#calls.forget();
    this.#model.planned(undefined);
  }

  /** Only the Worker gets here. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/follow") return this.#follow();
    const turn = this.#blank ? undefined : this.#transcript.turn(url.searchParams.get("turn") ?? "");
    if (!turn) return new Response("no such turn", { status: 404 });
    const after = Number(url.searchParams.get("after") ?? 0);
    const missed = this.#tell.missedSince(turn, after);
    if (turn.status !== "running" && missed.length === 0)
      return new Response("nothing more", { status: 410 });
    const live = url.searchParams.has("live");
    const response = this.#waiters.accept(turn.id, missed, live, turn.status !== "running");
    this.#clients.attached(turn.id);
    if (turn.status === "running") {
      // After a crash the waiting room comes back before the lease does.
      this.#drive();
      // Devices send their output only while somebody looks.
      if (live) this.#later(this.#calls.watch(turn));
    }
    return response;
  }

  #follow(): Response {
    const running = this.#blank ? [] : this.#transcript.turns().filter(({ status }) => status === "running");
    const response = this.#waiters.follow(this.#blank ? [] : this.#tell.running());
    if (running.length > 0) this.#drive();
    for (const turn of running) this.#later(this.#calls.watch(turn));
    return response;
  }

  override async alarm(): Promise<void> {
    this.#alarm.isGone();
    await dropStaleImport(this.ctx);
    if (this.#blank) return;
    if (this.#driver.driving) {
      await this.#alarm.lease();
      this.#chat.wake();
    } else this.#drive();
  }

  override async webSocketMessage(): Promise<void> {
    // Waiters only listen.
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    this.#waiters.closed(socket);
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    this.#waiters.closed(socket);
  }

  /** Sets the driver going. Never awaited by callers: they return, and it goes on. */
  #drive(): void {
    this.#chat.wake();
    this.#driver.drive();
  }

  /** What is kept for a while only: pictures, and the whole of a one-shot: no route reaches it again. */
  async #expire(): Promise<void> {
    const now = Date.now();
    this.#transcript.release();
    const ends = oneShotEnds(this.#name(), this.#transcript.turns().at(-1));
    if (ends !== undefined && ends <= now) return await this.#wipe();
    if (ends !== undefined) this.#transcript.dropEnded(oneShotEnded(now));
    const looks = ends && Math.min(ends, oneShotLooks(this.#transcript.turns()[0], now));
    if ((this.#media.nextExpiry() ?? now + 1) <= now) this.#media.trim();
    const times = [looks, this.#media.nextExpiry()].filter((time) => time !== undefined);
    if (times.length > 0) await this.#alarm.by(Math.min(...times));
  }

  // ── the end of a turn, and who hears of it ──────────────────────────────────────────────────────────

  #finish(turn: Turn, status: "done" | "failed" | "cancelled", answer: string, error?: string): void {
    if (!this.#transcript.finish(turn, status, answer, error)) return;
    this.#clients.ended(turn);
    this.#tell.ended(turn);
    this.#chat.ended(turn);
    const name = this.#name();
    const told = this.#tell.counted(turn, { name, isOneShot: isOneShot(name) });
    if (told) this.#later(this.#home().turnEnded(told));
  }

  /** What nobody waits for, and what may be lost in a crash. */
  #later(work: Promise<unknown>): void {
    this.ctx.waitUntil(
      work.catch((error: unknown) => logError("later.failed", error, { conversation: this.ctx.id.name })),
    );
  }

  #tellSettled(n: number, callId: string): void {
    const turn = this.#transcript.turnAt(n);
    if (!turn) return;
    const call = this.#transcript.call(callId);
    if (call) this.#chat.forUser(turn, call);
    if (this.#waiters.any()) this.#tell.newest(turn);
    this.#chat.progress(turn);
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

/** The caller's key; without one its own id, by which the Worker's second try is known (`withRetry`). */
function keyOf({ id, idempotency }: NewTurn): string {
  return idempotency ?? id;
}
