/** The keepalive on a real socket; only the interval's time is simulated. */
import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { KEEPALIVE_EVERY_MS, KEEPALIVE_LOST_MS } from "@edgecall/core/protocol/names.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "../../test/wait.ts";
import { PlayedHome } from "../testkit/home.ts";
import { GatewayLink, STANDBY_EVERY_MS, staysAway } from "./gateway.ts";

let home: PlayedHome;
let link: GatewayLink;
let frames: HomeFrame[];
let downs: number;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  home = new PlayedHome();
  frames = [];
  downs = 0;
  link = new GatewayLink({
    url: `${(await home.start()).replace("http", "ws")}/bridge`,
    token: () => "secret",
    bridgeId: "attic",
    log: () => {},
    onFrame: (frame) => frames.push(frame),
    onWelcome: () => {},
    onDown: () => {
      downs += 1;
    },
  });
  link.start();
  await until(() => link.up);
});

afterEach(async () => {
  vi.useRealTimers();
  await link.stop();
  await home.stop();
});

test("the hello identifies the bridge", async () => {
  expect(await home.next("hello")).toMatchObject({ protocol: 1, bridge: "attic" });
});

test("an answered keepalive keeps the socket", async () => {
  for (let n = 1; n <= 6; n++) {
    vi.advanceTimersByTime(KEEPALIVE_EVERY_MS);
    await until(() => home.pings === n);
    // Sent after the pong, so it is read after it.
    home.send({ t: "ack", id: `after-${n}` });
    await until(() => frames.length === n);
  }
  expect(home.connections).toBe(1);
  expect(downs).toBe(0);
});

test("G12 a dead line is noticed within 25 s", () => {
  // Two unanswered keepalives, and the check that notices them.
  expect(3 * KEEPALIVE_EVERY_MS).toBeLessThanOrEqual(25_000);
  expect(KEEPALIVE_LOST_MS).toBeLessThanOrEqual(25_000);
  expect(KEEPALIVE_LOST_MS + STANDBY_EVERY_MS).toBeLessThanOrEqual(30_000);
});

test("two unanswered keepalives close the socket, and the bridge reconnects", async () => {
  home.silent = true;
  for (const pings of [1, 2]) {
    vi.advanceTimersByTime(KEEPALIVE_EVERY_MS);
    await until(() => home.pings === pings);
  }
  expect(downs).toBe(0);
  vi.advanceTimersByTime(KEEPALIVE_EVERY_MS);
  await until(() => downs === 1);
  await until(() => home.connections === 2);
});

test("a frame that is too large for Home is not sent, and the socket stays", async () => {
  const payload = '"'.repeat(512 * 1024 - 1);
  expect(link.send({ t: "report", id: "big", agent: "pi", payload: `${payload}\n` })).toBe(true);
  link.send({ t: "taken", id: "next" });
  await home.next("taken");
  expect(home.of("report")).toEqual([]);
});

test.each([
  [{ status: 401 }, true],
  [{ status: 403 }, true],
  [{ status: 404 }, false],
  [{ status: 503 }, false],
  [{ code: CLOSE.replaced }, true],
  [{ code: CLOSE.badProtocol }, true],
  [{ code: CLOSE.badFrame }, false],
  [{ code: 1006 }, false],
  [{ code: 1012 }, false],
])("after %o it does not reconnect: %s", (ending, away) => {
  expect(staysAway(ending)).toBe(away);
});
