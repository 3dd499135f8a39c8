/** Work that was running when a backup was made has ended since, so a restore does not repeat it. */
import { reset } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { theHome } from "../../../test/states.ts";
import { rowsOf } from "../../../test/stopping.ts";
import { AGENTS, garden, on, sirenOut, sounds, turnsOf } from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { ask, say, TestBridge } from "../../../test/workerd.ts";

afterEach(reset);

test("a restored turn and a restored queued call are reported as unknown, and no device gets them", async () => {
  const first = await TestBridge.connect(AGENTS);
  const queued = crypto.randomUUID();
  const running = crypto.randomUUID();
  const water = { calls: [on("garden", { action: "water" })] };
  const notes = { text: "In the end: $notes" };
  await say(queued, script(water, { text: "Queued." }, notes, notes));
  await say(running, script({ text: "Hello." }));
  const { call, waiting } = await sirenOut(running, first);
  const names = async (file: string) => [queued, running].every((id) => file.includes(`a/api/${id}`));
  const file = await until(async () => {
    const text = await (await ask("/v1/export")).text();
    return (await names(text)) && text;
  });

  first.report(call, "pi", sounds);
  await waiting;
  first.onCall = () => ({ status: "success", result: "watered" });
  first.send({ t: "agent", agent: garden(true) });
  await until(async () => (await turnsOf(queued)).at(-1)?.answer?.includes("watered"));
  expect(first.calls()).toHaveLength(2);

  const imported = await ask("/v1/import?replace=yes", { method: "POST", body: file });
  expect(imported.status).toBe(200);
  await until(() => first.closed, { what: "the home starts anew" });
  const bridge = await TestBridge.connect([...AGENTS.slice(0, 2), garden(true)]);
  const ended = async (id: string) => (await turnsOf(id).catch(() => [])).at(-1);
  await until(async () => (await ended(running))?.status === "failed", { what: "the turn's end" });
  expect(await ended(running)).toMatchObject({
    answer: expect.stringContaining("back-up"),
    calls: [{ error_type: "outcome_unknown" }],
  });
  await until(async () => (await ended(queued))?.answer?.includes("unknown"), {
    what: "the queued call's end",
  });
  expect(await rowsOf(theHome(), "SELECT id FROM call WHERE state <> 'settled'")).toEqual([]);
  expect(bridge.calls()).toEqual([]);
  // The device still has the real result.
  bridge.report(call, "pi", sounds);
  await until(async () => (await ended(running))?.calls[0]?.status === "success", { what: "the truth" });
}, 40_000);
