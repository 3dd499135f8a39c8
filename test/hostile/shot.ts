/** One hostile request, and what may come of it. */

/** How an error of this route is worded: `{error:{code,message}}`, OpenAI's, or JSON-RPC's beside ours. */
export type ErrorForm = "ours" | "openai" | "mcp";

/** @property may what is in order: `refused`: 4xx and nothing else; `answered`: anything below 500, and still no turn */
type Common = { kind: string; may: "refused" | "answered" };

export type HttpShot = Common & {
  by: "http";
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
  /** Without Content-Length. */
  chunked: boolean;
  form: ErrorForm;
  /** Stricter than `may`: this status, and these words in the answer. */
  exactly: { status: number; words?: RegExp } | undefined;
};
/** A WebSocket's handshake, and frames if there comes one. */
export type SocketShot = Common & {
  by: "socket";
  path: string;
  headers: Record<string, string>;
  frames: Array<string | Buffer>;
};
/** Bytes that are no HTTP, or hardly: the connection may be closed. */
export type RawShot = Common & { by: "raw"; bytes: Buffer };

export type Shot = HttpShot | SocketShot | RawShot;

/** The path as the Worker sees it: without its dots. */
export function pathnameOf(path: string): string {
  return new URL(`http://gateway${path}`).pathname;
}

function formOf(path: string): ErrorForm {
  const pathname = pathnameOf(path);
  if (/^\/v1\/(models|responses|chat)(\/|$)/.test(pathname)) return "openai";
  return pathname === "/mcp" ? "mcp" : "ours";
}

/** @param more what differs from a bare GET that has to be refused in our form */
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

/** For a person who looks at what failed. */
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
