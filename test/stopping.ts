/** For tests inside workerd that stop an object during its work and check how it continues. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, onTestFinished } from "vitest";
import type { Turn } from "../worker/kernel/conversation/store/rows.ts";
import { Transcript } from "../worker/kernel/conversation/store/transcript.ts";
import { isBlank } from "../worker/kernel/migrate.ts";
import { until } from "./wait.ts";

/**
 * `evict`: the platform lets pending work finish and then drops the instance; hibernating sockets survive. `abort`: an
 * immediate crash, which loses all pending work and every socket.
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
  /** Resolves when a call is held. */
  reached(): Promise<void>;
  release(): void;
  /** Resolves when the held calls have continued after the release. */
  passed(): Promise<void>;
};

/**
 * Holds the calls of an object's method, before or after its work, so that the caller can be stopped meanwhile. It is the real
 * method, because the Worker runs in the isolate of its tests.
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
  // It polls, because a promise that another object's context resolves does not outlive that object.
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

/** Reads rows of an object. */
export async function rowsOf<Row extends Record<string, SqlStorageValue>>(
  stub: DurableObjectStub,
  query: string,
): Promise<Row[]> {
  return await runInDurableObject(stub, (_, { storage }) =>
    // There are no tables before the first write.
    isBlank(storage) ? [] : storage.sql.exec<Row>(query).toArray(),
  );
}

/** The turns of a conversation, as an object that is rebuilt reads them. */
export async function storedTurns(stub: DurableObjectStub): Promise<Turn[]> {
  return await runInDurableObject(stub, (_, { storage }) => new Transcript(storage).turns());
}

/** The notes of the gateway in a conversation. */
export async function storedNotes(stub: DurableObjectStub): Promise<string[]> {
  return await runInDurableObject(stub, (_, { storage }) =>
    new Transcript(storage)
      .entriesBetween(0, Number.MAX_SAFE_INTEGER)
      .flatMap((entry) => (entry.role === "note" ? [entry.text] : [])),
  );
}

export async function alarmOf(stub: DurableObjectStub): Promise<number | null> {
  return await runInDurableObject(stub, (_, { storage }) => storage.getAlarm());
}
