/** The bridge requests an update when Home says so, and reports the result: in this process, or in the next one. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UpdateOutcomes } from "@edgecall/node/systemd/update.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type Bridge, startBridge } from "../bridge.ts";
import { readSettings } from "../settings.ts";
import { type PlayedBroker, startAedes } from "../testkit/brokers.ts";
import { PlayedHome } from "../testkit/home.ts";

const ID = "00000000-0000-0000-0000-000000000001";
const at = "2026-11-22T08:00:00.000Z";

let broker: PlayedBroker;
let home: PlayedHome;
let env: Record<string, string>;
let request: string;
const bridges: Bridge[] = [];
beforeEach(async () => {
  home = new PlayedHome();
  const [aedes, gateway] = await Promise.all([startAedes(), home.start()]);
  broker = aedes;
  const folder = mkdtempSync(join(tmpdir(), "edgecall-bridge-"));
  request = join(folder, "update-request");
  env = {
    ...{ GATEWAY_URL: gateway, BRIDGE_TOKEN: "secret", MQTT_URL: broker.url, HEALTH_PORT: "0" },
    ...{ STATE_DIRECTORY: folder, EDGECALL_UPDATES: join(folder, "updates.json") },
  };
});
afterEach(async () => {
  for (const bridge of bridges.splice(0)) await bridge.stop();
  await home.stop();
  await broker.stop();
});

async function start(of = env): Promise<Bridge> {
  const read = readSettings(of);
  if (!read.ok) throw new Error(read.errors.join());
  const hellos = home.of("hello").length;
  const bridge = startBridge(read.settings, () => {});
  bridges.push(bridge);
  await until(() => home.of("hello").length > hellos && bridge.ready(), { what: "the bridge is there" });
  return bridge;
}

/** Plays root's part. */
function says(asked: Omit<NonNullable<UpdateOutcomes["asked"]>, "at">): void {
  writeFileSync(env.EDGECALL_UPDATES ?? "", JSON.stringify({ asked: { ...asked, at } }));
  if (asked.done) rmSync(request, { force: true });
}

test("it writes a request and reports the result; a second request meanwhile is refused", async () => {
  await start();
  expect(home.of("hello")[0]?.features).toContain("update");
  home.send({ t: "update", id: ID });
  await until(() => existsSync(request), { what: "the request" });
  expect(readFileSync(request, "utf8")).toBe(ID);
  home.send({ t: "update", id: "another" });
  expect(await home.next("updated", ({ id }) => id === "another")).toMatchObject({ ok: false });
  says({ id: ID, done: true, ok: true, text: "0.1.0 is in use already" });
  expect(await home.next("updated", ({ id }) => id === ID)).toMatchObject({
    ok: true,
    text: "0.1.0 is in use already",
  });
});

test("after a restart during the update, the new process reports, and again at each welcome", async () => {
  const first = await start();
  home.send({ t: "update", id: ID });
  await until(() => existsSync(request), { what: "the request" });
  says({ id: ID, done: false, ok: false, text: "" });
  await first.stop();
  await start();
  expect(home.of("updated")).toEqual([]);
  says({ id: ID, done: true, ok: false, text: `0.2.0 did not come online; ${"x".repeat(400)}` });
  const told = await home.next("updated");
  expect(told).toMatchObject({ id: ID, ok: false, text: expect.stringMatching(/^0\.2\.0 did not .{286}$/) });
  home.drop();
  await until(() => home.of("updated").length === 2, { what: "it is told again" });
});

test("a bridge that is not a service does not offer updates, and refuses a request", async () => {
  const { STATE_DIRECTORY: _, ...bare } = env;
  await start(bare);
  expect(home.of("hello")[0]?.features).not.toContain("update");
  home.send({ t: "update", id: ID });
  expect(await home.next("updated")).toMatchObject({ id: ID, ok: false, text: "this bridge is no service" });
});
