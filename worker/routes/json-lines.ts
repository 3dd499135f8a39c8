/** A download of JSON lines: made as it is read, so that no more than a piece of it is in memory. */

export function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** @param pieces each of them whole lines. @param name of the file, before its day */
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
