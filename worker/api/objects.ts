/**
 * Stubs of the two objects, by name, new for each use: a stub that threw is broken.
 *
 * workers-types turns a result that holds `unknown` (a tool's arguments) into `never`, so the stubs are
 * typed by the classes' own methods.
 */
import type { Conversation } from "../conversation/conversation.ts";
import type { Env } from "../env.ts";
import type { Home } from "../home/home.ts";

export type ConversationStub = Pick<
  Conversation,
  | "start"
  | "receive"
  | "asked"
  | "startOwn"
  | "startWithin"
  | "adopt"
  | "leave"
  | "settle"
  | "late"
  | "ask"
  | "closeQuestion"
  | "progress"
  | "accepted"
  | "look"
  | "belongs"
  | "history"
  | "cancel"
  | "forget"
  | "backup"
  | "restore"
  | "keep"
  | "media"
  | "fetch"
>;
export type HomeStub = Pick<
  Home,
  | "plan"
  | "spent"
  | "admitToRelay"
  | "knowsKeyOf"
  | "relayed"
  | "budgetTold"
  | "modelFailed"
  | "modelAnswered"
  | "submit"
  | "watch"
  | "answer"
  | "questions"
  | "record"
  | "command"
  | "cancel"
  | "targets"
  | "agents"
  | "acceptText"
  | "audit"
  | "auditPage"
  | "outcome"
  | "status"
  | "metrics"
  | "turnEnded"
  | "toBackUp"
  | "backup"
  | "restore"
  | "admit"
  | "pairings"
  | "approvePairing"
  | "dismissPairing"
  | "removeSender"
  | "usage"
  | "conversationsOf"
  | "renameConversation"
  | "sharedWith"
  | "shareConversation"
  | "forgetConversation"
  | "connection"
  | "connections"
  | "keepConnection"
  | "dropConnection"
  | "enrolAgent"
  | "revokeAgentKey"
  | "removeAgent"
  | "keys"
  | "tokens"
  | "makeToken"
  | "revokeToken"
  | "useToken"
  | "makeDeviceCode"
  | "deviceCode"
  | "pairDevice"
  | "signManifest"
  | "updateBridge"
  | "fetch"
>;

/** @param name `home/channel/id` */
export function conversationOf(env: Env, name: string): ConversationStub {
  return env.CONVERSATION.getByName(name) as unknown as ConversationStub;
}

export function homeOf(env: Env, home: string): HomeStub {
  return env.HOME.getByName(home) as unknown as HomeStub;
}

/** An object that is being replaced (a deploy resets each) is back in a moment. */
const TRIES = 3;
const PAUSE_MS = 1_000;

/**
 * Asks again when an object was stopped in the middle of it: what it did is not known then, and whoever hears that it
 * went wrong would have it done a second time.
 * @param ask something that the object recognises by its id. With a new stub each time: one that has failed may be broken
 * @see https://developers.cloudflare.com/durable-objects/best-practices/error-handling/
 */
export async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      // The platform asks that it be left alone then.
      const isOverloaded = error instanceof Error && "overloaded" in error && error.overloaded === true;
      if (tries >= TRIES || isOverloaded) throw error;
      await scheduler.wait(PAUSE_MS);
    }
  }
}
