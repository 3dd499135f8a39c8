/** One hostile request, and its allowed results. */

/** The form of an error on this route: `{error:{code,message}}`, OpenAI's, or in addition to ours JSON-RPC's or OAuth's and its pages. */
export type ErrorForm = "ours" | "openai" | "mcp" | "oauth";

/**
 * @property may the allowed results. `refused`: only 4xx; `answered`: any status below 500. Neither may begin a turn
 */
type Common = { kind: string; may: "refused" | "answered" };

export type HttpRequest = Common & {
  by: "http";
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
  /** True: sent without Content-Length. */
  chunked: boolean;
  form: ErrorForm;
  /** Stricter than `may`: this status, and these words in the answer. */
  exactly: { status: number; words?: RegExp } | undefined;
};
/** A WebSocket handshake, and the frames to send when it succeeds. */
export type SocketRequest = Common & {
  by: "socket";
  path: string;
  headers: Record<string, string>;
  frames: Array<string | Buffer>;
};
/** Bytes that are not valid HTTP: the server may close the connection. */
export type RawRequest = Common & { by: "raw"; bytes: Buffer };

export type HostileRequest = HttpRequest | SocketRequest | RawRequest;

/** Returns the path as the Worker sees it, without dot segments. */
export function pathnameOf(path: string): string {
  return new URL(`http://gateway${path}`).pathname;
}

function formOf(path: string): ErrorForm {
  const pathname = pathnameOf(path);
  if (/^\/v1\/(models|responses|chat)(\/|$)/.test(pathname)) return "openai";
  if (pathname.startsWith("/oauth/")) return "oauth";
  return /^\/mcp\/?$/.test(pathname) ? "mcp" : "ours";
}

/** @param more the differences from a bare GET that must be refused with an error in our form */
export function http(kind: string, path: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return {
    by: "http",
    kind,
    may: "refused",
    method: more.body === undefined ? "GET" : "POST",
    path,
    headers: {},
    body: undefined,
    chunked: false,
    form: formOf(path),
    exactly: undefined,
    ...more,
  };
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

export function json(value: unknown): Buffer {
  return Buffer.from(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

/** Describes a request for a person who reads about a fault. */
export function describeRequest(request: HostileRequest): string {
  const bytes = (data: Buffer) =>
    data.length > 2_000
      ? `${data.length} bytes: ${JSON.stringify(data.toString("latin1", 0, 300))}…`
      : JSON.stringify(data.toString("latin1"));
  if (request.by === "raw") return `${request.kind}: ${bytes(request.bytes)}`;
  if (request.by === "socket")
    return `${request.kind}: GET ${request.path} ${JSON.stringify(request.headers)} frames ${request.frames.map((frame) => bytes(Buffer.from(frame))).join(" | ")}`;
  return `${request.kind}: ${request.method} ${request.path} ${JSON.stringify(request.headers)}${request.chunked ? " chunked" : ""} ${request.body ? bytes(request.body) : "no body"}`;
}
