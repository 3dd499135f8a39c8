/** The rows that a turn writes in its conversation: Cloudflare bills each, and each alarm that is set as one more. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { MAX_ATTEMPTS } from "@edgecall/core/loop/retry.ts";
import { expect, test } from "vitest";
import { modelCalls, releaseModel } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { spawned } from "../../../test/sessions.ts";
import { rowsOf, stop, storedTurns } from "../../../test/stopping.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { agent, CPU, say, TestBridge } from "../../../test/workerd.ts";

type Written = { rows: number; alarms: number };

/** Counts what the object writes from now on. @returns what it wrote since the last time */
async function counting(id: string): Promise<() => Written> {
  let written: Written = { rows: 0, alarms: 0 };
  await runInDurableObject(env.CONVERSATION.getByName(`a/api/${id}`), (_, { storage }) => {
    const { sql } = storage;
    const exec = sql.exec.bind(sql);
    sql.exec = <Row extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
      const cursor = exec<Row>(query, ...bindings);
      // A cursor counts while it is read, and the function that opened it reads it to its end.
      queueMicrotask(() => {
        written.rows += cursor.rowsWritten;
      });
      return cursor;
    };
    const setAlarm = storage.setAlarm.bind(storage);
    storage.setAlarm = async (...args) => {
      written.alarms += 1;
      await setAlarm(...args);
    };
  });
  return () => {
    const since = written;
    written = { rows: 0, alarms: 0 };
    return since;
  };
}

async function done(id: string, text: string): Promise<void> {
  expect((await say(id, text)).body).toMatchObject({ status: "done" });
}

const cpu = { arguments: { agent_id: "pi", action: "cpu" } };
const answer = { text: "It is $results" };
const ONE_CALL = [{ calls: [cpu] }, answer];

test("a turn writes its begin, each reply with calls, the results but the last of a reply, and its end, and sets one alarm", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  bridge.onCall = (call) => {
    bridge.report(call.id, "pi", { status: "success", result: "load 0.5" });
    return undefined;
  };
  const id = `rows-${crypto.randomUUID()}`;
  const written = await counting(id);
  // The table of versions with its row, and the transcript's.
  const TABLES = 2 + 1 + 2;
  await done(id, script(...ONE_CALL));
  expect(written()).toEqual({ rows: TABLES + 3, alarms: 1 });
  // The next turn comes before the alarm.
  await done(id, script(...ONE_CALL));
  expect(written()).toEqual({ rows: 3, alarms: 0 });

  const stub = env.CONVERSATION.getByName(`a/api/${id}`);
  const longAfter = async (...steps: Parameters<typeof script>) => {
    await runDurableObjectAlarm(stub);
    written();
    await done(id, script(...steps));
    return written();
  };
  expect(await longAfter({ text: "Hello." })).toEqual({ rows: 2, alarms: 1 });
  expect(await longAfter(...ONE_CALL)).toEqual({ rows: 3, alarms: 1 });
  const other = { arguments: { ...cpu.arguments, params: { core: 1 } } };
  expect(await longAfter({ calls: [cpu, other] }, answer)).toEqual({ rows: 4, alarms: 1 });
  // An equal call shares the row of the one that ran.
  expect(await longAfter({ calls: [cpu, cpu] }, answer)).toEqual({ rows: 3, alarms: 1 });
  expect(await longAfter({ calls: [cpu] }, { calls: [cpu] }, answer)).toEqual({ rows: 4, alarms: 1 });
}, 20_000);

test("a turn that is offered the session tools and uses none writes what it wrote; a session is told of with one row", async () => {
  setVariables({ GATEWAY_TOOLS: "sessions" });
  const id = `offered-${crypto.randomUUID()}`;
  await done(id, script({ text: "Hello." }));
  const written = await counting(id);
  await done(id, script({ text: "Hello." }));
  expect(written()).toEqual({ rows: 2, alarms: 0 });
  // A call that waits for its session: the begin, the reply, the result and the end.
  const task = script({ text: "42" });
  const args = { task, timeout_seconds: 60 };
  await done(id, script({ calls: [{ name: "sessions_spawn", arguments: args }] }, answer));
  expect(written().rows).toBe(4);
  const [session] = await spawned();
  const kinds = () =>
    rowsOf<{ kind: string }>(env.CONVERSATION.getByName(`a/api/${session?.id}`), "SELECT kind FROM entry");
  await until(async () => (await kinds()).length === 3, { what: "the session is told of" });
  expect((await kinds()).map(({ kind }) => kind)).toEqual(["begin", "end", "told"]);
}, 20_000);

test("a step that is tried again writes its pause and its second try, and the pause sets an alarm", async () => {
  const id = `retried-${crypto.randomUUID()}`;
  await done(id, script({ text: "Hello." }));
  const written = await counting(id);
  await runDurableObjectAlarm(env.CONVERSATION.getByName(`a/api/${id}`));
  await done(id, script({ status: 429, headers: { "retry-after": "1" } }, { text: "At last." }));
  // The lease, the pause, and the lease of the second try.
  expect(written()).toEqual({ rows: 2 + 2, alarms: 3 });
}, 20_000);

test("a step that ends the object each time is given up after its tries, though its first try has no row", async () => {
  const id = `crashing-${crypto.randomUUID()}`;
  // A stub of an object that has crashed is broken.
  const stub = () => env.CONVERSATION.getByName(`a/api/${id}`);
  const text = script(
    ...Array.from({ length: MAX_ATTEMPTS + 1 }, () => ({ hold: id, step: { text: "never" } })),
  );
  // Its client is lost with one of the objects.
  const asked = say(id, text).catch(() => undefined);
  for (let tries = 1; tries <= MAX_ATTEMPTS; tries += 1) {
    await until(async () => (await modelCalls(text)) === tries, { what: `try ${tries}` });
    await stop("abort", stub());
    if (tries === 1) expect(await storedTurns(stub())).toMatchObject([{ status: "running", attempts: 1 }]);
    await runDurableObjectAlarm(stub());
  }
  const isOver = async () => (await storedTurns(stub()))[0]?.status !== "running";
  await until(isOver, { what: "the turn is given up" });
  expect(await storedTurns(stub())).toMatchObject([{ status: "failed", error: "gave_up" }]);
  await asked;
  expect(await modelCalls(text)).toBe(MAX_ATTEMPTS);
  await releaseModel(id);
}, 30_000);
