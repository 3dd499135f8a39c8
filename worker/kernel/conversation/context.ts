/** The state that the parts of a conversation share. The object makes one context, when it has rows. What one part keeps it reaches by a slot (slot.ts). */
import type { Tracer } from "@edgecall/core/trace/tracer.ts";
import type { HomeApi } from "../api/home-api.ts";
import type { Plan } from "../api/plan.ts";
import { homeOf } from "../api/stubs.ts";
import type { Env } from "../env.ts";
import { newTracer } from "../trace.ts";
import { Alarm } from "./alarm.ts";
import type { ChatView } from "./chat-view.ts";
import { runLater } from "./later.ts";
import { isOneShot } from "./one-shot.ts";
import { MediaStore } from "./store/media.ts";
import { Tables } from "./store/tables.ts";
import { Transcript } from "./store/transcript.ts";
import { Subscribers } from "./subscribers.ts";

/** A call that Home has. @property deadline when Home will have settled it @property at when Home took it (both epoch ms) */
/** @property asks a person is about to be asked for it, or is asked */
type SentCall = { deadline: number; at: number; asks?: true };

export class ConversationContext {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  /** `home/channel/id`, given by the route that made the object. */
  readonly name: string;
  /** The conversation is one question, or its client keeps it: a turn does not go on from the one before it. */
  readonly isOneShot: boolean;
  readonly tables: Tables;
  readonly transcript: Transcript;
  readonly media: MediaStore;
  readonly alarm: Alarm;
  readonly subscribers: Subscribers;
  /** Only a chat's conversation has one. */
  readonly chat: ChatView | undefined;

  // From here on: memory alone. An object that was rebuilt does without it, or finds it out again.

  /** Calls that Home has. After a rebuild they are given to Home again, which recognises them. */
  readonly sent = new Map<string, SentCall>();
  /** Calls that were never given to Home, as far as is certain: those that the model made in this object's life. */
  readonly unsent = new Set<string>();
  /** The model call that runs now. */
  modelCall: { turn: number; abort: AbortController } | undefined;
  /** Home's plan for the turn `turn` and its question, until that time (epoch ms) or until Home says that its roster changed. */
  plan: { plan: Plan; turn: number; text: string; until: number } | undefined;
  /** The loop over the turns (turn-loop.ts). `isParked`: it ended, and an alarm or a result sets it going again. */
  readonly loop = { isRunning: false, isDue: false, isParked: false };
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;

  /** @param chatOf makes what shows it in a chat app */
  constructor(
    ctx: DurableObjectState,
    env: Env,
    chatOf: (context: ConversationContext) => ChatView | undefined,
  ) {
    if (!ctx.id.name) throw new Error("a conversation is reached by its name only");
    this.ctx = ctx;
    this.env = env;
    this.name = ctx.id.name;
    this.isOneShot = isOneShot(this.name);
    this.tables = new Tables(ctx.storage);
    this.transcript = new Transcript(ctx.storage, this.isOneShot, this.tables);
    this.media = new MediaStore(ctx.storage, env, this.name, this.tables);
    this.alarm = new Alarm(ctx.storage);
    this.tracer = newTracer(env, "conversation", ctx);
    this.subscribers = new Subscribers(ctx, this.transcript);
    this.chat = chatOf(this);
  }

  /** A new stub for each use: one that threw is broken. */
  home(): HomeApi {
    return homeOf(this.env, this.name.split("/", 1)[0] ?? "");
  }

  /** Home said which version its roster has now; undefined: an older Home, which says nothing. */
  noteRosterVersion(version: number | undefined): void {
    if (this.plan?.plan.version !== version) this.plan = undefined;
  }

  /** For work that nobody waits for, and that may be lost in a crash. */
  later(work: Promise<unknown>): void {
    runLater(this.ctx, this.name, work);
  }

  /** After the rows were deleted. */
  forget(): void {
    this.transcript.forget();
    this.sent.clear();
    this.unsent.clear();
    this.plan = undefined;
  }
}
