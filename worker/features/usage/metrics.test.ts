import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import { madeHome } from "../../../test/made-home.ts";
import { sampleOf } from "../../../test/sample-of.ts";
import { script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, SIREN, say, TestBridge } from "../../../test/workerd.ts";
import { ConversationList } from "../../kernel/home/people/conversation-list.ts";
import { UsageCounters } from "../../kernel/home/usage/usage-counters.ts";
import { SLOTS } from "../../kernel/home/usage/usage-reports.ts";

const scrape = (token: string = TOKENS.scraper) => ask("/metrics", { token });

/** Home's present page; the route's copy may be five minutes old. */
const pageNow = async () =>
  runInDurableObject(await madeHome("a"), (home) =>
    (home as unknown as Record<"usage.metrics", () => string>)["usage.metrics"](),
  );

beforeEach(async () => {
  await caches.default.delete("https://metrics.invalid/a");
});

const siren = { calls: [{ arguments: { agent_id: "pi", action: "siren" } }] };

/** The counters as an instance of the object finds them. */
function countersOf(storage: DurableObjectStorage, knows: (agent: string, tool: string) => "both" | "agent") {
  const counters = new UsageCounters(storage, { knows }, new ConversationList(storage));
  const called = (agent: string, tool: string, elapsedMs: number, outcome: { status: "success" } | Failure) =>
    counters.called(crypto.randomUUID(), agent, tool, elapsedMs, outcome, Date.now());
  return { counters, called, calls: () => counters.counts().calls };
}
type Failure = { status: "error"; errorType: "timeout" };

const allKnown = () => "both" as const;

test("a turn's metrics: its calls by tool and error, its time, its tokens, and if it recovered", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [SIREN] })]);
  const before = await pageNow();
  bridge.onCall = () => ({ status: "error", error: "it is broken", error_type: "execution_failed" });
  await say(
    "figures",
    script(siren, { calls: [{ arguments: { agent_id: "nobody", action: "x" } }] }, { text: "no" }),
  );
  bridge.onCall = () => ({ status: "success", result: "it sounds" });
  await say("figures", script(siren, { text: "yes" }));
  const of = (page: string, left: string) => sampleOf(page, left) ?? 0;
  const rise = (page: string, left: string) => of(page, left) - of(before, left);
  // Home learns of it after the turn has its answer.
  const page = await until(async () => {
    const now = await pageNow();
    return rise(now, 'edgecall_gateway_turns_total{home="a",channel="api",status="done"}') === 2 && now;
  });
  const pi = 'home="a",agent="pi",tool="siren"';
  expect(rise(page, `edgecall_gateway_tool_calls_total{${pi},status="success"}`)).toBe(1);
  expect(rise(page, `edgecall_gateway_tool_calls_total{${pi},status="error"}`)).toBe(1);
  expect(rise(page, `edgecall_gateway_tool_errors_total{${pi},error_type="execution_failed"}`)).toBe(1);
  expect(rise(page, `edgecall_gateway_tool_duration_seconds_count{${pi}}`)).toBe(2);
  // A call that was refused before it was sent failed too; a name that the model invented is no label.
  const nobody = 'home="a",agent="(others)",tool="(others)",error_type="not_found"';
  expect(rise(page, `edgecall_gateway_tool_errors_total{${nobody}}`)).toBe(1);
  const api = 'home="a",channel="api"';
  expect(rise(page, `edgecall_gateway_turns_with_failures_total{${api}}`)).toBe(1);
  expect(rise(page, `edgecall_gateway_turns_recovered_total{${api}}`)).toBe(1);
  expect(rise(page, `edgecall_gateway_turn_iterations_sum{${api}}`)).toBe(5);
  expect(rise(page, `edgecall_gateway_turn_duration_seconds_count{${api}}`)).toBe(2);
  expect(rise(page, `edgecall_gateway_model_tokens_total{${api},direction="output"}`)).toBeGreaterThan(0);
  expect(of(page, 'edgecall_gateway_bridge_online{home="a"}')).toBe(1);
  expect(of(page, 'edgecall_gateway_agent_online{home="a",agent="pi"}')).toBe(1);
  expect(of(page, 'edgecall_gateway_calls_open{home="a",state="sent"}')).toBe(0);
});

