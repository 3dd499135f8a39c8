/** The bridge's reports over HTTP: /healthz, /readyz, /metrics. */
import { randomUUID } from "node:crypto";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import { describe, expect, test } from "vitest";
import { hasPromtool, promtoolSays } from "../../core/testkit/prometheus.ts";
import { sampleOf } from "../../test/sample-of.ts";
import { until } from "../../test/wait.ts";
import { PlayedHome } from "../testkit/home.ts";
import { usePlayed } from "../testkit/played.ts";

const played = usePlayed();

describe("health", () => {
  test("ready only when both sides are connected, and it names the missing one", async () => {
    played.home.refuseWith = 503;
    const taken = played.start({ healthPort: await freeHealthPort() });
    const port = await until(() => taken.healthPort());
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    const ready = await until(async () => {
      const body = await (await get("/readyz")).text();
      return body.includes('"connected"') && body;
    });
    expect(JSON.parse(ready)).toEqual({
      ready: false,
      gateway: "offline",
      broker: "connected",
      problem: "the gateway refuses: HTTP 503",
    });
    expect((await get("/readyz")).status).toBe(503);
    expect((await get("/healthz")).status).toBe(200);
    played.home.refuseWith = undefined;
    await until(() => taken.ready());
    expect((await get("/readyz")).status).toBe(200);
    expect((await get("/else")).status).toBe(404);
  });

  test("an older gateway that accepts the bridge is served, and the log mentions it", async () => {
    played.home.version = "0.0.9";
    const bridge = played.start({ healthPort: await freeHealthPort() });
    await until(() => bridge.ready());
    const response = await fetch(`http://127.0.0.1:${bridge.healthPort()}/readyz`);
    const problem = versionProblem("bridge", VERSION, "0.0.9");
    expect([response.status, await response.json()]).toEqual([
      200,
      { ready: true, gateway: "welcomed", broker: "connected", problem },
    ]);
    expect(problem).toMatch(/^bridge \S+ is newer than gateway 0\.0\.9: update the gateway, /);
    expect(played.log("gateway.version")?.fields).toEqual({ problem });
  });
});

describe("/metrics", () => {
  test("counts messages by agent and reason; promtool accepts the page", async () => {
    const bridge = played.start({ healthPort: await freeHealthPort() });
    await played.home.next("snapshot", (frame) => frame.last);
    await until(() => bridge.ready());
    const pi = await played.agent("pi");
    await played.home.next("agent", (frame) => frame.agent.id === "pi" && frame.agent.online);
    const call = (to: string) => {
      const id = randomUUID();
      const payload = JSON.stringify({ command: "tool", payload: {}, request_id: id });
      played.home.send({ t: "call", id, agent: to, payload, expires_in_ms: 5_000 });
      return id;
    };
    const answered = call("pi");
    await until(() => pi.commands.some(({ request_id }) => request_id === answered));
    const scrape = async () => await (await fetch(`http://127.0.0.1:${bridge.healthPort()}/metrics`)).text();
    expect(sampleOf(await scrape(), 'edgecall_bridge_queue_length{queue="calls"}')).toBe(1);
    await pi.report("result", { status: "success", request_id: answered });
    await played.home.next("report", (frame) => frame.id === answered);
    const refused = call("nobody");
    await played.home.next("refused", (frame) => frame.id === refused);
    played.home.drop();
    await until(() => played.log("gateway.down"));
    await until(() => bridge.ready());
    const page = await scrape();
    const values = {
      edgecall_bridge_gateway_up: 1,
      'edgecall_bridge_connections_total{side="gateway"}': 2,
      'edgecall_bridge_connections_total{side="broker"}': 1,
      'edgecall_bridge_agent_online{agent="pi",kind="own"}': 1,
      'edgecall_bridge_calls_total{agent="pi"}': 1,
      'edgecall_bridge_calls_refused_total{reason="agent_offline"}': 1,
      'edgecall_bridge_call_duration_seconds_count{agent="pi"}': 1,
      'edgecall_bridge_queue_length{queue="reports"}': 1,
    };
    for (const [left, value] of Object.entries(values))
      expect([left, sampleOf(page, left)]).toEqual([left, value]);
    expect(sampleOf(page, 'edgecall_bridge_messages_total{kind="reports"}')).toBeGreaterThan(0);
    // The log shows the call under its id.
    expect(played.log("call.received")?.fields).toMatchObject({ id: answered, agent: "pi" });
    expect(played.log("call.answered")?.fields).toMatchObject({ id: answered, agent: "pi" });
    if (hasPromtool) expect(promtoolSays(page)).toBe("");
  });
});

async function freeHealthPort(): Promise<number> {
  const other = new PlayedHome();
  const url = await other.start();
  await other.stop();
  return Number(new URL(url).port);
}
