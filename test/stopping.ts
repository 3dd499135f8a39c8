/** For tests inside workerd that stop an object in the middle of something, and look how it goes on. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, onTestFinished } from "vitest";
import { isBlank } from "../worker/migrate.ts";
import { until } from "./wait.ts";

/**
 * `evict`: the platform lets what is in flight come to its end, then forgets the instance; hibernating sockets
 * live on. `abort`: a crash here and now; whatever is in flight is lost, and every socket with it.
 */
export type How = "evict" | "abort";
export const HOWS: readonly How[] = ["evict", "abort"];

/** @param release opens what holds the object in its state: after a crash, but while an eviction waits for it */
export async function stop(how: How, stub: DurableObjectStub, release: () => unknown = () => {}) {
  if (how === "evict") {
    const evicted = evictDurableObject(stub);
    await release();
    await evicted;
  } else {
    await expect(runInDurableObject(stub, (_, ctx) => ctx.abort("crash"))).rejects.toThrow("crash");
    await release();
  }
}

export type Held = {
  /** Somebody is held. */
  reached(): Promise<void>;
  release(): void;
  /** After the release: whoever was held has gone on. */
  passed(): Promise<void>;
};

/**
 * Holds the calls of an object's method, before or after it does its work, so that whoever waits for it can be
 * stopped meanwhile. The method is the real one: the Worker runs in the isolate of its tests.
 */
export function hold<T extends object>(
  of: { prototype: T },
  method: keyof T & string,
  when: "before" | "after" = "before",
): Held {
  const prototype = of.prototype as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const real = prototype[method];
  if (!real) throw new Error(`there is no method ${method}`);
  let waiting = 0;
  let open = false;
  // A promise that another object's context resolves does not outlive that object, so it looks by itself.
  const wait = async () => {
    waiting += 1;
    await until(() => open, { every: 2, within: 20_000, what: `${method} is released` });
    waiting -= 1;
  };
  prototype[method] = async function (this: unknown, ...args: unknown[]) {
    if (when === "before") await wait();
    const result = await real.apply(this, args);
    if (when === "after") await wait();
    return result;
  };
  const release = () => {
    open = true;
    prototype[method] = real;
  };
  onTestFinished(release);
  return {
    release,
    reached: async () => void (await until(() => waiting > 0, { what: `${method} is called` })),
    passed: async () => void (await until(() => waiting === 0, { what: `${method} has gone on` })),
  };
}

/** Rows of an object, as they stand. */
export async function rowsOf<Row extends Record<string, SqlStorageValue>>(
  stub: DurableObjectStub,
  query: string,
): Promise<Row[]> {
  return await runInDurableObject(stub, (_, { storage }) =>
    // Before the first thing is stored there are no tables.
    isBlank(storage) ? [] : storage.sql.exec<Row>(query).toArray(),
  );
}

export async function alarmOf(stub: DurableObjectStub): Promise<number | null> {
  return await runInDurableObject(stub, (_, { storage }) => storage.getAlarm());
}
