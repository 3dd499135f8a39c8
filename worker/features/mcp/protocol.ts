/**
 * Reads the messages of the Model Context Protocol over streamable HTTP. Clients of 2024 to 2025 begin with `initialize`; since
 * revision 2026-07-28 each request has an envelope in `_meta`, and headers that repeat it. The codes and HTTP statuses of refusals are
 * those of the specification (https://modelcontextprotocol.io/specification).
 */
import { tryFromBase64 } from "@edgecall/core/encoding.ts";
import { z } from "@edgecall/core/protocol/parse.ts";

/** The revision with envelopes. Revisions are dates, so later ones are greater. */
export const MODERN_REVISION = "2026-07-28";
/** The revisions that begin with `initialize`, the newest first. */
export const OLD_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
/** The transport refuses: a wrong HTTP method, Accept or revision. */
export const TRANSPORT_ERROR = -32_000;
const HEADER_MISMATCH = -32_020;
const UNSUPPORTED_REVISION = -32_022;

const KEY = "io.modelcontextprotocol/";
const REVISION = `${KEY}protocolVersion`;
const CLIENT = `${KEY}clientInfo`;
export const CAPABILITIES = `${KEY}clientCapabilities`;
/** Names the server in the `_meta` of each result. */
export const SERVER = `${KEY}serverInfo`;

/** Becomes a JSON-RPC error. Its HTTP status counts only for a message that is refused before its method runs. */
export class McpError extends Error {
  readonly code: number;
  readonly status: number;
  readonly data: object | undefined;

