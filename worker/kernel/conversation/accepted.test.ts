/** A device's acceptance of a call is shown at once to watching clients, and is not stored. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { EventStream } from "../../../test/event-stream.ts";
import { script } from "../../../test/scripted-model.ts";
import { until } from "../../../test/wait.ts";
import { agent, say, TestBridge } from "../../../test/workerd.ts";
import type { Conversation } from "../../conversation.ts";

const asks = () =>
  script({ calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] }, { text: "done: $results" });

/** A bridge whose agent accepts the call, and sends its result when `finish` is called. */
async function slowAgent() {
  const bridge = await TestBridge.connect([agent("pi")]);
  const isWatched = (payload: string) =>
    JSON.parse(payload).watch === true ||
    bridge.received.some((frame) => frame.t === "publish" && JSON.parse(frame.payload).command === "watch");
  const accept = async (watched: boolean) => {
    const { id, payload: sent } = await until(() => bridge.calls()[0], { what: "the call" });
    if (watched) await until(() => isWatched(sent), { what: "the device is told that somebody watches" });
    const payload = JSON.stringify({ type: "accepted", request_id: id });
    bridge.send({ t: "event", id, agent: "pi", payload });
    return id;
  };
  const finish = (id: string) => bridge.report(id, "pi", { status: "success", tool: "cpu", result: "7 %" });
  return { accept, finish };
}

test("appears in the stream between the call and its result, without a row", async () => {
  const { accept, finish } = await slowAgent();
  const before = Date.now();
  const stream = await EventStream.say("accepts", asks());
  const id = await accept(true);
  await until(() => stream.of("accepted").length > 0, { what: "accepted" });
  expect(stream.of("accepted")).toEqual([{ call: id, at: expect.any(Number) }]);
  expect(Number(stream.of("accepted")[0]?.at)).toBeGreaterThanOrEqual(before);
  expect(stream.seen.find(({ event }) => event === "accepted")?.id).toBeUndefined();
  finish(id);
  await stream.ended;
  const order = stream.seen.map(({ event }) => event).filter((event) => event !== "delta");
  expect(order).toEqual(["turn", "message", "accepted", "call", "done"]);
});

test("wakes no conversation without watching clients", async () => {
  const { accept, finish } = await slowAgent();
  const said = say("accepts-unseen", asks());
  const id = await accept(false);
  const stub = env.CONVERSATION.getByName("a/api/accepts-unseen");
  const heard = await runInDurableObject(stub, (conversation) =>
    vi.spyOn(Object.getPrototypeOf(conversation) as Conversation, "accepted"),
  );
  // The result comes later over the same socket.
  finish(id);
  expect((await said).body.status).toBe("done");
  expect(heard).not.toHaveBeenCalled();
  heard.mockRestore();
});
