/** A bridge keeps what a publisher says at a real broker, over restarts and losses, and answers Home's questions about it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import type { PastAsk, PastReply } from "@edgecall/core/protocol/past.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
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
  const question = { agent: "front-door", name: "Front door", reading: "contact", ask, zone: "UTC", ...more };
  played.home.send({ t: "past", id, question });
  return (await played.home.next("past", (frame) => frame.id === id)).reply;
}

const textOf = (reply: PastReply) => ("text" in reply ? reply.text : reply.error);
/** Waits until an answer reads so. */
async function answers(wanted: RegExp, ask: PastAsk, more: Partial<PastQuestion> = {}): Promise<void> {
  let text = "";
  const isSo = async () => {
    text = textOf(await asks(ask, more));
    return wanted.test(text);
  };
  await until(isSo).catch(() => expect(text).toMatch(wanted));
}

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
    await answers(/^Front door, Contact, .* \(UTC\): open 2 times; last open [\d:]+, and still\./, "count");
    const last = await asks("last");
    expect(textOf(last)).toMatch(/: last open [\d:]+, and still\./);
    expect(last).toMatchObject({ last: expect.any(Number) });
    expect(last).not.toHaveProperty("tainted");
    expect(textOf(await asks("list"))).toMatch(/ open\n.* closed\n.* open\n/);
    // Times are kept to a second.
    await answers(/: open for [1-9]\d* s in all, 2 times/, "duration");
  });

  test("is answered for in a person's language", async () => {
    await hosted.started();
    await door();
    await says("OFF");
    await says("ON");
    const sentence = { language: "de", state: "offen" } as const;
    await answers(/^Front door: offen seit [\d:]+, jetzt \d+ s lang\.$/, "last", { sentence });
    await answers(/^Front door: 1-mal offen, .* bis [\d:]+\. Nicht bekannt: /, "count", { sentence });
  });

  test("is drawn, and the words stand beside the picture", async () => {
    await hosted.started();
    await door();
    await says("OFF");
    await answers(/The person sees the chart\./, "chart", { period: "1 h" });
    const reply = await asks("chart", { period: "1 h" });
    const picture = Buffer.from(("text" in reply && reply.picture) || "", "base64");
    expect(picture.subarray(1, 4).toString()).toBe("PNG");
    const line = await asks("chart", { period: "1 h", line: true });
    expect(line).not.toHaveProperty("picture");
    expect(line).toMatchObject({ line: { values: [null, false] } });
  });

  test("stays known over a restart, which is a gap; what the broker had kept is no value", async () => {
    const first = await hosted.started();
    await door();
    await says("OFF");
    await says("ON", true);
    await answers(/: open once;/, "count");
    await first.stop();
    const second = await hosted.started();
    await hosted.agentIn("front-door");
    // The retained ON came again, and it may have been closed meanwhile.
    await answers(/: open once; last open [\d:]+, its end was not seen\./, "count");
    await says("OFF");
    await says("ON");
    await answers(/: open 2 times;/, "count");
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
    await answers(/: open once;/, "count");
    const key = hosted.told().get("front-door")?.hosted?.key ?? "";
    played.home.send({ t: "forget_device", key });
    await played.home.next("gone", ({ agent }) => agent === "front-door");
    // Times are kept to a second.
    await pass(1_100);
    for (const state of ["ON", "OFF", "ON", "OFF"] as const) await says(state);
    await hosted.agentIn("front-door");
    // With those before it would be five.
    await answers(/: 3 times\./, "list");
  });
});

test("what cannot be answered is said with the field that is wrong, and what there is", async () => {
  await hosted.started();
  await door();
  await says("OFF");
  expect(await asks("last", { reading: "temperature" })).toEqual({
    error: "reading: nothing is kept of 'temperature'; it has Contact",
  });
  expect(await asks("last", { agent: "nobody" })).toEqual({
    error: "agent_id: the home's bridge has no device nobody",
  });
  expect(textOf(await asks("count", { period: "tomorrow" }))).toMatch(/^period: expected today/);
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
