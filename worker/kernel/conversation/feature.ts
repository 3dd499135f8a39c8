/**
 * What a feature adds to a conversation's object. worker/conversation.ts lists the features. The kernel calls what they give here,
 * and imports none of them.
 */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { HomeToolRequest, HomeTools } from "../api/home-tools.ts";
import type { PlannedNote } from "../api/plan.ts";
import type { PersonsSentence } from "../api/roster.ts";
import type { Env } from "../env.ts";
import type { Topics } from "../rpc-topics.ts";
import type { Settings } from "../settings/settings.ts";
import type { ChatView } from "./chat-view.ts";
import { ConversationContext } from "./context.ts";
import type { ConversationAccess } from "./part.ts";
import type { StoredCall, StoredEntry, Turn } from "./store/rows.ts";

/** Tools that a home runs, in a conversation. */
export type ConversationTools = HomeTools & {
  /** True where a turn's model is offered them, and they are answered. */
  isOffered(context: ConversationContext, turn: Turn, settings: Settings): boolean;
  /** The tool that a call means, which may have come by the name of another one. */
  meant?(call: StoredCall): Pick<HomeToolRequest, "name" | "args">;
  /** What Home has to know beside the call. */
  beside?(
    context: ConversationContext,
    turn: Turn,
    call: StoredCall,
    settings: Settings,
  ): Partial<HomeToolRequest>;
  /** The call's turn was cancelled while it waited. @returns its outcome; undefined: that of any call */
  cancel?(context: ConversationContext, call: StoredCall): Promise<Outcome | undefined>;
  /** A call that waited for a person's answer is made again then. */
  readonly asksAgain?: true;
};

/** Turns that need no model, as Home plans them (`PlannedReply`). */
export type Unaided = {
  /** @param history with the turn's own entries @returns the turn's sentence; undefined: a model has to answer it */
  sentence(
    context: ConversationContext,
    turn: Turn,
    history: readonly StoredEntry[],
    settings: Settings,
  ): PersonsSentence | undefined;
  /** The answer to a turn, from the outcomes of its planned calls. @param note of the plan @param skipped batches that did not run */
  tell(
    context: ConversationContext,
    told: { turn: Turn; note: PlannedNote; calls: readonly StoredCall[][]; skipped: number },
  ): Promise<string>;
};

export type ConversationFeature = {
  /** Its methods over RPC, by topic. */
  readonly rpc?: Topics<ConversationAccess>;
  /** Tools for the model. */
  readonly tools?: ConversationTools;
  readonly unaided?: Unaided;
  /** @returns undefined: the conversation takes place in no chat app */
  chat?(context: ConversationContext): ChatView | undefined;
  /** @returns words for the person, when no model may be asked for this turn any more */
  usedUp?(context: ConversationContext, turn: Turn): string | undefined;
  /** Tells of turns that have ended, which follows from the rows. @returns when to try again what could not be told (epoch ms) */
  notifyEnds?(context: ConversationContext): Promise<number | undefined>;
};

const lists = new WeakMap<ConversationContext, readonly ConversationFeature[]>();

export function openConversation(
  ctx: DurableObjectState,
  env: Env,
  features: readonly ConversationFeature[],
): ConversationContext {
  const context = new ConversationContext(ctx, env, (of) => {
    for (const { chat } of features) {
      const view = chat?.(of);
      if (view) return view;
    }
    return undefined;
  });
  lists.set(context, features);
  return context;
}

/** The features of a conversation, in the order of the list. */
export function featuresOf(context: ConversationContext): readonly ConversationFeature[] {
  return lists.get(context) ?? [];
}

/** The tools of features that a turn's model is offered. */
export function offeredTools(
  context: ConversationContext,
  turn: Turn,
  settings: Settings,
): ConversationTools[] {
  return featuresOf(context).flatMap(({ tools }) =>
    tools?.isOffered(context, turn, settings) ? [tools] : [],
  );
}

/** Tells of turns that have ended. @returns when to try again what could not be told (epoch ms) */
export async function notifyEnds(context: ConversationContext): Promise<number | undefined> {
  let next: number | undefined;
  for (const feature of featuresOf(context)) {
    const at = await feature.notifyEnds?.(context);
    if (at !== undefined) next = Math.min(at, next ?? at);
  }
  return next;
}
