import fc from "fast-check";
import { expect, test } from "vitest";
import { type SentEvent, sentEvents } from "./event-stream.ts";

async function read(pieces: readonly Uint8Array[]): Promise<SentEvent[]> {
  const events: SentEvent[] = [];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  for await (const event of sentEvents(body)) events.push(event);
  return events;
}

const STREAM =
  'event: turn\ndata: {"turn":"ü"}\n\n: keep-alive\n\nid: 7\nevent: done\r\ndata: {}\r\n\r\nevent: half\n';

test("events are the same wherever the network splits them; comments and incomplete ones are ignored", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      expect(await read(at.slice(1).map((end, index) => bytes.slice(at[index], end)))).toEqual([
        { event: "turn", data: '{"turn":"ü"}', id: undefined },
        { event: "done", data: "{}", id: "7" },
      ]);
    }),
  );
});
