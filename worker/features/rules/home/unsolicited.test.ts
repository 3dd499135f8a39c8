/** Words that an EvoClaw agent says of its own accord reach owners, where the settings name it, and begin no turn of a model. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { modelRequests } from "../../../../test/model-requests.ts";
import { at, MINUTE, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { HOWS, rowsOf, stop, storedTurns } from "../../../../test/stopping.ts";
import { on } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, SIREN, say, TestBridge } from "../../../../test/workerd.ts";

let bridge: TestBridge;
let asked = 0;
async function connect(): Promise<void> {
  bridge = await TestBridge.connect([
    agent("evo", { foreign: true, features: [], tools: [] }),
    agent("pi", { tools: [SIREN], features: ["tool", "cancel", "ack", "question"] }),
  ]);
}
beforeEach(async () => {
  setVariables({ UNASKED_REPORTS: "evo pi", TIMEZONE: "Europe/Berlin", CHANNELS: "" });
  at(T0);
  await connect();

  await say("hall", script({ text: "hello" }));
});
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

/** As EvoClaw's price monitor reports an alert. */
function report(message: string, id = "evo"): void {
  const payload = {
    skill: "price_monitor",
    report_type: "alert",
    payload: { alert: "price_target", message },
  };
  const text = { agent_id: id, agent_type: "monitor", report_type: "skill_report", payload, timestamp: 1 };
  bridge.send({ t: "event", id: crypto.randomUUID(), agent: id, payload: JSON.stringify(text) });
}
const toldOnce = (text: string) => until(async () => (await told("hall")).includes(text), { what: text });
/** Everything that the bridge sent before was handled. */
async function handled(): Promise<void> {
  asked += 1;
  const n = asked;
  bridge.send({ t: "agents", agents: [], n });
  await until(() => bridge.received.some((frame) => frame.t === "stored" && frame.n === n));
}
/** What was told, and what waits. */
async function linesOf(): Promise<string[]> {
  const rows = await rowsOf<{ notice: string }>(ruleHome(), "SELECT notice FROM notice");
  const waiting = rows.map(({ notice }) => (JSON.parse(notice) as { say: { text: string } }).say.text);
  return [...(await told("hall")), ...waiting].flatMap((text) => text.split("\n"));
}
const pending = () => rowsOf<{ id: string; notice: string }>(ruleHome(), "SELECT id, notice FROM notice");

test("the welcome names the agents whose words the home takes", () => {
  expect(bridge.received.find((frame) => frame.t === "welcome")).toMatchObject({ unasked: ["evo", "pi"] });
});

test("an owner is told, quoted on one line and without a link; no model is asked, and the words taint", async () => {
  report("BTC hit above\ntarget ”50000“, see https://evil.example/x");
  await toldOnce("evo says: “BTC hit above target '50000', see https:\u2060//evil.\u2060example/x”");
  expect(await modelRequests({ words: "BTC hit above" })).toEqual([]);
  const turns = await storedTurns(env.CONVERSATION.getByName("a/api/hall"));
  expect(turns).toHaveLength(2);
  expect(await pending()).toEqual([]);
  let sent = "";
  bridge.onCall = ({ payload }) => {
    sent = payload;
    return { status: "success", result: "on" };
  };
  await say("hall", script({ calls: [on("pi", { action: "siren" })] }, { text: "ok" }));
  expect(JSON.parse(sent)).toMatchObject({ tainted: true });
});

test("a long text is cut", async () => {
  report("x".repeat(5_000));
  await until(async () => (await told("hall")).length > 0);
  expect((await told("hall"))[0]).toBe(`evo says: “${"x".repeat(199)}…”`);
});

test.each<[what: string, vars: Record<string, string>]>([
  ["no agent is named", { UNASKED_REPORTS: "" }],
  ["another agent is named", { UNASKED_REPORTS: "other" }],
  ["a star is no name", { UNASKED_REPORTS: "*" }],
  ["the agent is not served", { ALLOW_UNSIGNED_AGENTS: "other" }],
])("nobody is told: %s", async (_, vars) => {
  setVariables({ UNASKED_REPORTS: "evo", ...vars });
  report("Hello");
  await handled();
  expect([await told("hall"), await pending()]).toEqual([[], []]);
});

test("figures alone, answers and rubbish tell nobody", async () => {
  const texts = [
    {
      report_type: "skill_report",
      payload: { skill: "price_monitor", report_type: "metric", payload: { prices: {} } },
    },
    { report_type: "result", payload: { content: "19 degrees" } },
    { report_type: "heartbeat", payload: { message: "here" } },
    { content: 5 },
    [],
  ];
  for (const text of texts)
    bridge.send({ t: "event", id: crypto.randomUUID(), agent: "evo", payload: JSON.stringify(text) });
  bridge.send({ t: "event", id: crypto.randomUUID(), agent: "evo", payload: "{" });
  await handled();
  expect([await told("hall"), await pending()]).toEqual([[], []]);
});

