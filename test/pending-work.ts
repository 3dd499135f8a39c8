/**
 * What keeps an object in memory, and is billed, from compatibility date 2026-10-01 on: timers, promises of `waitUntil`, calls
 * between objects, and requests to others. For tests inside workerd, where both objects and the Worker run in the test's isolate.
 */
import { runInDurableObject } from "cloudflare:test";
import { DurableObject, env } from "cloudflare:workers";
import { onTestFinished } from "vitest";
import { Conversation } from "../worker/conversation.ts";
import { Home } from "../worker/home.ts";

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Code that runs in the Worker alone. A Worker pays for its CPU time, and not for what it waits for. */
const WORKER_ALONE =
  /\/worker\/(kernel\/(http|routes)\/|features\/(openai|mcp|console)\/|features\/\w+\/[a-z-]*routes?[/.]|index)/;

export type WatchedObjects = {
  /** What is pending now, each with the place in our code that began it. */
  pending(): string[];
  /** The methods of objects that were entered since then. */
  entered: string[];
};

export async function watchObjects(): Promise<WatchedObjects> {
  const pending = new Map<object, string>();
  const entered: string[] = [];
  const begin = (what: string): object | undefined => {
    // The test's own waits are nobody's cost.
    const place = (new Error().stack ?? "")
      .split("\n")
      .find((line) => /\/(worker|core)\/[^ ]*\.ts/.test(line) && !line.includes(".test.ts"));
    if (place === undefined || WORKER_ALONE.test(place)) return undefined;
    const key = {};
    pending.set(key, `${what} ${/\/((?:worker|core)\/[^ ?)]*\.ts:\d+)/.exec(place)?.[1] ?? place.trim()}`);
    return key;
  };
  const end = (key: object | undefined) => key && pending.delete(key);
  const follow = (what: string, work: unknown) => {
    const key = begin(what);
    if (key)
      void Promise.resolve(work).then(
        () => end(key),
        () => end(key),
      );
  };
  const replace = (on: object, name: string, by: (real: Method) => Method) => {
    const real = Reflect.get(on, name) as Method;
    Object.defineProperty(on, name, { value: by(real), configurable: true, writable: true });
    onTestFinished(
      () => void Object.defineProperty(on, name, { value: real, configurable: true, writable: true }),
    );
  };

  const timers = new Map<unknown, object | undefined>();
  replace(globalThis, "setTimeout", (real) => (call, ...rest) => {
    const key = begin("timer");
    const timer = real.call(
      globalThis,
      (...args: unknown[]) => {
        end(key);
        (call as Method)(...args);
      },
      ...rest,
    );
    timers.set(timer, key);
    return timer;
  });
  replace(globalThis, "setInterval", (real) => (...args) => {
    const timer = real.apply(globalThis, args);
    timers.set(timer, begin("interval"));
    return timer;
  });
  for (const name of ["clearTimeout", "clearInterval"])
    replace(globalThis, name, (real) => (timer) => {
      end(timers.get(timer));
      return real.call(globalThis, timer);
    });
  // Its timer cannot be seen, and stays until its time is over.
  replace(AbortSignal, "timeout", (real) => (ms) => {
    const key = begin("AbortSignal.timeout");
    const signal = real.call(AbortSignal, ms) as AbortSignal;
    signal.addEventListener("abort", () => end(key));
    return signal;
  });
  replace(scheduler, "wait", (real) => (...args) => {
    const work = real.apply(scheduler, args);
    follow("wait", work);
    return work;
  });
  replace(globalThis, "fetch", (real) => (...args) => {
    const work = real.apply(globalThis, args);
    follow("fetch", work);
    return work;
  });
  const state = await runInDurableObject(env.HOME.getByName("a"), (_, ctx) => Object.getPrototypeOf(ctx));
  replace(
    state,
    "waitUntil",
    (real) =>
      function (work) {
        follow("waitUntil", work);
        return real.call(this, work);
      },
  );
  for (const { prototype, name } of [Home, Conversation])
    for (const [method, { value }] of methodsOf(prototype)) {
      const isMethod = typeof value === "function";
      if (method === "constructor" || !isMethod) continue;
      replace(
        prototype,
        method,
        (real) =>
          function (...args) {
            const key = {};
            pending.set(key, `${name}.${method}`);
            entered.push(`${name}.${method}`);
            const work = real.apply(this, args);
            void Promise.resolve(work).then(
              () => end(key),
              () => end(key),
            );
            return work;
          },
      );
    }
  return { pending: () => [...pending.values()], entered };
}

/** Its own, and those of the classes of ours that it extends. */
function methodsOf(prototype: object): Array<[string, PropertyDescriptor]> {
  if (prototype === DurableObject.prototype) return [];
  const inherited = methodsOf(Object.getPrototypeOf(prototype));
  return [...inherited, ...Object.entries(Object.getOwnPropertyDescriptors(prototype))];
}
