/** @returns the body; undefined when it has more than `maxBytes`: the header's size is not trusted */
export async function readUpTo(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // SAFETY: the streams of Node and of workers can be iterated over; the browsers' types say nothing of it.
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    // Leaving the loop cancels the body.
    if (bytes > maxBytes) return undefined;
    parts.push(part);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
