/** A download of JSON lines. It is made while it is read, so only one piece is in memory. */

export function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** @param pieces each holds whole lines @param name of the file, before the date */
export function jsonLines(pieces: AsyncGenerator<string>, name: string): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
  const file = `${name}-${new Date().toISOString().slice(0, 10)}.jsonl`;
  return new Response(body, {
    headers: {
      "content-type": "application/x-ndjson",
      "content-disposition": `attachment; filename="${file}"`,
      "cache-control": "no-store",
    },
  });
}
