/**
 * The unchanged objects and Worker with a counter in front of everything that Cloudflare bills: requests, rows, alarms,
 * and the time that the objects are awake. It is separate from the Worker, so that no deployment pays for the counting.
 */
import { Home as RealHome } from "../../worker/home.ts";
import worker, { Conversation as RealConversation } from "../../worker/index.ts";
import type { Actor, CostLine, Via } from "./lines.ts";

type Say = (line: CostLine) => void;

/** Wraps an object's storage with counters. Call it before the object is built. */
function countStorage(say: Say, of: Actor, ctx: DurableObjectState): void {
  const { storage } = ctx;
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  sql.exec = <Row extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
    const cursor = exec<Row>(query, ...bindings);
    // A cursor counts while it is read, and the function that opened it reads it to its end.
    queueMicrotask(() => say({ cost: "rows", of, read: cursor.rowsRead, written: cursor.rowsWritten }));
    return cursor;
  };
  const setAlarm = storage.setAlarm.bind(storage);
  storage.setAlarm = async (...args) => {
    say({ cost: "alarm", of, did: "set" });
    await setAlarm(...args);
  };
  const waitUntil = ctx.waitUntil.bind(ctx);
  ctx.waitUntil = (work) => {
    const from = Date.now();
    waitUntil(Promise.resolve(work).finally(() => say({ cost: "work", of, from, to: Date.now() })));
  };
}

const HANDLERS: Readonly<Record<string, Via>> = {
  fetch: "fetch",
  alarm: "alarm",
  webSocketMessage: "message",
  webSocketClose: "close",
};

type Method = (this: { ctx: DurableObjectState }, ...args: unknown[]) => Promise<unknown>;

/** Adds a counter to each method that can be called from outside: an object's public methods. */
function countRequests(say: Say, of: Actor, prototype: object, real: object): void {
  // A home has its topics' methods, and the kernel's below them.
  for (const name of [real, Object.getPrototypeOf(real)].flatMap(Object.getOwnPropertyNames)) {
    const method: unknown = Reflect.get(real, name);
    if (name === "constructor" || typeof method !== "function") continue;
    const counted: Method = async function (...args) {
      const from = Date.now();
      if (name === "alarm") say({ cost: "alarm", of, did: "runs" });
      try {
        return await (method as Method).apply(this, args);
      } finally {
        say({ cost: "request", of, via: HANDLERS[name] ?? "rpc", name, from, to: Date.now() });
        say({ cost: "size", of, bytes: this.ctx.storage.sql.databaseSize });
      }
    };
    Object.defineProperty(prototype, name, { value: counted, configurable: true, writable: true });
  }
}

type Handler = ExportedHandler<ConstructorParameters<typeof RealHome>[1]>;

/** @param say told of each thing that is billed @returns what a Worker's module exports */
export function countedBy(say: Say) {
  class Home extends RealHome {
    constructor(...args: ConstructorParameters<typeof RealHome>) {
      countStorage(say, "Home", args[0]);
      super(...args);
    }
  }
  countRequests(say, "Home", Home.prototype, RealHome.prototype);

  class Conversation extends RealConversation {
    constructor(...args: ConstructorParameters<typeof RealConversation>) {
      countStorage(say, "Conversation", args[0]);
      super(...args);
    }
  }
  countRequests(say, "Conversation", Conversation.prototype, RealConversation.prototype);

  const handler = {
    fetch(request, env, ctx) {
      say({ cost: "worker" });
      return worker.fetch(request, env, ctx);
    },
  } satisfies Handler;
  return { Home, Conversation, handler };
}
