import { afterEach, expect, test } from "vitest";
import { hasPromtool, promtoolSays } from "../../core/testkit/prometheus.ts";
import { freePort } from "../../local/port.ts";
import { sampleOf } from "../../test/sample-of.ts";
import { until } from "../../test/wait.ts";
import { type House, house, rules } from "../testing/house.ts";

const policy = rules({ append: "allow" });

let home: House | undefined;
afterEach(async () => {
  await home?.stop();
  home = undefined;
});

test("calls by tool and error, questions, queues; promtool accepts the page", async () => {
  const own = await house(({ messages }, count) => {
    if (count === 1) return { calls: [{ name: "no_such_tool", args: {} }] };
    return { text: `heard: ${messages.at(-1)?.content ?? ""}` };
  });
  home = own;
  const agent = await own.start({ policy, metrics: { port: await freePort(), host: "127.0.0.1" } });
  await own.result(await own.tool("append", { text: "x" }));
  await own.result(await own.tool("append", { wrong: true }));
  const prompt = await own.result(await own.prompt("try"));
  expect(prompt.status).toBe("success");
  const port = await until(() => agent.metricsPort());
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const page = await (await get("/metrics")).text();
  const values = {
    'edgecall_agent_tool_calls_total{agent="eye",tool="append",status="success"}': 1,
    'edgecall_agent_tool_calls_total{agent="eye",tool="append",status="error"}': 1,
    'edgecall_agent_tool_errors_total{agent="eye",tool="append",error_type="invalid_params"}': 1,
    'edgecall_agent_tool_errors_total{agent="eye",tool="no_such_tool",error_type="not_found"}': 1,
    'edgecall_agent_tool_duration_seconds_count{agent="eye",tool="append"}': 2,
    'edgecall_agent_turns_total{agent="eye",status="done"}': 1,
    'edgecall_agent_turns_recovered_total{agent="eye"}': 1,
    'edgecall_agent_turn_iterations_sum{agent="eye"}': 2,
    'edgecall_agent_turn_duration_seconds_count{agent="eye"}': 1,
    'edgecall_agent_broker_up{agent="eye"}': 1,
    'edgecall_agent_connections_total{agent="eye"}': 1,
    'edgecall_agent_queue_length{agent="eye",queue="results"}': 3,
  };
  for (const [left, value] of Object.entries(values))
    expect([left, sampleOf(page, left)]).toEqual([left, value]);
  if (hasPromtool) expect(promtoolSays(page)).toBe("");
  expect((await get("/else")).status).toBe(404);
});

test("without a port there is no page, and a taken port does not stop the agent", async () => {
  const own = await house();
  home = own;
  const first = await own.start({ policy, metrics: { port: own.port, host: "127.0.0.1" } });
  expect((await own.result(await own.tool("append", { text: "x" }))).status).toBe("success");
  expect(first.metricsPort()).toBeUndefined();
  expect(own.lines.some(({ event }) => event === "metrics.failed")).toBe(true);
});
