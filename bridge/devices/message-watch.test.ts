/** Waits for messages on a machine that comes late to its timers. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { MessageWatch } from "./message-watch.ts";

test("what came within the time counts, although the timer is read before it", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const reader = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [writer] = (await once(server, "connection")) as [Socket];
  const watch = new MessageWatch();
  let isHere = false;
  reader.on("data", () => {
    isHere = true;
    watch.came();
  });
  const waiting = watch.until(20, () => isHere || undefined);
  writer.write("x");
  const until = performance.now() + 60;
  while (performance.now() < until);
  expect(await waiting).toBe(true);
  expect(await watch.until(20, () => undefined)).toBeUndefined();
  reader.destroy();
  server.close();
});
