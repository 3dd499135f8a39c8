/** Calls the gateway's routes with the session's cookie, and with our header on every request that changes something. */

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds until a retry may succeed, when there were too many requests. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, retryAfter?: number) {
    super(message);
    this.retryAfter = retryAfter;
    this.status = status;
    this.code = code;
  }
}

type Request = { method?: string; body?: unknown; signal?: AbortSignal; headers?: Record<string, string> };

/** @throws ApiError with the gateway's error text */
export async function send(path: string, request: Request = {}): Promise<Response> {
  const { method = "GET", body, signal, headers } = request;
  const response = await fetch(path, {
    method,
    credentials: "same-origin",
    headers: {
      "x-edgecall-console": "1",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The gateway cannot be reached; is this machine online?");
  });
  if (response.ok) return response;
  const text = await response.text();
  throw apiError(response, text);
}

export async function json<T>(path: string, request: Request = {}): Promise<T> {
  const response = await send(path, request);
  return (await response.json()) as T;
}

function apiError({ status, headers }: Response, text: string): ApiError {
  const seconds = Number(headers.get("retry-after") ?? "");
  const retryAfter = Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string } };
    if (error?.message) return new ApiError(status, error.code ?? "", error.message, retryAfter);
  } catch {
    // A proxy's page, whose text does not help here.
  }
  return new ApiError(status, "", `The gateway answered with ${status}.`, retryAfter);
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export type ServerEvent = { id: string | undefined; event: string; data: unknown };

/** Yields the events of a `text/event-stream` as they arrive. */
export async function* serverEvents(
  response: Response,
  heard: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    heard();
    const blocks = (rest + decoder.decode(part.value, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const read = readBlock(block);
      if (read) yield read;
    }
  }
}

function readBlock(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).trimStart());
  }
  const data = fields.get("data");
  if (data === undefined) return undefined;
  return { id: fields.get("id"), event: fields.get("event") ?? "message", data: JSON.parse(data) };
}
