/** Rows of the designs (test/kept/seed-rows.ts) that no other test shows. */
import { topicOf } from "@edgecall/core/protocol/names.ts";
import { connectAsync, type IPublishPacket } from "mqtt";
import { expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pi" });
  await stack.gateway.online("pi");
});

test("commands, reports and adverts are published at least once", async () => {
  const client = await connectAsync(stack.mqttUrl, { protocolVersion: 4 });
  try {
    const seen = new Map<string, IPublishPacket>();
    client.on("message", (topic, _, packet) => void seen.set(topic, packet));
    const topics = (["commands", "reports", "capabilities"] as const).map((kind) =>
      topicOf("evoclaw", "pi", kind),
    );
    // The broker passes a message on as it was published, at most as it is subscribed.
    await client.subscribeAsync(topics, { qos: 2 });
    expect((await stack.gateway.ask(script(action("pi", "memory"), RESULTS))).status).toBe("done");
    await expect.poll(() => topics.map((topic) => seen.get(topic)?.qos)).toEqual([1, 1, 1]);
    expect(topics.map((topic) => seen.get(topic)?.retain)).toEqual([false, false, true]);
  } finally {
    await client.endAsync(true);
  }
});
