import { expect, test } from "vitest";
import { judge } from "./judge.ts";
import { http } from "./request.ts";
import type { Result } from "./run.ts";
import { complaint } from "./verdict.ts";

const FINE: Result = {
  kinds: {},
  faults: [],
  faultCount: 0,
  memory: { half: { heap: 100, rss: 100 }, end: { heap: 109, rss: 109 } },
  rows: {
    before: { "Conversation.entry": 1 },
    after: { "Conversation.entry": 1, "Home.pairing": 50, "Home.agent": 9, "Home.usage_report": 256 },
  },
  modelRequests: 0,
  deviceCalls: 0,
  badLines: [],
  ms: 1,
};

const LONG = 200_000;

/** A run whose memory was 100 at half time, and this at the end. */
function endingWith(end: { heap: number; rss: number }): Result {
  return { ...FINE, memory: { half: { heap: 100, rss: 100 }, end } };
}

test("memory that grows is reported: the heap in a run of the tests too, resident bytes once they have settled", () => {
  const [heap, rss] = [endingWith({ heap: 111, rss: 100 }), endingWith({ heap: 100, rss: 111 })];
  const words = (what: string) => [`memory (${what}) grew by 11.0 % in the second half`];
  expect(judge(heap, 3_000)).toEqual(words("heap"));
  expect(judge(heap, 2_999)).toEqual([]);
  expect(judge(rss, LONG)).toEqual(words("rss"));
  expect(judge(rss, 100_000)).toEqual([]);
  expect(judge(endingWith({ heap: Number.NaN, rss: 100 }), 3_000)).toHaveLength(1);
});

test("each broken promise of a run is reported", () => {
  expect(judge(FINE, LONG)).toEqual([]);
  for (const bad of [
    { faults: ["x"], faultCount: 1 },
    { modelRequests: 1 },
    { deviceCalls: 1 },
    { badLines: ["x"] },
    { rows: { before: FINE.rows.before, after: { "Conversation.entry": 2 } } },
    { rows: { before: FINE.rows.before, after: { "Conversation.entry": 1, "Conversation objects": 1 } } },
    { rows: { before: FINE.rows.before, after: { "Conversation.entry": 1, "Home.pairing": 51 } } },
    { rows: { before: FINE.rows.before, after: { "Conversation.entry": 1, "Home.usage_report": 257 } } },
    { rows: { before: FINE.rows.before, after: {} } },
  ])
    expect(judge({ ...FINE, ...bad }, LONG)).toHaveLength(1);
});

const safe = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-type": "application/json",
};
const response = (status: number, body: unknown, headers: Record<string, string> = safe) =>
  ({
    as: "response",
    status,
    headers,
    text: typeof body === "string" ? body : JSON.stringify(body),
  }) as const;
const ours = { error: { code: "x", message: "y" } };

test("each thing in an answer that a stranger must not get is reported", () => {
  const request = http("k", "/v1/agents");
  expect(complaint(request, response(401, ours))).toBeUndefined();
  expect(complaint(http("k", "/v1/agents", { may: "answered" }), response(200, ""))).toBeUndefined();
  for (const bad of [
    { as: "dropped", why: "x" } as const,
    response(200, ours),
    response(500, ours),
    response(401, "Unauthorized"),
    response(401, { error: { message: "y" } }),
    response(401, { error: { code: "x", message: "" } }),
    response(401, ours, { ...safe, "x-content-type-options": "" }),
    response(401, ours, { ...safe, "content-type": "text/html" }),
    response(401, { error: { code: "x", message: "Error\n    at f (worker.js:1:1)" } }.error.message),
  ])
    expect(complaint(request, bad)).toBeDefined();
  const exact = http("k", "/v1/agents", { exactly: { status: 401, words: /"y"/ } });
  expect(complaint(exact, response(401, ours))).toBeUndefined();
  expect(complaint(exact, response(403, ours))).toContain("not 401");
  expect(complaint(exact, response(401, { error: { code: "x", message: "z" } }))).toContain('"y"');
  const escaped = { error: { code: "x", message: "at f (worker.js:1:1)" } };
  expect(complaint(request, response(401, escaped))).toContain("stack trace");
  expect(complaint(http("k", "/v1/models"), response(401, ours))).toContain("'openai'");
  const rpc = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "y" } };
  expect(complaint(http("k", "/mcp"), response(400, rpc))).toBeUndefined();
  expect(complaint(http("k", "/mcp/"), response(405, rpc))).toBeUndefined();
  expect(complaint(http("k", "/mcp/x"), response(404, rpc))).toContain("another form");
  expect(complaint(request, response(400, rpc))).toContain("another form");
});
