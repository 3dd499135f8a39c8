/** What is kept over the loss of a broker, and a kill of the bridge. */
import { setTimeout as pass } from "node:timers/promises";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import { describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { findMosquitto, PlayedMosquitto } from "../testkit/brokers.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

describe("with Mosquitto", { tags: ["needs/mosquitto"] }, () => {
  let broker: PlayedMosquitto | undefined;
  const hosted = usePlayedDevices(async () => {
    broker = await PlayedMosquitto.start(findMosquitto() ?? "");
    return broker;
  });
  const { played } = hosted;

  async function asks(): Promise<PastReply> {
    const id = crypto.randomUUID();
    const now = Date.now();
    const question = {
      agent: "plug-lamp",
      reading: "switch",
      ask: "duration" as const,
      from: now - 600_000,
      to: now + 1_000,
      zone: "UTC",
    };
    played.home.send({ t: "past", id, question });
    return (await played.home.next("past", (frame) => frame.id === id)).reply;
  }

  const msOf = (reply: PastReply) => ("answer" in reply ? (reply.answer.facts.ms ?? 0) : -1);

  test("a loss of the broker is a gap, in which nothing is known, and a value after it is known again", async () => {
    await hosted.started();
    await hosted.publisher.plug("lamp");
    await hosted.agentIn("plug-lamp");
    await hosted.publisher.say("plugs/lamp/state", "ON");
    await until(async () => msOf(await asks()) > 0);
    await broker?.stop();
    await pass(300);
    await broker?.begin();
    const gone = await until(async () => {
      const reply = await asks();
      return "answer" in reply && reply.answer.unknown.some(({ why }) => why === "away")
        ? reply
        : undefined;
    });
    const before = msOf(gone);
    await pass(200);
    expect(msOf(await asks())).toBe(before);
    await until(async () => {
      await hosted.publisher.say("plugs/lamp/state", "ON");
      return msOf(await asks()) > before;
    });
  });
});
