/** Outcomes that their conversation cannot accept are delivered again, and not forever. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { madeHome } from "../../../../test/made-home.ts";
import { HOME_FEATURES } from "../../../home.ts";
import { Transcript } from "../../conversation/store/transcript.ts";
import { RetrySchedule } from "../../retry-schedule.ts";
import type { HomeContext } from "../context.ts";
import { openHome } from "../home.ts";
import { KEEP_SETTLED_MS, ledgerOf } from "../ledger/ledger.ts";
import { nextDue, onAlarm, settleFromReport } from "./outcome-delivery.ts";

const HOUR_MS = 3_600_000;
const CALLER = { principal: "anna", role: "owner", channel: "api" } as const;
const ORDER = { command: "tool", payload: {}, silenceMs: 1_000, totalMs: 1_000, idempotent: true };
const OUTCOME = { status: "success", text: "12 GB saved", elapsedMs: 1 } as const;

/** A home whose alarm is not set. */
function contextOf(ctx: DurableObjectState, armed: () => void = () => {}): HomeContext {
  const alarm = { arm: async () => armed(), wakeBy: async () => {}, onAlarm: async () => {} };
  return { ...openHome(ctx, env, HOME_FEATURES), alarm };
}

/** A conversation with an unanswered call that refuses late results for it. */
async function waitingConversation() {
  const name = `a/api/${crypto.randomUUID()}`;
  const stub = env.CONVERSATION.getByName(name);
  const call = crypto.randomUUID();
  await runInDurableObject(stub, (_, { storage }) => {
    const transcript = new Transcript(storage);
    const { turn } = transcript.begin({
      ...{ id: crypto.randomUUID(), idempotency: undefined, text: "save", images: [] },
      origin: CALLER,
    });
    transcript.addReply(turn.n, {
      after: transcript.lastSeq(),
      reply: {
        ...{ role: "assistant", text: "" },
        calls: [{ id: call, modelCallId: "c", name: "edge_call", args: {} }],
      },
      ...{ model: "m", usage: undefined },
    });
    transcript.finish(turn, "done", "later");
  });
  // The object without tables is evicted; the next one finds its rows.
  await evictDurableObject(stub);
  const answer = async () => {
    await runInDurableObject(stub, (_, { storage }) => {
      new Transcript(storage).settle(call, { ...OUTCOME, job: "token" });
    });
    await evictDurableObject(stub);
  };
  const told = () =>
    runInDurableObject(stub, (_, { storage }) => JSON.stringify(new Transcript(storage).call(call)?.outcome));
  return { name, call, answer, told };
}

test("a conversation that cannot accept an outcome gets it again, each time later, until it does", async () => {
  const { name, call, answer, told } = await waitingConversation();
  const home = await madeHome();
  const { context, due } = await runInDurableObject(home, async (_, ctx) => {
    let armed = 0;
    const context = contextOf(ctx, () => {
      armed += 1;
    });
    const began = Date.now();
    const job = ledgerOf(context).add(
      { id: "token", conversation: name, agent: "pi", caller: CALLER, order: ORDER, lateFor: call },
      1,
      "taken",
      began,
    );
    expect(await settleFromReport(context, job, OUTCOME)).toBe(true);
    expect(armed).toBe(1);
    const due = () => nextDue(context) ?? Number.NaN;
    expect(due()).toBeGreaterThanOrEqual(began + 2_000);
    expect(due()).toBeLessThan(Date.now() + 2_001);
    // Before that there is no attempt.
    const first = due();
    await onAlarm(context, first - 1);
    expect(due()).toBe(first);

    // After an hour of failed attempts: it is tried, and then not for an hour.
    ctx.storage.sql.exec("UPDATE call SET settled_at = ?", began - HOUR_MS);
    await onAlarm(context, first);
    expect(due()).toBeGreaterThanOrEqual(began + HOUR_MS);
    // After a day of them the pause is no longer.
    ctx.storage.sql.exec("UPDATE call SET settled_at = ?", began - 24 * HOUR_MS);
    await onAlarm(context, due());
    expect(due()).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    return { context, due };
  });
  await answer();
  await runInDurableObject(home, async () => {
    await onAlarm(context, due());
    expect(ledgerOf(context).undelivered()).toEqual([]);
    expect(nextDue(context)).toBeUndefined();
  });
  expect(await told()).toContain("12 GB saved");
});

test("after two days it is given up", async () => {
  const { name, call } = await waitingConversation();
  await runInDurableObject(await madeHome(), async (_, ctx) => {
    const context = contextOf(ctx);
    const job = ledgerOf(context).add(
      { id: "token", conversation: name, agent: "pi", caller: CALLER, order: ORDER, lateFor: call },
      1,
      "taken",
      Date.now(),
    );
    await settleFromReport(context, job, OUTCOME);
    // A rebuilt object knows no attempts, and begins at once.
    const rebuilt = { ...context, deliveryRetries: new RetrySchedule() };
    expect(nextDue(rebuilt)).toBe(0);
    await onAlarm(rebuilt, Date.now() + KEEP_SETTLED_MS + 1);
    expect(ledgerOf(context).undelivered()).toEqual([]);
    expect(nextDue(rebuilt)).toBeUndefined();
  });
});
