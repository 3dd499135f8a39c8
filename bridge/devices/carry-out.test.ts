/** Commands of several messages, with a played broker that acknowledges when the test wants it to. */
import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import { systemClock } from "@edgecall/node/clock.ts";
import { LedgerFile } from "@edgecall/node/ledger-file.ts";
import { expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import type { Published } from "../broker/broker.ts";
import { type CarryOutParts, carryOut } from "./carry-out.ts";
import { DeviceLedger } from "./command-ledger.ts";
import { Corrections } from "./corrections.ts";
import type { DeviceCall, Interruption } from "./device-call.ts";
import { MessageWatch } from "./message-watch.ts";
import { homeAssistantSender, mqttSender } from "./sender.ts";
import { Subscriptions } from "./subscriptions.ts";

const log = () => {};
const DELIVERED: Published = { kind: "delivered", listening: true };

/** A lamp whose brightness and whose switch have a topic each, and a command for both. Nothing reports its state if it is `mute`. */
async function lamp({ isMute = false, withinMs = 60_000 } = {}) {
  const published: string[] = [];
  const acks: ((answer: Published) => void)[] = [];
  const broker = {
    up: true,
    publish: (topic: string) => {
      published.push(topic);
      return new Promise<Published>((resolve) => acks.push(resolve));
    },
    subscribe: async () => [],
    unsubscribe: async () => true,
  };
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const catalog = new DeviceCatalog({ prefix: "homeassistant", ownPrefix: "evoclaw", sha256 });
  const config = {
    name: null,
    unique_id: "lamp",
    command_topic: "lamp/set",
    brightness_command_topic: "lamp/brightness/set",
    on_command_type: "first",
    ...(!isMute && { state_topic: "lamp/state", brightness_state_topic: "lamp/brightness" }),
    device: { identifiers: ["lamp"], name: "Lamp" },
  };
  catalog.mqtt.config("homeassistant/light/lamp/config", JSON.stringify(config), Date.now());
  const watch = new MessageWatch();
  const parts: CarryOutParts = {
    log,
    clock: systemClock,
    senders: {
      mqtt: mqttSender({ prefix: "evoclaw", broker, subscriptions: new Subscriptions(broker, log) }),
      "home-assistant": homeAssistantSender(() => undefined),
    },
    catalog,
    watch,
    corrections: new Corrections(watch),
    onCommand: () => () => {},
  };
  const file = new LedgerFile(join(mkdtempSync(join(tmpdir(), "carry-out-")), "calls.jsonl"));
  const ledger = await DeviceLedger.open(file, log, systemClock);
  const call: DeviceCall = {
    id: "c",
    agent: "lamp",
    key: "k",
    action: "set",
    parameters: { on: true, brightness_pct: 40 },
    allow: undefined,
    route: undefined,
    sink: { accepted: log, refused: log, reported: log },
    deadline: systemClock.now() + withinMs,
    began: systemClock.now(),
    interrupted: undefined,
    wake: log,
  };
  const ended = carryOut(parts, ledger, call).finally(() => ledger.close());
  await until(() => acks.length === 1, { what: "the first message" });
  /** The lamp reports. */
  const say = (topic: string, payload: string) => {
    catalog.mqtt.state(topic, payload, { now: Date.now(), retained: false });
    parts.watch.came();
  };
  return { acks, broker, call, ended, ledger, published, say };
}

const interruptions: [Interruption, RegExp][] = [
  ["cancelled", /^Error: Only a part of the command was sent to Lamp: then it was cancelled\./],
  ["stopped", /^Error: Only a part of the command was sent to Lamp: then a later call stopped it\./],
];

test.each(interruptions)("once it is %s, no further message of it is sent", async (why, words) => {
  const { acks, call, ended, ledger, published } = await lamp();
  call.interrupted = why;
  acks[0]?.(DELIVERED);
  expect(await ended).toMatchObject({
    report: {
      payload: { status: "error", error_type: "outcome_unknown", error: expect.stringMatching(words) },
    },
  });
  expect(published).toHaveLength(1);
  // It may not be sent again.
  expect(ledger.get("c")).toMatchObject({ state: "sent" });
});

test("cancelled before anybody had it: nothing was run", async () => {
  const { acks, call, ended, ledger, published } = await lamp();
  call.interrupted = "cancelled";
  acks[0]?.({ kind: "delivered", listening: false });
  expect(await ended).toMatchObject({ refuse: "not_listening" });
  expect(published).toHaveLength(1);
  expect(ledger.get("c")).toBeUndefined();
});

test("when the broker is lost in between, a lamp that never reports is not told as switched", async () => {
  const { acks, broker, ended, published } = await lamp({ isMute: true });
  acks[0]?.(DELIVERED);
  broker.up = false;
  await until(() => acks.length === 2, { what: "the second message" });
  acks[1]?.({ kind: "offline" });
  expect(await ended).toMatchObject({
    report: {
      payload: {
        error_type: "outcome_unknown",
        error: expect.stringMatching(
          /^Error: Only a part of the command was sent to Lamp: then the broker took no more/,
        ),
      },
    },
  });
  expect(published).toHaveLength(2);
});

test("what the broker may have lost is not told as sent to a lamp that never reports", async () => {
  const { acks, ended } = await lamp({ isMute: true });
  acks[0]?.({ kind: "unsure" });
  await until(() => acks.length === 2, { what: "the second message" });
  acks[1]?.(DELIVERED);
  expect(await ended).toMatchObject({
    report: {
      payload: {
        error_type: "outcome_unknown",
        error: expect.stringMatching(/^Error: The broker did not say that it took the command to Lamp/),
      },
    },
  });
});

test("a report that is taken back at once confirms nothing", async () => {
  const { acks, call, ended, say } = await lamp({ withinMs: 3_000 });
  acks[0]?.(DELIVERED);
  await until(() => acks.length === 2, { what: "the second message" });
  acks[1]?.(DELIVERED);
  await until(() => call.wake !== log, { what: "the wait for the state" });
  say("lamp/brightness", "102");
  say("lamp/state", "ON");
  say("lamp/state", "OFF");
  expect(await ended).toMatchObject({
    report: {
      payload: {
        error_type: "outcome_unknown",
        error: expect.stringMatching(/^Error: Sent to Lamp; it did not confirm it within/),
      },
    },
  });
});

test("a report that stays is told after a moment", async () => {
  const { acks, call, ended, say } = await lamp();
  acks[0]?.(DELIVERED);
  await until(() => acks.length === 2, { what: "the second message" });
  acks[1]?.(DELIVERED);
  await until(() => call.wake !== log, { what: "the wait for the state" });
  say("lamp/state", "OFF");
  say("lamp/brightness", "102");
  say("lamp/state", "ON");
  expect(await ended).toMatchObject({
    report: { payload: { status: "success", confirmed: true, result: expect.stringMatching(/^Lamp: on/) } },
  });
});
