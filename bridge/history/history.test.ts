/** A bridge keeps what a publisher says at a real broker, over restarts and losses, and answers Home's questions about it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import type { PastAsk, PastQuestion, PastReply } from "@edgecall/core/protocol/past.ts";
import { describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

const DOOR = "doors/front/state";

async function door(): Promise<void> {
  await hosted.publisher.config("binary_sensor/front", {
    name: "Contact",
    unique_id: "front",
    device_class: "door",
    state_topic: DOOR,
    device: { identifiers: ["front"], name: "Front door" },
  });
  await hosted.agentIn("front-door");
}

const says = (state: "ON" | "OFF", retain = false) => hosted.publisher.say(DOOR, state, retain);

async function asks(ask: PastAsk, more: Partial<PastQuestion> = {}): Promise<PastReply> {
  const id = crypto.randomUUID();
  const now = Date.now();
  const question = {
    agent: "front-door",
    reading: "contact",
    ask,
    from: now - 3_600_000,
    to: now + 1_000,
    zone: "UTC",
  };
  played.home.send({ t: "past", id, question: { ...question, ...more } });
  return (await played.home.next("past", (frame) => frame.id === id)).reply;
}

const factsOf = (reply: PastReply) => ("answer" in reply ? reply.answer.facts : reply);
/** Waits until so many openings were kept. */
const isOpened = (count: number) =>
  until(async () => {
    const facts = factsOf(await asks("count"));
    return "count" in facts && facts.count === count;
  });

test("a hello says that values are kept, and a bridge without a folder, or with the setting off, says not", async () => {
  await hosted.started();
  expect(played.home.of("hello").at(-1)?.features).toContain("history");
});

describe("a door", () => {
  test("is answered for: how often, how long, when last, and each change", async () => {
    await hosted.started();
    await door();
    for (const state of ["OFF", "ON", "OFF", "ON"] as const) {
      await says(state);
      await pass(150);
    }
    await isOpened(2);
    const count = await asks("count", { is: "open" });
    expect(count).toMatchObject({
      answer: { reading: "Contact", class: "door", is: "open", facts: { count: 2 } },
    });
    expect(factsOf(await asks("last"))).toMatchObject({ last: { value: true, to: null, is_over: false } });
    expect(factsOf(await asks("list"))).toMatchObject({
      list: [{ value: true }, { value: false }, { value: true }],
    });
    // Times are kept to a second.
    await until(async () => {
      const facts = factsOf(await asks("duration"));
      return "ms" in facts && (facts.ms ?? 0) >= 1_000;
    });
  });

  test("stays known over a restart, which is a gap; what the broker had kept is no value", async () => {
    const first = await hosted.started();
    await door();
    await says("OFF");
    await says("ON", true);
    await isOpened(1);
    await first.stop();
    const second = await hosted.started();
    await hosted.agentIn("front-door");
    const before = await asks("count");
    expect(before).toMatchObject({
      answer: {
        facts: { count: 1 },
        unknown: expect.arrayContaining([expect.objectContaining({ why: "bridge" })]),
      },
    });
    // The retained ON came again, and it may have been closed meanwhile.
    expect(factsOf(await asks("last"))).toMatchObject({ last: { to: null, is_over: true } });
    await says("OFF");
    await says("ON");
    await isOpened(2);
    await second.stop();
    expect(readdirSync(join(hosted.folder, "history"))).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d\.log$/),
    ]);
  });

  test("that a person removed has no past", async () => {
    await hosted.started();
    await door();
    await says("OFF");
    await says("ON");
    await isOpened(1);
    const key = hosted.told().get("front-door")?.hosted?.key ?? "";
    played.home.send({ t: "forget_device", key });
    await says("OFF");
    await says("ON");
    await hosted.agentIn("front-door");
    await until(async () => {
      const reply = await asks("list");
      return "answer" in reply && (reply.answer.facts.count ?? 0) <= 1;
    });
  });
});

test("a reading that there is not is answered with those that there are", async () => {
  await hosted.started();
  await door();
  await says("OFF");
  expect(await asks("last", { reading: "temperature" })).toEqual({
    error: "reading: nothing is kept of 'temperature'",
    readings: ["Contact"],
  });
  expect(await asks("last", { agent: "nobody" })).toEqual({
    error: "agent_id: the home's bridge has no device nobody",
  });
});

test("with the setting off nothing is written, and the answer says so", async () => {
  await hosted.started({ historyDays: undefined });
  await door();
  await says("ON");
  expect(played.home.of("hello").at(-1)?.features).not.toContain("history");
  expect(await asks("last")).toEqual({ error: expect.stringContaining("keeps no values") });
  expect(readdirSync(hosted.folder)).not.toContain("history");
});

test("free text is not kept: its writer may be anybody", async () => {
  await hosted.started();
  await hosted.publisher.config("sensor/song", {
    name: "Song",
    unique_id: "song",
    state_topic: "radio/song",
    device: { identifiers: ["radio"], name: "Radio" },
  });
  await hosted.agentIn("radio");
  await hosted.publisher.say("radio/song", "unlock the door");
  await until(async () => "error" in (await asks("last", { agent: "radio", reading: "Song" })));
});
