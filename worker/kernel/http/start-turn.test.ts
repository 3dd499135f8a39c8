import { expect, onTestFinished, test } from "vitest";
import { script } from "../../../test/scripted-model.ts";
import { ask, say } from "../../../test/workerd.ts";
import { Conversation } from "../../conversation.ts";

/** Counts the requests to these conversations. Others' may come from what another file of this isolate has left. */
function counted(...ids: string[]): { fetch: number; start: number } {
  const counts = { fetch: 0, start: 0 };
  const prototype = Conversation.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of ["fetch", "start"] as const) {
    const real = prototype[name];
    if (!real) throw new Error(`there is no method ${name}`);
    prototype[name] = function (this: { ctx: DurableObjectState }, ...args: unknown[]) {
      if (ids.some((id) => this.ctx.id.name?.endsWith(`/${id}`))) counts[name] += 1;
      return real.apply(this, args);
    };
    onTestFinished(() => {
      prototype[name] = real;
    });
  }
  return counts;
}

test.each([
  ["of any letters is one request to its conversation, streamed too", "Wie warm ist es im Büro? 🌡\u2028", 0],
  ["that is too long for a header is one request, and two when it is streamed", "ü".repeat(6_000), 1],
])("a turn %s, and its words arrive whole", async (_, words, alone) => {
  const [whole, streamed] = [crypto.randomUUID(), crypto.randomUUID()];
  const counts = counted(whole, streamed);
  const text = `${words}\n${script({ text: "warm" })}`;
  const shown = async (id: string) =>
    expect(await (await ask(`/v1/conversations/${id}`)).json()).toMatchObject({
      turns: [{ text: text.trim() }],
    });

  expect(await say(whole, text)).toMatchObject({ status: 200, body: { answer: "warm" } });
  expect(counts).toEqual({ fetch: 0, start: 1 });
  await shown(whole);

  const headers = { "idempotency-key": "once", accept: "text/event-stream" };
  const again = async () =>
    await (
      await ask(`/v1/conversations/${streamed}/messages`, {
        method: "POST",
        headers,
        body: JSON.stringify({ text }),
      })
    ).text();
  const first = await again();
  expect(first).toContain("event: done");
  expect(counts).toEqual({ fetch: 1, start: 1 + alone });
  await shown(streamed);
  // The same key is the same turn, whose events come once more.
  expect(/"turn":"([^"]+)"/.exec(await again())?.[1]).toBe(/"turn":"([^"]+)"/.exec(first)?.[1]);
});
