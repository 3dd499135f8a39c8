/** Reads server-sent events (HTML §9.2), as far as the gateway uses them. */

/** @property data text, which is JSON @property id of the last event that counts, to go on behind it */
export type SentEvent = { event: string; data: string; id: string | undefined };

/**
 * Reads the events of a body to its end.
 * @param onSign called for every piece, even for comments that keep the connection open
 */
export async function* sentEvents(
  body: ReadableStream<Uint8Array>,
  onSign: () => void = () => {},
): AsyncGenerator<SentEvent> {
  // Not every browser can iterate over a stream.
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      onSign();
      const text = rest + decoder.decode(piece.value, { stream: true });
      const blocks = text.replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventOf(block);
        if (event) yield event;
      }
    }
  } finally {
    // A reader that stops early ends the request.
    await reader.cancel().catch(() => undefined);
  }
}

/** A block that has only comments is no event. */
function eventOf(block: string): SentEvent | undefined {
  const lines = block.split("\n");
  const field = (name: string) =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trimStart());
  const data = field("data");
  if (data.length === 0) return undefined;
  return { event: field("event").at(-1) ?? "message", data: data.join("\n"), id: field("id").at(-1) };
}
