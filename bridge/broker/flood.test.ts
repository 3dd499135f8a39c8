/** A flood of messages leaves time for everything else: pings, the gateway, timers. */
import { openMqtt } from "@edgecall/node/mqtt-client.ts";
import { connectAsync } from "mqtt";
import { expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { startAedes } from "../testkit/brokers.ts";

const MESSAGES = 500;
const HANDLED_IN_MS = 1;

test("messages that wait are handled a few at a time", async () => {
  const broker = await startAedes();
  const client = openMqtt({ url: broker.url }, { clientId: "reader" });
  await new Promise((resolve) => client.once("connect", resolve));
  const publisher = await connectAsync(broker.url);
  try {
    let [handled, inTurn, most] = [0, 0, 0];
    client.on("message", () => {
      const end = performance.now() + HANDLED_IN_MS;
      while (performance.now() < end);
      handled += 1;
      inTurn += 1;
      most = Math.max(most, inTurn);
      if (inTurn === 1)
        setImmediate(() => {
          inTurn = 0;
        });
    });
    await client.subscribeAsync("flood", { qos: 0 });
    for (let n = 0; n < MESSAGES; n += 1) publisher.publish("flood", String(n), { qos: 0 });
    await until(() => handled === MESSAGES, { what: "all messages are handled" });
    expect(most).toBeLessThan(50);
  } finally {
    await client.endAsync(true);
    await publisher.endAsync(true);
    await broker.stop();
  }
});
