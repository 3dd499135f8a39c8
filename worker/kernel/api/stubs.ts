/** Stubs of the two objects, by name. Each use makes a new one: a stub that threw is broken. */
import type { Env } from "../env.ts";
import type { ConversationApi } from "./conversation-api.ts";
import { flatName } from "./flat-names.ts";
import type { HomeApi } from "./home-api.ts";

// workers-types turns a result that holds `unknown` (a tool's arguments) into `never`: the interfaces stand in for its types.

/** @param name `home/channel/id` */
export function conversationOf(env: Env, name: string): ConversationApi {
  return env.CONVERSATION.getByName(name) as unknown as ConversationApi;
}

/** @returns the home with the kernel's methods */
export function homeOf(env: Env, home: string): HomeApi {
  // SAFETY: worker/home.ts defines a method for each.
  return byTopic(env.HOME.getByName(home)) as HomeApi;
}

/** @param topic of a feature, whose methods `Api` lists */
export function topicAt<Api>(env: Env, home: string, topic: string): Api {
  // SAFETY: worker/home.ts defines a method for each.
  return methodsOf(env.HOME.getByName(home), topic) as Api;
}

/** @param name `home/channel/id` @param topic of a feature, whose methods `Api` lists */
export function topicIn<Api>(env: Env, name: string, topic: string): Api {
  // SAFETY: worker/conversation.ts defines a method for each.
  return methodsOf(env.CONVERSATION.getByName(name), topic) as Api;
}

/** What a home has besides its topics. */
const WHOLE: ReadonlySet<string | symbol> = new Set([
  "fetch",
  "status",
  "namesToBackUp",
  "backup",
  "restore",
]);

type Stub = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** `home.calls.watch()` calls the object's method `calls.watch`. */
function byTopic(stub: object): unknown {
  const call =
    (name: string) =>
    (...args: unknown[]) =>
      (stub as Stub)[name]?.(...args);
  return new Proxy(
    {},
    {
      get(_, name) {
        // A promise that resolves with this asks it for `then`.
        if (name === "then" || typeof name === "symbol") return undefined;
        return WHOLE.has(name) ? call(name) : methodsOf(stub, name);
      },
    },
  );
}

function methodsOf(stub: object, topic: string): unknown {
  const methods = stub as Stub;
  const call =
    (method: string) =>
    async (...args: unknown[]) => {
      const name = `${topic}.${method}`;
      try {
        return await methods[name]?.(...args);
      } catch (error) {
        if (!isUnknown(name, error)) throw error;
        return await methods[flatName(name)]?.(...args);
      }
    };
  return new Proxy(
    {},
    { get: (_, method) => (typeof method === "symbol" || method === "then" ? undefined : call(method)) },
  );
}

/** The object is one of 0.3 (flat-names.ts). The name tells it from an error of another object that the method asked. */
function isUnknown(name: string, error: unknown): boolean {
  return (
    error instanceof TypeError &&
    error.message.includes("The RPC receiver does not implement") &&
    error.message.includes(`"${name}"`)
  );
}

/** An object that is being replaced (a deploy resets each) is back in a moment. */
const TRIES = 3;
const PAUSE_MS = 1_000;

/**
 * Asks again when an object was stopped before it answered. What it did is unknown then, and a caller who hears of an
 * error would have it done a second time.
 * @param ask something that the object recognises by its id; it makes a new stub each time
 */
export async function withRetry<T>(ask: () => Promise<T>, most = TRIES): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (tries >= most || comesAgain(error)) throw error;
      // With jitter: a deploy resets all objects at once.
      await scheduler.wait(PAUSE_MS * (0.5 + Math.random()));
    }
  }
}

/**
 * Whether the same call would fail in the same way: an overloaded object is to be left alone, and what an object's own
 * code threw it throws again.
 * @see https://developers.cloudflare.com/durable-objects/best-practices/error-handling/
 */
function comesAgain(error: unknown): boolean {
  const { overloaded, remote, retryable, durableObjectReset } = (error ?? {}) as PlatformError;
  return overloaded === true || (remote === true && retryable !== true && durableObjectReset !== true);
}

/** The platform's fields on an error of a stub. */
type PlatformError = Partial<Record<"overloaded" | "remote" | "retryable" | "durableObjectReset", boolean>>;
