import { describe, expect, test } from "vitest";
import { TOKENS } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { agent, ask, TestBridge } from "../../test/workerd.ts";

const line = (timestamp: string, tool: string, more = {}) => ({
  timestamp,
  agent_id: "somebody-else",
  tool,
  parameters: { unit: "celsius" },
  result: "success",
  exit_code: null,
  elapsed_ms: 3,
  call_id: "c",
  request_id: "r",
  caller: { principal: "anna", role: "owner", channel: "api" },
  ...more,
});

async function tell(bridge: TestBridge, id: string, lines: unknown[], from = "pi") {
  const payload = JSON.stringify({ type: "audit", request_id: id, lines });
  bridge.send({ t: "event", id, agent: from, payload });
  await until(() => bridge.acks().includes(id), { what: `the ack of ${id}` });
}

async function entries(query = "", token = TOKENS.owner) {
  const response = await ask(`/v1/audit${query}`, { token });
  const body = (await response.json()) as { entries?: Array<ReturnType<typeof line>>; error?: unknown };
  return { status: response.status, ...body };
}

describe("the record of calls", () => {
  test("is kept under the agent of the topic, once, and found newest first", async () => {
    const bridge = await TestBridge.connect([agent("pi"), agent("eye")]);
    const first = line("2026-11-22T10:00:00.000Z", "cpu");
    await tell(bridge, "audit-1", [first]);
    // Its ack was lost, and another line has come since: the batch takes the place of itself.
    const second = line("2026-11-22T10:01:00.000Z", "disk", { result: "error", error_type: "timeout" });
    bridge.received.length = 0;
    await tell(bridge, "audit-1", [first, second]);
    await tell(bridge, "audit-9", [line("2026-11-22T10:00:30.000Z", "snapshot")], "eye");
    const all = await entries();
    expect(all.entries?.map(({ agent_id, tool }) => [agent_id, tool])).toEqual([
      ["pi", "disk"],
      ["eye", "snapshot"],
      ["pi", "cpu"],
    ]);
    expect(all.entries?.[2]).toEqual({ ...first, agent_id: "pi" });
    expect((await entries("?agent=pi&result=error")).entries).toHaveLength(1);
    expect((await entries("?tool=cpu")).entries).toHaveLength(1);
    expect((await entries("?since=2026-11-22T10:00:20Z&until=2026-11-22T10:00:40Z")).entries).toMatchObject([
      { tool: "snapshot" },
    ]);
    expect((await entries("?limit=1")).entries).toMatchObject([{ tool: "disk" }]);
    expect((await entries("", TOKENS.otherHome)).entries).toEqual([]);
  });

  test("is for an administrator, who is told of a wrong query", async () => {
    expect((await entries("", TOKENS.guest)).status).toBe(403);
    expect(await entries("?limit=0")).toMatchObject({
      status: 400,
      error: { message: "limit: expected a whole number from 1 to 1000" },
    });
    expect((await entries("?since=yesterday")).status).toBe(400);
    expect((await entries("?result=maybe")).status).toBe(400);
  });
});
