/** What a command's `route` is put into, also after a restart: without it the gateway could not tell where an answer belongs. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type House, house, rules } from "../testing/house.ts";

const route = "an.opaque_route";

let home: House;
afterEach(async () => await home.stop());

const routeOf = (id: string) => (home.peer.reports(id).at(-1) as { route?: string } | undefined)?.route;

test("each report of a command carries it, and that of a command without one carries none", async () => {
  home = await house();
  await home.start({ policy: rules({ job: "allow" }) });
  const ping = await home.send("ping", {}, { route });
  await home.result(ping);
  expect(routeOf(ping)).toBe(route);
  const plain = await home.send("ping");
  await home.result(plain);
  expect(routeOf(plain)).toBeUndefined();
  const unknown = await home.send("no such command", {}, { route });
  await home.result(unknown);
  expect(routeOf(unknown)).toBe(route);
});

test("a job's report carries the route of the call that began it", async () => {
  home = await house();
  await home.start({ policy: rules({ job: "allow" }) });
  const id = await home.tool("job", { ms: 1 }, { route });
  const { job } = await home.result(id);
  await home.result(job as string);
  expect([routeOf(id), routeOf(job as string)]).toEqual([route, route]);
});

test("a call that an earlier process left open is reported with it, at the start and when it is repeated", async () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
  mkdirSync(join(folder, "eye.state"));
  const started = { t: "started", id: "cut", command: "tool", tool: "append", at: Date.now() };
  const line = JSON.stringify({ ...started, idempotent: false, acks: true, route });
  writeFileSync(join(folder, "eye.state/ledger.jsonl"), `${line}\n`);
  home = await house();
  await home.start({ folder, policy: rules({ append: "allow" }) });
  expect(await home.result("cut")).toMatchObject({ error_type: "outcome_unknown" });
  expect(routeOf("cut")).toBe(route);
  await home.tool("append", {}, { request_id: "cut", route });
  await until(() => home.peer.reports("cut").length === 2, { what: "the report comes again" });
  expect(routeOf("cut")).toBe(route);
});
