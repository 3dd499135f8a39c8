/** Waits until a newly deployed gateway answers. */
import { VERSION } from "@edgecall/core/protocol/names.ts";

/** A new workers.dev address takes up to a minute, including its certificate. */
const UP_WITHIN_MS = 180_000;
const PAUSE_MS = 1_000;
const REQUEST_MS = 10_000;

export type GatewayCheck = {
  /** Without a slash at its end. */
  url: string;
  /** The owner's token if it is known; the gateway must then accept it. */
  token: string | undefined;
  withinMs?: number;
};

/** @throws an error with the last problem */
export async function gatewayUp({ url, token, withinMs = UP_WITHIN_MS }: GatewayCheck): Promise<void> {
  const until = performance.now() + withinMs;
  for (;;) {
    const problem = await problemAt(url, token);
    if (problem === undefined) return;
    if (performance.now() > until)
      throw new Error(`${url} did not come up within ${withinMs / 1_000} s: ${problem}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function problemAt(url: string, token: string | undefined): Promise<string | undefined> {
  try {
    const health = await get(`${url}/healthz`, undefined);
    const { version } = (await health.json()) as { version?: unknown };
    if (!health.ok) return `/healthz answered ${health.status}`;
    if (version !== VERSION) return `/healthz tells version ${version}, not ${VERSION}`;
    const status = await get(`${url}/v1/status`, token);
    await status.body?.cancel();
    if (status.status === (token === undefined ? 401 : 200)) return undefined;
    return status.status === 500 ? "its secrets have not reached it" : `/v1/status answered ${status.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function get(url: string, token: string | undefined): Promise<Response> {
  return fetch(url, {
    signal: AbortSignal.timeout(REQUEST_MS),
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });
}
