/** A snapshot that is interrupted: the bridge dials again, and the object goes on. */
import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import { afterEach, expect, test } from "vitest";
import { theHome } from "../../../../test/states.ts";
import { until } from "../../../../test/wait.ts";
import { agent, TestBridge } from "../../../../test/workerd.ts";

afterEach(reset);

test("an object that was rebuilt within a snapshot closes the socket, and no error leaves its handler", async () => {
  const bridge = await TestBridge.dial();
  await bridge.hello(["kept"]);
  bridge.send({ t: "snapshot", agents: [agent("pi")], last: false, n: 1 });
  await until(() => bridge.received.some(({ t }) => t === "stored"), { what: "the first frame is stored" });
  await evictDurableObject(theHome());
  await runInDurableObject(theHome(), async (home, ctx) => {
    const [socket] = ctx.getWebSockets("bridge");
    if (!socket) throw new Error("the socket did not outlast the object");
    const rest = JSON.stringify({ t: "snapshot", agents: [], last: true, n: 2 });
    // An error that leaves the handler would reset the object.
    await expect(home.webSocketMessage?.(socket, rest)).resolves.toBeUndefined();
  });
  await until(() => bridge.closed, { what: "the socket is closed" });
  expect(bridge.closed?.code).toBe(CLOSE.silent);
});
