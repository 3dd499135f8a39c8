/** A gateway that was off for more than a day: what its devices' ledgers have forgotten is never sent again. */
import { reset } from "cloudflare:test";
import { LEDGER_KEEP_MS } from "@edgecall/core/protocol/names.ts";
import { afterEach, expect, test } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { conversationOf, theHome } from "../../../../test/states.ts";
import { rowsOf, stop } from "../../../../test/stopping.ts";
import {
  AGENTS,
  deviceAsks,
  expectSounds,
  expectTurns,
  on,
  questionOf,
  results,
  siren,
  sounds,
} from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { say, TestBridge } from "../../../../test/workerd.ts";

const WITHIN_MS = 20_000;

// Each test has its own home.
afterEach(reset);

async function callOut(action = siren) {
  const bridge = await TestBridge.connect(AGENTS);
  const id = crypto.randomUUID();
  const waiting = say(id, script({ calls: [action] }, results));
  const call = await until(() => bridge.calls()[0]?.id, { what: "the call" });
  return { bridge, id, waiting, call };
}

const stopBoth = (id: string) => Promise.all([stop("abort", theHome()), stop("abort", conversationOf(id))]);

const begunBefore = (id: string, ms: number) =>
  rowsOf(
    conversationOf(id),
    `UPDATE entry SET body = json_set(body, '$.at', body ->> '$.at' - ${ms}) WHERE kind = 'begin'`,
  );

test(
  "a call that may have been sent a day ago is not sent again: its outcome is unknown",
  async () => {
    const { id, waiting } = await callOut();
    waiting.catch(() => {});
    await begunBefore(id, LEDGER_KEEP_MS);
    await stopBoth(id);
    const bridge = await TestBridge.connect(AGENTS);
    await expectTurns(id, [
      { answer: /unknown: it may or may not have run/, calls: [{ error_type: "outcome_unknown" }] },
    ]);
    expect(bridge.calls()).toEqual([]);
  },
  WITHIN_MS,
);

test(
  "a read of a day ago is read again, and a call of some hours ago is sent again",
  async () => {
    const cpu = on("pi", { action: "cpu" });
    for (const [action, age] of [
      [cpu, LEDGER_KEEP_MS],
      [siren, LEDGER_KEEP_MS - 2 * 3_600_000],
    ] as const) {
      const { id, waiting, call } = await callOut(action);
      await begunBefore(id, age);
      await stopBoth(id);
      const bridge = await TestBridge.connect(AGENTS);
      await until(() => bridge.calls().some((one) => one.id === call), { what: "the call" });
      bridge.report(call, "pi", sounds);
      await expectSounds(id, waiting);
    }
  },
  WITHIN_MS,
);

test(
  "a call whose question expired a day ago is given up, not sent again",
  async () => {
    const { bridge: first, id, waiting, call } = await callOut();
    waiting.catch(() => {});
    deviceAsks(first, call, { text: "Which lamp?", expires_in_ms: 600_000 });
    await questionOf(id);
    const times = ["sent_at", "created_at", "deadline", "ends_at"];
    const before = (column: string) => `${column} = ${column} - ${LEDGER_KEEP_MS}`;
    await rowsOf(theHome(), `UPDATE call SET ${times.map(before).join(", ")}`);
    await rowsOf(theHome(), `UPDATE question SET ${before("expires_at")}`);
    await stopBoth(id);
    const bridge = await TestBridge.connect(AGENTS);
    await expectTurns(id, [
      { answer: /unknown: it may or may not have run/, calls: [{ error_type: "outcome_unknown" }] },
    ]);
    expect(bridge.calls()).toEqual([]);
  },
  WITHIN_MS,
);
