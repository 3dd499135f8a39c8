/** One hostile request, and its allowed results. */

/** The form of an error on this route: `{error:{code,message}}`, OpenAI's, or JSON-RPC's in addition to ours. */
export type ErrorForm = "ours" | "openai" | "mcp";

/**
 * @property may the allowed results. `refused`: only 4xx; `answered`: any status below 500. Neither may begin a turn
 */
type Common = { kind: string; may: "refused" | "answered" };

export type HttpShot = Common & {
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
export type SocketShot = Common & {
  by: "socket";
  path: string;
  headers: Record<string, string>;
  frames: Array<string | Buffer>;
};
/** Bytes that are not valid HTTP: the server may close the connection. */
export type RawShot = Common & { by: "raw"; bytes: Buffer };

export type Shot = HttpShot | SocketShot | RawShot;

/** Returns the path as the Worker sees it, without dot segments. */
export function pathnameOf(path: string): string {
  return new URL(`http://gateway${path}`).pathname;
}

function formOf(path: string): ErrorForm {
  const pathname = pathnameOf(path);
  if (/^\/v1\/(models|responses|chat)(\/|$)/.test(pathname)) return "openai";
  return pathname === "/mcp" ? "mcp" : "ours";
}

/** @param more the differences from a bare GET that must be refused with an error in our form */
export function http(kind: string, path: string, more: Partial<HttpShot> = {}): HttpShot {
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
export function describeShot(shot: Shot): string {
  const bytes = (data: Buffer) =>
    data.length > 2_000
      ? `${data.length} bytes: ${JSON.stringify(data.toString("latin1", 0, 300))}…`
      : JSON.stringify(data.toString("latin1"));
  if (shot.by === "raw") return `${shot.kind}: ${bytes(shot.bytes)}`;
  if (shot.by === "socket")
    return `${shot.kind}: GET ${shot.path} ${JSON.stringify(shot.headers)} frames ${shot.frames.map((frame) => bytes(Buffer.from(frame))).join(" | ")}`;
  return `${shot.kind}: ${shot.method} ${shot.path} ${JSON.stringify(shot.headers)}${shot.chunked ? " chunked" : ""} ${shot.body ? bytes(shot.body) : "no body"}`;
}