  constructor(
    code: number,
    message: string,
    { status = 400, data }: { status?: number; data?: object } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

export type RequestId = string | number;

export type McpRequest = {
  id: RequestId;
  method: string;
  params: Readonly<Record<string, unknown>>;
  /** Of revision 2026-07-28. */
  modern: boolean;
  /** The client wants progress notes with this token. */
  progressToken: RequestId | undefined;
};

const Id = z.union([z.string(), z.int()]);
const Meta = z.looseObject({ progressToken: z.optional(Id) });
const Sent = {
  jsonrpc: z.literal("2.0"),
  method: z.string(),
  params: z.optional(z.looseObject({ _meta: z.optional(Meta) })),
};
const Request = z.strictObject({ ...Sent, id: Id });
const Notification = z.strictObject(Sent);
const Answer = z.union([
  z.strictObject({ jsonrpc: z.literal("2.0"), id: Id, result: z.looseObject({}) }),
  z.strictObject({
    jsonrpc: z.literal("2.0"),
    id: z.optional(Id),
    error: z.looseObject({ code: z.int(), message: z.string() }),
  }),
]);
const Implementation = z.looseObject({ name: z.string(), version: z.string() });
const Envelope = z.looseObject({
  [REVISION]: z.string(),
  [CLIENT]: z.optional(Implementation),
  [CAPABILITIES]: z.looseObject({}),
});

/** Parameters of `initialize`. */
export const InitializeParams = z.looseObject({
  protocolVersion: z.string(),
  /** Nothing here depends on them. */
  capabilities: z.optional(z.looseObject({})),
  clientInfo: Implementation,
});
export const ReadParams = z.looseObject({ uri: z.string() });
export const ListParams = z.looseObject({ cursor: z.optional(z.string()) });
export const CallParams = z.looseObject({
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
  /** Of a call that is sent again after a person was asked. */
  requestState: z.optional(z.string()),
  inputResponses: z.optional(z.record(z.string(), z.unknown())),
});

type Message = z.infer<typeof Notification> & { id?: RequestId };

/** @returns undefined for a notification and for a client's answer, which need no reply @throws McpError when the message is refused */
export function readMessage(body: object, headers: Headers): McpRequest | undefined {
  const message = withoutNulls(body);
  const request = Request.safeParse(message).data;
  const sent: Message | undefined = request ?? Notification.safeParse(message).data;
  if (!sent && !Answer.safeParse(message).success)
    throw new McpError(INVALID_REQUEST, "Bad Request: the request body is not a valid JSON-RPC message");
  const modern = sent !== undefined && isModern(sent, headers);
  if (!modern) checkOldHeaders(headers, request?.method);
  if (!request) return undefined;
  const { id, method, params = {} } = request;
  return { id, method, params, modern, progressToken: params._meta?.progressToken };
}

/** Clients in languages with a null for what is absent send it: `params`, each member of it and of its `_meta` may be null. */
function withoutNulls(message: object): object {
  const { params, ...rest } = message as { params?: unknown };
  if (params === undefined || params === null) return rest;
  if (typeof params !== "object" || Array.isArray(params)) return message;
  const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
  const { _meta } = given;
  if (typeof _meta === "object" && !Array.isArray(_meta))
    given._meta = Object.fromEntries(Object.entries(_meta).filter(([, value]) => value !== null));
  return { ...rest, params: given };
}

/** The body decides the revision; the headers may not contradict it. */
function isModern(sent: Message, headers: Headers): boolean {
  const { id, method, params } = sent;
  const isRequest = id !== undefined;
  const meta = params?._meta;
  const inHeader = headers.get("mcp-protocol-version");
  const headerIsModern = inHeader !== null && inHeader >= MODERN_REVISION;
  const claimed = meta?.[REVISION];
  const fault = meta && REVISION in meta ? envelopeFault(meta, isRequest) : undefined;
  // Only a faultless envelope makes an `initialize` modern, where no such method exists.
  if (
    isRequest &&
    method === "initialize" &&
    !(typeof claimed === "string" && claimed >= MODERN_REVISION && !fault)
  ) {
    if (headerIsModern)
      throw mismatch(
        inHeader,
        "an initialize request (legacy handshake) was sent with a modern MCP-Protocol-Version header",
      );
    return false;
  }
  if (!meta || !(REVISION in meta)) {
    if (!headerIsModern) return false;
    if (isRequest) throw envelopeMissing(inHeader, meta);
  } else {
    if (fault)
      throw new McpError(
        INVALID_PARAMS,
        `Invalid _meta envelope for protocol revision ${MODERN_REVISION}: ${fault.key}: ${fault.problem}`,
        { data: { envelope: fault } },
      );
    if (inHeader !== null && inHeader !== claimed)
      throw mismatch(
        inHeader,
        `the body envelope names protocol version ${String(claimed)} but the MCP-Protocol-Version header names ${inHeader}`,
      );
  }
  checkModernHeaders(sent, headers, String(claimed ?? inHeader));
  return true;
}

/** Returns the problem of an envelope. A notification needs only the revision. */
function envelopeFault(
  meta: Record<string, unknown>,
  isRequest: boolean,
): { key: string; problem: string } | undefined {
  if (isRequest && !(CAPABILITIES in meta)) return { key: CAPABILITIES, problem: "missing" };
  const read = isRequest
    ? Envelope.safeParse(meta)
    : z.looseObject({ [REVISION]: z.string() }).safeParse(meta);
  const issue = read.error?.issues[0];
  return issue && { key: issue.path.map(String).join("."), problem: issue.message };
}

function envelopeMissing(revision: string, meta: object | undefined): McpError {
  const missing = meta ? [REVISION, CAPABILITIES].filter((key) => !(key in meta)) : ["_meta"];
  return new McpError(
    INVALID_PARAMS,
    `Invalid params: the MCP-Protocol-Version header names protocol revision ${revision}, but the request is missing the required per-request envelope key(s): ${missing.join(", ")}`,
    { data: { envelope: { missing } } },
  );
}

function checkModernHeaders({ id, method, params }: Message, headers: Headers, revision: string): void {
  const inHeader = headers.get("mcp-method");
  if (inHeader !== null && inHeader !== method)
    throw mismatch(inHeader, `the body names method ${method} but the Mcp-Method header names ${inHeader}`);
  if (revision !== MODERN_REVISION)
    throw new McpError(UNSUPPORTED_REVISION, `Unsupported protocol version: ${revision}`, {
      data: { supported: [MODERN_REVISION], requested: revision },
    });
  // Notifications may come without headers.
  if (id === undefined) return;
  if (headers.get("mcp-protocol-version") === null)
    throw mismatch(
      "(missing)",
      `the body envelope names protocol version ${revision} but the required MCP-Protocol-Version header is absent`,
    );
  if (inHeader === null)
    throw mismatch(
      "(missing)",
      `the body names method ${method} but the required Mcp-Method header is absent`,
    );
  const field = NAME_FIELDS.get(method);
  if (field !== undefined) checkNameHeader(headers.get("mcp-name"), field, params?.[field]);
}

/** The parameter that the header `Mcp-Name` repeats. */
const NAME_FIELDS = new Map([
  ["tools/call", "name"],
  ["resources/read", "uri"],
]);

function checkNameHeader(inHeader: string | null, field: string, name: unknown): void {
  const body = typeof name === "string" ? `the body carries params.${field}="${name}"` : undefined;
  if (inHeader === null) {
    if (body) throw mismatch("(missing)", `${body} but the required Mcp-Name header is absent`);
    return;
  }
  const named = decodedHeader(inHeader);
  if (named === undefined)
    throw mismatch(inHeader, "the Mcp-Name header carries an invalid Base64 sentinel value");
  if (body && named !== name) throw mismatch(inHeader, `${body} but the Mcp-Name header names "${named}"`);
}

/** Reads a header's value; one that a header cannot carry is base64 of UTF-8 in `=?base64?…?=`. @returns undefined when that is wrong */
function decodedHeader(value: string): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = base64.length % 4 === 0 ? tryFromBase64(base64) : undefined;
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function mismatch(header: string, body: string): McpError {
  return new McpError(HEADER_MISMATCH, `Bad Request: the request headers and body disagree: ${body}`, {
    data: { mismatch: { header, body } },
  });
}

function checkOldHeaders(headers: Headers, method: string | undefined): void {
  const revision = headers.get("mcp-protocol-version");
  // `initialize` settles the revision.
  if (revision !== null && method !== "initialize" && !OLD_REVISIONS.includes(revision))
    throw new McpError(
      TRANSPORT_ERROR,
      `Bad Request: Unsupported protocol version: ${revision} (supported versions: ${OLD_REVISIONS.join(", ")})`,
    );
}

/** Hints for a client's interface. */
export type ToolAnnotations = {
  readOnlyHint: boolean;
  openWorldHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
};

export type McpTool = {
  name: string;
  title: string;
  description: string;
  /** JSON Schema of an object. */
  inputSchema: Readonly<Record<string, unknown>>;
  annotations: ToolAnnotations;
};

export type ContentBlock =
  | { type: "text"; text: string }
  /** The data is base64. */
  | { type: "image"; data: string; mimeType: string }
  | {
      type: "resource_link";
      uri: string;
      name: string;
      description: string;
      mimeType: string;
      size: number;
    };

export type McpResource = {
  uri: string;
  name: string;
  description: string;
  mimeType: string;
  /** In bytes. */
  size: number;
  annotations: { lastModified: string };
};

export type ResourcePage = { resources: McpResource[]; nextCursor?: string };

/** The blob is base64. */
export type ResourceContents = { uri: string; mimeType: string } & ({ text: string } | { blob: string });

export type CallToolResult = {
  content: ContentBlock[];
  isError?: boolean;
  _meta?: Readonly<Record<string, unknown>>;
  /** `input_required`: the client asks its person, and sends the call again. */
  resultType?: "input_required";
  inputRequests?: Readonly<Record<string, unknown>>;
  requestState?: string;
};
