/** What is kept over the loss of a broker, and a kill of the bridge. */
import { setTimeout as pass } from "node:timers/promises";
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

  async function asks(ask: "duration" | "last"): Promise<string> {
    const id = crypto.randomUUID();
    const question = { agent: "plug-lamp", name: "Lamp", reading: "switch", ask, is: "on", zone: "UTC" };
    played.home.send({ t: "past", id, question });
    const { reply } = await played.home.next("past", (frame) => frame.id === id);
    return "text" in reply ? reply.text : reply.error;
  }

  const seconds = async () => Number(/ on for (\d+) s in all/.exec(await asks("duration"))?.[1] ?? 0);

  test("a loss of the broker is a gap, in which nothing is known, and a value after it is known again", async () => {
    await hosted.started();
    await hosted.publisher.plug("lamp");
    await hosted.agentIn("plug-lamp");
    // It is online before the bridge has subscribed to its state.
    await until(async () => {
      await hosted.publisher.say("plugs/lamp/state", "OFF");
      return (await asks("duration")).includes("on for 0 s in all");
    });
    await hosted.publisher.say("plugs/lamp/state", "ON");
    await until(async () => (await seconds()) > 0);
    await broker?.stop();
    await pass(300);
    await broker?.begin();
    await until(async () => (await asks("last")).includes("its end was not seen"));
    const before = await seconds();
    // Times are kept to a second.
    await pass(1_500);
    expect(await seconds()).toBe(before);
    await until(async () => {
      await hosted.publisher.say("plugs/lamp/state", "ON");
      return (await seconds()) > before;
    });
  });
});
