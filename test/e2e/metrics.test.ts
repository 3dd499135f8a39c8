/** A real Prometheus scrapes gateway, bridge and agent, and answers every query of the dashboard and the alerts. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { promtoolSays } from "../../core/testkit/prometheus.ts";
import { freePort } from "../../local/port.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

const WATCHING = join(ROOT, "docs/watching");

type Panel = {
  id: number;
  title: string;
  type: string;
  targets?: Array<{ expr: string }>;
  fieldConfig?: { defaults: { noValue?: string; mappings?: unknown[] } };
  options?: { legend?: { displayMode: string } };
};
type Dashboard = { panels: Panel[] };

const dashboard = JSON.parse(readFileSync(join(WATCHING, "dashboard.json"), "utf8")) as Dashboard;
/** The queries with Grafana's variables filled in. */
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    title,
    expr: expr.replaceAll("$home", ".*"),
  })),
);

const ports = { bridge: await freePort(), agent: await freePort() };

describe("with Prometheus (apt-get install prometheus)", { tags: ["needs/prometheus"] }, () => {
  const stack = useStack({ bridge: { HEALTH_PORT: String(ports.bridge) } }, async () => {
    await stack.startAgent({ id: "pi", model: true, metricsPort: ports.agent });
    await stack.gateway.online("pi");
  });
  const dir = mkdtempSync(join(tmpdir(), "prometheus-"));
  let prometheus: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const gateway = new URL(stack.gateway.url).host;
    const targets = (job: string, port: string, more = "") =>
      `  - job_name: ${job}\n${more}    static_configs: [{ targets: ["${port}"] }]\n`;
    const token = `    authorization: { credentials: ${TOKENS.scraper} }\n`;
    writeFileSync(
      join(dir, "prometheus.yml"),
      `global: { scrape_interval: 500ms }\nscrape_configs:\n${targets("gateway", gateway, token)}${targets(
        "bridge",
        `127.0.0.1:${ports.bridge}`,
      )}${targets("agent", `127.0.0.1:${ports.agent}`)}`,
    );
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const turn = (n: number) =>
      stack.gateway.ask(
        script(
          { calls: [{ arguments: { agent_id: "pi", action: "no_such_action" } }] },
          { calls: [{ arguments: { agent_id: "pi", action: "memory" } }] },
          { calls: [{ arguments: { agent_id: "pi", query: script({ text: "well" }) } }] },
          { text: `turn ${n}` },
        ),
      );
    // Before the first scrape, because the gateway keeps its page for five minutes.
    expect((await turn(1)).answer).toBe("turn 1");
    expect((await stack.gateway.command("nobody", "ping")).status).not.toBe(200);
    prometheus = spawn(
      "prometheus",
      [
        `--config.file=${join(dir, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(dir, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: "ignore" },
    );
    await until(async () => (await query("count(up == 1)"))[0]?.value[1] === "3", {
      within: 40_000,
      every: 200,
      what: "Prometheus has all three",
    });
    // rate() needs two scrapes.
    await until(async () => (await query('count_over_time(up{job="gateway"}[1m]) > 2')).length > 0, {
      within: 20_000,
      every: 200,
    });
  }, 120_000);

  afterAll(async () => {
    const gone = new Promise((resolve) => prometheus.once("exit", resolve));
    prometheus.kill();
    await gone;
    rmSync(dir, { recursive: true, force: true });
  });

  async function query(
    expr: string,
  ): Promise<Array<{ metric: Record<string, string>; value: [number, string] }>> {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`).catch(
      () => undefined,
    );
    // Not listening yet, or 503 with a text while it starts.
    if (response === undefined || response.status === 503) return [];
    const body = (await response.json()) as {
      status: string;
      error?: string;
      data?: { result: never[] };
    };
    if (body.status === "error") throw new Error(`${expr}: ${body.error}`);
    return body.data?.result ?? [];
  }

  test("the logs of gateway, bridge and agent show a call under its id", async () => {
    const asked = await stack.gateway.ask(
      script({ calls: [{ arguments: { agent_id: "pi", action: "memory" } }] }, { text: "followed" }),
    );
    const id = asked.calls[0]?.id ?? "";
    const has = (lines: readonly string[], event: string) =>
      lines.some((line) => line.includes(event) && line.includes(id));
    const worker = (event: string) => stack.worker.events(event).find(({ call }) => call === id);
    await until(() => worker("call.settled"));
    expect(worker("call.settled")).toMatchObject({ turn: asked.turn });
    expect(has(stack.bridge.lines, '"event":"call.received"')).toBe(true);
    expect(has(stack.bridge.lines, '"event":"call.answered"')).toBe(true);
    expect(has(stack.agent("pi").lines, '"event":"command.received"')).toBe(true);
  });

  test("promtool accepts the gateway's page", async () => {
    const headers = { authorization: `Bearer ${TOKENS.scraper}` };
    const page = await (await fetch(`${stack.gateway.url}/metrics`, { headers })).text();
    expect(promtoolSays(page)).toBe("");
    expect(page).toContain(
      'edgecall_gateway_tool_calls_total{home="a",agent="pi",tool="memory",status="success"} 1',
    );
  });

  test.each(queries)("the dashboard's '$title' has data: $expr", async ({ expr }) => {
    // The bridge refuses nothing in this home, as in most homes.
    if (expr.includes("calls_refused")) await query(expr);
    else expect((await query(expr)).length).toBeGreaterThan(0);
  });

  test("Prometheus accepts the alerts and the example configuration", () => {
    const says = (...args: string[]) =>
      spawnSync("promtool", ["check", ...args], { cwd: WATCHING, encoding: "utf8" });
    expect(says("rules", "edgecall-alerts.yml")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("7 rules"),
    });
    expect(says("config", "--syntax-only", "prometheus.yml").status).toBe(0);
  });
});

test("every panel has its own id, and no panels overlap", () => {
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const seen = new Set<string>();
  for (const panel of dashboard.panels) {
    const { x, y, w, h } = (panel as unknown as { gridPos: Record<"x" | "y" | "w" | "h", number> }).gridPos;
    for (let row = y; row < y + h; row += 1)
      for (let column = x; column < x + w; column += 1) {
        expect(seen.has(`${column} ${row}`)).toBe(false);
        seen.add(`${column} ${row}`);
      }
  }
});

describe("as Grafana draws it, in a home with little activity", () => {
  const { panels } = dashboard;
  const divides = (panel: Panel) => panel.targets?.some(({ expr }) => / \/ |histogram_quantile/.test(expr));

  test.each(panels.filter((panel) => panel.type === "stat" && divides(panel)))(
    "'$title' without data is a dash: Grafana leaves the tile empty",
    ({ fieldConfig }) => {
      // Grafana's reducer makes null of NaN, so "nan" alone never matches.
      expect(fieldConfig?.defaults.mappings).toContainEqual({
        type: "special",
        options: { match: "null+nan", result: expect.objectContaining({ text: "–" }) },
      });
    },
  );

  test.each(panels.filter(({ type }) => type === "timeseries"))(
    "'$title' is a line with a legend that fits",
    ({ targets = [], options, fieldConfig }) => {
      // Grafana's interval often holds at most one call: then it would draw dots instead of a line.
      expect(targets.filter(({ expr }) => expr.includes("$__"))).toEqual([]);
      // A table shows two rows at this height.
      expect(options?.legend?.displayMode).toBe("list");
      // Grafana would also write it at the axis, in place of each tick that is not a whole number.
      expect(fieldConfig?.defaults.noValue).toBeUndefined();
    },
  );
});