describe("too many", () => {
  test("what follows within half a minute is one message", async () => {
    for (const text of ["one", "two", "three"]) report(text);
    await toldOnce("evo says: “one”");
    await handled();
    await passUntil(T0 + MINUTE);
    expect(await told("hall")).toEqual(["evo says: “one”", "evo says: “two”\nevo says: “three”"]);
  });

  test("the bound counts over a crash of Home", async () => {
    for (let n = 0; n < 30; n += 1) report(`line ${n}`);
    await handled();
    await stop("abort", ruleHome());
    await connect();
    report("one more");
    await handled();
    expect(await linesOf()).toContainEqual(expect.stringContaining("evo is noisy"));
    expect(await linesOf()).not.toContainEqual(expect.stringContaining("one more"));
  });

  test.each(HOWS)("the home's twenty messages of an hour count over Home's end: %s", async (how) => {
    for (let n = 0; n < 20; n += 1) {
      at(T0 + n * MINUTE);
      report(`text ${n}`);
      await toldOnce(`evo says: “text ${n}”`);
    }
    await stop(how, ruleHome());
    await connect();
    report("one more");
    await handled();
    expect(await pending()).toHaveLength(1);
    await passUntil(T0 + 59 * MINUTE);
    expect(await told("hall")).toHaveLength(20);
    await passUntil(T0 + 61 * MINUTE);
    expect((await told("hall")).slice(20)).toEqual(["evo says: “one more”"]);
  });

  test("30 in an hour; then it is noisy, once, and heard again an hour later", async () => {
    for (let n = 0; n < 50; n += 1) report(`text ${n}`);
    await handled();
    await passUntil(T0 + MINUTE);
    const lines = (await told("hall")).flatMap((text) => text.split("\n"));
    expect(lines.slice(-2)).toEqual([
      "and more of it",
      expect.stringContaining("evo is noisy: it said something 30 times"),
    ]);
    expect(lines).toHaveLength(13);
    await passUntil(T0 + 61 * MINUTE);
    // The clock jumped, so the line counted as dead.
    await connect();
    report("quiet again");
    await toldOnce("evo says: “quiet again”");
  });

  test("30 in an hour, one a minute and a half: all are told, then that it is noisy", async () => {
    setVariables({ UNASKED_REPORTS: "evo" });
    for (let n = 0; n < 33; n += 1) {
      at(T0 + n * 90_000);
      report(`text ${n}`);
      // One that is told too much says so once.
      await until(async () => (await linesOf()).length >= Math.min(n + 1, 31), { what: `text ${n}` });
    }
    await handled();
    await passUntil(T0 + 120 * MINUTE);
    const lines = (await told("hall")).flatMap((text) => text.split("\n"));
    expect(lines.filter((line) => line.startsWith("evo says: "))).toHaveLength(30);
    expect(lines.filter((line) => line.includes("evo is noisy: it said something 30 times"))).toHaveLength(1);
  });
});

test("in quiet hours it waits for their end, in a row", async () => {
  setVariables({ UNASKED_REPORTS: "evo", TIMEZONE: "Europe/Berlin", QUIET_HOURS: "08:00-10:00" });
  report("early");
  report("still early");
  await handled();
  expect(await told("hall")).toEqual([]);
  expect(await pending()).toHaveLength(1);
  await passUntil(T0 + 59 * MINUTE);
  expect(await told("hall")).toEqual([]);
  await passUntil(T0 + 61 * MINUTE);
  expect(await told("hall")).toEqual(["evo says: “early”\nevo says: “still early”"]);
});

test.each([
  ["end sooner", "08:00-09:30", 30],
  ["end later", "08:00-10:30", 90],
])("what waits for the end of the quiet hours is told when they %s", async (_, quiet_hours, minutes) => {
  setVariables({ UNASKED_REPORTS: "evo", TIMEZONE: "Europe/Berlin", QUIET_HOURS: "08:00-10:00" });
  report("early");
  await handled();
  const body = JSON.stringify({ quiet_hours });
  expect((await ask("/v1/home/clock", { method: "PATCH", body })).status).toBe(200);
  report("still early");
  await handled();
  await passUntil(T0 + minutes * MINUTE - 1);
  expect(await told("hall")).toEqual([]);
  await passUntil(T0 + minutes * MINUTE);
  expect(await told("hall")).toEqual(["evo says: “early”\nevo says: “still early”"]);
});