describe("GET /metrics", () => {
  test("is for a token that may see metrics, which may do nothing else", async () => {
    expect((await scrape()).headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect((await scrape(TOKENS.owner)).status).toBe(200);
    expect((await scrape(TOKENS.guest)).status).toBe(403);
    expect((await ask("/metrics", { token: null })).status).toBe(401);
    for (const path of ["/v1/agents", "/v1/status", "/v1/audit"])
      expect((await ask(path, { token: TOKENS.scraper })).status).toBe(403);
  });

  test("lets a home sleep for five minutes, and shows no other home's figures", async () => {
    const first = await (await scrape()).text();
    await until(() => caches.default.match("https://metrics.invalid/a"));
    await TestBridge.connect([agent("pi", { tools: [SIREN] })]);
    expect(await pageNow()).not.toBe(first);
    expect(await (await scrape()).text()).toBe(first);
    const other = await (await scrape(TOKENS.otherHome)).text();
    expect(other).toContain('home="b"');
    expect(other).not.toContain('home="a"');
  });
});

test("S18 invented names of agents and tools share one row; real ones have room among rows that were invented earlier", async () => {
  await TestBridge.connect([agent("pi", { tools: [SIREN] })]);
  const before = await pageNow();
  const invented = Array.from({ length: 10 }, (_, n) => ({
    arguments: { agent_id: n % 2 ? "pi" : `ghost-${n}`, action: `invented-${n}` },
  }));
  await say("invented", script({ calls: invented }, { text: "no" }));
  const others = 'home="a",agent="(others)",tool="(others)",error_type="not_found"';
  const page = await until(async () => {
    const now = await pageNow();
    const rise = (left: string) => (sampleOf(now, left) ?? 0) - (sampleOf(before, left) ?? 0);
    return rise(`edgecall_gateway_tool_errors_total{${others}}`) === 5 && now;
  });
  expect(page).not.toContain("invented-");
  expect(page).not.toContain("ghost-");
  expect(page).toContain('agent="pi",tool="(others)"');
  const stub = await madeHome();
  await runInDurableObject(stub, (_, { storage }) => {
    const error = { status: "error", errorType: "timeout" } as const;
    const old = countersOf(storage, allKnown);
    for (let n = 0; n < 400; n += 1) old.called("pi", `invented-${n}`, 1, error);
    const now = countersOf(storage, (_, tool) => (tool === "cpu" ? "both" : "agent"));
    now.called("pi", "cpu", 1, { status: "success" });
    expect(now.calls().find(({ tool }) => tool === "cpu")?.counts.success).toBe(1);
  });
});

test("counts are stored in rows: they continue after a crash, and are bounded", async () => {
  const stub = await madeHome(`tallies-${crypto.randomUUID()}`);
  await runInDurableObject(stub, (_, { storage }) => {
    const error = { status: "error", errorType: "timeout" } as const;
    countersOf(storage, allKnown).called("pi", "cpu", 30_000, error);
    countersOf(storage, allKnown).called("pi", "cpu", 20, { status: "success" });
    const [row] = countersOf(storage, allKnown).calls();
    expect(row).toMatchObject({ agent: "pi", tool: "cpu", counts: { success: 1, errors: { timeout: 1 } } });
    expect(row?.counts.seconds.sum).toBeCloseTo(30.02);
    const { called } = countersOf(storage, allKnown);
    for (let n = 0; n < 400; n += 1) called("pi", `invented-${n}`, 1, error);
    const { calls, counters } = countersOf(storage, allKnown);
    expect(calls()).toHaveLength(301);
    expect(calls().find(({ tool }) => tool === "(others)")?.counts.errors.timeout).toBe(101);
    expect(counters.activity().get("pi")).toMatchObject({ calls: 402, success: 1, error: 401 });
  });
});

/** A report of a turn with one call. */
function turnOf(id: string, conversation: string) {
  const call = { agent: "pi", tool: "cpu", elapsedMs: 1 };
  const figures = { iterations: 2, failedCalls: 0, durationMs: 5, inputTokens: 10, outputTokens: 1 };
  return { id, conversation, channel: "api", status: "done" as const, ...figures, calls: [call] };
}

test("a turn is one row that replaces an older one; the sums rise by each turn once, over crashes and repeats", async () => {
  const stub = await madeHome(`reports-${crypto.randomUUID()}`);
  await runInDurableObject(stub, (_, { storage }) => {
    const rowsWritten = () => Number(storage.sql.exec("SELECT total_changes() AS n").one().n);
    let seen = 0;
    for (let n = 1; n <= 3 * SLOTS + 5; n += 1) {
      // Every turn finds a new instance, and comes a second time after its answer was lost.
      const before = rowsWritten();
      countersOf(storage, allKnown).counters.turnEnded(turnOf(`turn-${n}`, "a/api/one"), n);
      const written = rowsWritten() - before;
      const { counters } = countersOf(storage, allKnown);
      counters.turnEnded(turnOf(`turn-${n}`, "a/api/one"), n);
      expect(rowsWritten() - before).toBe(written);
      // When the ring is full, the rows of the tool, the channel and the agent are written too.
      expect([n, written]).toEqual([n, n > 1 && n % SLOTS === 1 ? 4 : 1]);
      const [turns] = counters.counts().turns;
      const [calls] = counters.counts().calls;
      expect([turns?.counts.done, turns?.counts.inputTokens, calls?.counts.success]).toEqual([n, n * 10, n]);
      expect(counters.activity().get("pi")).toEqual({ calls: n, success: n, error: 0, last: n });
      seen = n;
    }
    expect(seen).toBe(3 * SLOTS + 5);
    expect(storage.sql.exec("SELECT COUNT(*) AS n FROM usage_report").one().n).toBe(SLOTS);
  });
});
