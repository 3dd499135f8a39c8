/** Pictures of Home Assistant's cameras, which it serves over HTTP. */
import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";

const WITHIN_MS = 12_000;

/** Where it is over HTTP: `ws://HOST:8123/api/websocket` is `http://HOST:8123`, and `ws://supervisor/core/websocket` is `http://supervisor/core`. */
export function httpUrl(url: string): string {
  return url.replace(/^ws/, "http").replace(/(?:\/api)?\/websocket\/?$/, "");
}

export async function fetchPicture(
  url: string,
  token: string,
): Promise<{ mediaType: string; bytes: Uint8Array } | { error: string }> {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(WITHIN_MS),
      redirect: "error",
    });
    if (!response.ok) {
      await response.body?.cancel();
      return { error: `Home Assistant has no picture of it now (${response.status})` };
    }
    const bytes = await bytesOf(response, MEDIA_MAX_BYTES);
    if (bytes === undefined) return { error: "its picture is too large" };
    return { mediaType: (response.headers.get("content-type") ?? "").split(";")[0] ?? "", bytes };
  } catch {
    return { error: "Home Assistant did not send its picture in time" };
  }
}

/** @returns a body; undefined: it is larger than `max` */
export async function bytesOf({ body }: Response, max: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > max) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
