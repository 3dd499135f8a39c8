/** Our server beside the SDK's, with the same tools: each request gets the same answer from both, or the difference has a reason. */
import { createMcpHandler, ProtocolError, ResourceNotFoundError, Server } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { type CallToolResult, INVALID_PARAMS, McpError, type McpResource, type McpTool } from "./protocol.ts";
import { type CallContext, type McpServer, serve } from "./serve.ts";

const INFO = { name: "edgecall", title: "edgecall", version: "1" };
const TOOL: McpTool = {
  name: "cpu",
  title: "cpu",
  description: "the load",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
};
const PICTURE = { type: "image", data: "R0lG", mimeType: "image/gif" } as const;
const PAGE: { resources: McpResource[]; nextCursor: string } = {
  resources: [
    {
      uri: "https://gateway/v1/media/x",
      name: "pi snapshot",
      description: "a picture",
      mimeType: "image/gif",
      size: 3,
      annotations: { lastModified: "2026-11-26T12:00:00.000Z" },
    },
  ],
  nextCursor: "more",
};
const CONTENTS = { uri: "https://gateway/v1/media/x", mimeType: "image/gif", blob: "R0lG" };
const NO_RESOURCE = "there is no such resource";
const NO_TOOL = "there is no tool of this name";

async function run(name: string, args: unknown, progress?: (text: string) => void): Promise<CallToolResult> {
  progress?.("half way");
  progress?.("nearly");
  const text = JSON.stringify(args);
  const content: CallToolResult["content"] = [{ type: "text", text }, PICTURE];
  return name === "cpu" ? { content, _meta: { "edgecall/status": "success" } } : { content, isError: true };
}

const OURS: McpServer = {
  info: INFO,
  instructions: "Be kind.",
  listTtlMs: 30_000,
  list: async () => [TOOL],
  resources: async () => PAGE,
  read: async (uri) => {
    if (uri !== CONTENTS.uri) throw new McpError(INVALID_PARAMS, NO_RESOURCE, { data: { uri } });
    return CONTENTS;
  },
  call: async (name, args, { progress }: CallContext) => {
    if (name === "none") throw new McpError(INVALID_PARAMS, NO_TOOL);
    return await run(name, args, progress);
  },
};

/** As this gateway used it. */
function sdkServer(): Server {
  const server = new Server(INFO, {
    capabilities: { tools: {}, resources: {} },
    instructions: "Be kind.",
    cacheHints: {
      "tools/list": { ttlMs: 30_000, cacheScope: "private" },
      "resources/read": { ttlMs: 3_600_000, cacheScope: "private" },
      "resources/templates/list": { ttlMs: 30_000, cacheScope: "private" },
    },
  });
  server.setRequestHandler("resources/list", async () => PAGE);
  server.setRequestHandler("resources/templates/list", async () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    if (uri !== CONTENTS.uri) throw new ResourceNotFoundError(uri, NO_RESOURCE);
    return { contents: [CONTENTS] };
  });
  server.setRequestHandler("tools/list", async () => ({
    // SAFETY: the SDK's type of a schema has more fields, all optional.
    tools: [{ ...TOOL, inputSchema: TOOL.inputSchema as { type: "object" } }],
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    if (params.name === "none") throw new ProtocolError(INVALID_PARAMS, NO_TOOL);
    const progressToken = mcpReq._meta?.progressToken;
    let progress = 0;
    const told: Array<Promise<void>> = [];
    const tell = (message: string) => {
      progress += 1;
      const note = { progressToken: progressToken ?? 0, progress, message };
      told.push(mcpReq.notify({ method: "notifications/progress", params: note }));
    };
    const result = await run(
      params.name,
      params.arguments ?? {},
      progressToken === undefined ? undefined : tell,
    );
    await Promise.all(told);
    return { ...result };
  });
  return server;
}

const KEY = "io.modelcontextprotocol/";
const ENVELOPE = {
  [`${KEY}protocolVersion`]: "2026-07-28",
  [`${KEY}clientInfo`]: { name: "test", version: "1" },
  [`${KEY}clientCapabilities`]: {},
};
type Headers_ = Record<string, string | null>;
type Body = Record<string, unknown>;
const BOTH = { accept: "application/json, text/event-stream" };

function old(method: string, params?: unknown, more: Body = {}): [Body, Headers_] {
  const body = { jsonrpc: "2.0", id: 1, method, ...(params !== undefined && { params }), ...more };
  return [body, { ...BOTH, "mcp-protocol-version": "2025-06-18" }];
}

function modern(
  method: string,
  {
    meta = {},
    params = {},
    headers = {},
    more = {},
  }: { meta?: object; params?: Body; headers?: Headers_; more?: Body } = {},
): [Body, Headers_] {
  const mirrored = params.name ?? params.uri;
  const name = typeof mirrored === "string" ? { "mcp-name": mirrored } : {};
  const body = {
    jsonrpc: "2.0",
    id: "a",
    method,
    params: { ...params, _meta: { ...ENVELOPE, ...meta } },
    ...more,
  };
  return [body, { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...name, ...headers }];
}

const HELLO = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const without = (key: string) => ({ [`${KEY}${key}`]: undefined });

const CASES: Array<[string, [Body, Headers_]]> = [
  ["initialize", old("initialize", HELLO)],
  ...["2025-11-25", "2025-03-26", "2024-11-05", "2024-10-07", "2023-01-01", "2026-07-28", "9999-01-01"].map(
    (protocolVersion): [string, [Body, Headers_]] => [
      `initialize of ${protocolVersion}`,
      old("initialize", { ...HELLO, protocolVersion }),
    ],
  ),
  [
    "initialize with an unknown revision's header",
    [old("initialize", HELLO)[0], { ...BOTH, "mcp-protocol-version": "2020-01-01" }],
  ],
  [
    "initialize with a modern header",
    [old("initialize", HELLO)[0], { ...BOTH, "mcp-protocol-version": "2026-07-28" }],
  ],
  [
    "initialize with a faulty envelope",
    old("initialize", { ...HELLO, _meta: { [`${KEY}protocolVersion`]: 7 } }),
  ],
  ["initialize in a modern envelope", modern("initialize", { params: HELLO })],
  ["ping", old("ping")],
  ["ping with parameters", old("ping", { x: 1 })],
  ["a modern ping", modern("ping")],
  ["initialized", old("notifications/initialized", undefined, { id: undefined })],
  ["a cancel", old("notifications/cancelled", { requestId: 1, reason: "x" }, { id: undefined })],
  ["a notification of no kind", old("notifications/nothing", {}, { id: undefined })],
  [
    "a notification with an unknown revision",
    [
      old("notifications/initialized", undefined, { id: undefined })[0],
      { ...BOTH, "mcp-protocol-version": "1" },
    ],
  ],
  ["a notification without Accept", [old("notifications/initialized", undefined, { id: undefined })[0], {}]],
  [
    "a modern notification",
    modern("notifications/cancelled", { params: { requestId: 1 }, more: { id: undefined } }),
  ],
  [
    "a modern notification by its header alone",
    [{ jsonrpc: "2.0", method: "notifications/x" }, { "mcp-protocol-version": "2026-07-28" }],
  ],
  ["a modern notification without headers", [modern("notifications/x", { more: { id: undefined } })[0], {}]],
  [
    "a modern notification with a faulty envelope",
    modern("notifications/x", { more: { id: undefined }, meta: { [`${KEY}protocolVersion`]: 1 } }),
  ],
  ["tools/list", old("tools/list", {})],
  ["tools/list without parameters", old("tools/list")],
  ["tools/list with a cursor", old("tools/list", { cursor: "x" })],
  ["tools/list without a revision", [old("tools/list")[0], BOTH]],
  [
    "tools/list of an unknown revision",
    [old("tools/list")[0], { ...BOTH, "mcp-protocol-version": "1999-01-01" }],
  ],
  ["tools/list without Accept", [old("tools/list")[0], {}]],
  ["tools/list for JSON alone", [old("tools/list")[0], { accept: "application/json" }]],
  ["tools/list for everything", [old("tools/list")[0], { accept: "*/*" }]],
  [
    "tools/list with a modern header",
    [old("tools/list")[0], { ...BOTH, "mcp-protocol-version": "2026-07-28" }],
  ],
  [
    "tools/list with half an envelope",
    [
      old("tools/list", { _meta: { [`${KEY}clientCapabilities`]: {} } })[0],
      { ...BOTH, "mcp-protocol-version": "2026-07-28" },
    ],
  ],
  ["tools/list with a client's name alone", old("tools/list", { _meta: { [`${KEY}clientInfo`]: {} } })],
  ["a modern tools/list", modern("tools/list")],
  ["server/discover", modern("server/discover")],
  ["server/discover of an old client", old("server/discover")],
  [
    "subscriptions/listen",
    modern("subscriptions/listen", { params: { notifications: { toolsListChanged: true } } }),
  ],
  ["subscriptions/listen of an old client", old("subscriptions/listen", {})],
  ["no client in the envelope", modern("tools/list", { meta: without("clientInfo") })],
  ["a nameless client", modern("tools/list", { meta: { [`${KEY}clientInfo`]: { version: "1" } } })],
  ["no capabilities in the envelope", modern("tools/list", { meta: without("clientCapabilities") })],
  ["capabilities that are a list", modern("tools/list", { meta: { [`${KEY}clientCapabilities`]: [] } })],
  ["a revision that is no text", modern("tools/list", { meta: { [`${KEY}protocolVersion`]: 20260728 } })],
  [
    "another revision in the header",
    modern("tools/list", { headers: { "mcp-protocol-version": "2025-06-18" } }),
  ],
  [
    "an unknown modern revision",
    modern("tools/list", {
      meta: { [`${KEY}protocolVersion`]: "2027-01-01" },
      headers: { "mcp-protocol-version": "2027-01-01" },
    }),
  ],
  [
    "an old revision in an envelope",
    modern("tools/list", {
      meta: { [`${KEY}protocolVersion`]: "2025-06-18" },
      headers: { "mcp-protocol-version": "2025-06-18" },
    }),
  ],
  ["no revision in the header", modern("tools/list", { headers: { "mcp-protocol-version": null } })],
  ["no method in the header", modern("tools/list", { headers: { "mcp-method": null } })],
  ["another method in the header", modern("tools/list", { headers: { "mcp-method": "tools/call" } })],
  [
    "blanks around headers",
    modern("tools/list", {
      headers: { "mcp-method": "  tools/list ", "mcp-protocol-version": " 2026-07-28 " },
    }),
  ],
  ["a call", old("tools/call", { name: "cpu", arguments: { a: 1 } })],
  ["a call without arguments", old("tools/call", { name: "cpu" })],
  ["a call that fails", old("tools/call", { name: "siren", arguments: {} })],
  ["a call of no tool", old("tools/call", { name: "none" })],
  ["a call with progress", old("tools/call", { name: "cpu", _meta: { progressToken: "p" } })],
  ["a call with a number as progress token", old("tools/call", { name: "cpu", _meta: { progressToken: 7 } })],
  [
    "a call with an extension's data",
    old("tools/call", { name: "cpu", task: { ttl: 1 }, _meta: { "x/y": 1 } }),
  ],
  ["a modern call", modern("tools/call", { params: { name: "cpu", arguments: { a: [1] } } })],
  ["a modern call that fails", modern("tools/call", { params: { name: "siren" } })],
  ["a modern call of no tool", modern("tools/call", { params: { name: "none" } })],
  [
    "a modern call with progress",
    modern("tools/call", { params: { name: "cpu" }, meta: { progressToken: 1 } }),
  ],
  [
    "a modern call without its name's header",
    modern("tools/call", { params: { name: "cpu" }, headers: { "mcp-name": null } }),
  ],
  [
    "a modern call with another name's header",
    modern("tools/call", { params: { name: "cpu" }, headers: { "mcp-name": "siren" } }),
  ],
  [
    "a modern call with its name in base64",
    modern("tools/call", { params: { name: "cpu" }, headers: { "mcp-name": "=?base64?Y3B1?=" } }),
  ],
  [
    "a modern call with another name in base64",
    modern("tools/call", { params: { name: "cpu" }, headers: { "mcp-name": "=?base64?Y3B2?=" } }),
  ],
  [
    "a modern call with base64 that is none",
    modern("tools/call", { params: { name: "cpu" }, headers: { "mcp-name": "=?base64?Y3B?=" } }),
  ],
  [
    "a modern call with base64 that is no text",
    modern("tools/call", { params: { name: "cpu" }, headers: { "mcp-name": "=?base64?/w==?=" } }),
  ],
  ["D1: resources/list", old("resources/list")],
  ["D1: resources/list with a cursor", old("resources/list", { cursor: "x" })],
  ["D1: a modern resources/list", modern("resources/list")],
  ["D1: resources/templates/list", old("resources/templates/list", {})],
  ["D1: a modern resources/templates/list", modern("resources/templates/list")],
  ["D1: resources/read", old("resources/read", { uri: CONTENTS.uri })],
  ["D1: a modern resources/read", modern("resources/read", { params: { uri: CONTENTS.uri } })],
  ["D1: resources/read of none", old("resources/read", { uri: "x:y" })],
  ["D1: a modern resources/read of none", modern("resources/read", { params: { uri: "x:y" } })],
  [
    "D1: a modern resources/read without its header",
    modern("resources/read", { params: { uri: CONTENTS.uri }, headers: { "mcp-name": null } }),
  ],
  [
    "D1: a modern resources/read with another header",
    modern("resources/read", { params: { uri: CONTENTS.uri }, headers: { "mcp-name": "x:y" } }),
  ],
  ["a method that is none", old("prompts/get", { name: "x" })],
  ["a method of nobody", old("x/y", {})],
  ["a modern method that is none", modern("prompts/get", { params: { name: "x" } })],
  ["a modern method of nobody", modern("x/y")],
  ["a method that every object has", old("constructor", {})],
  ["a client's answer", old("", undefined, { method: undefined, result: {} })],
  ["a client's error", old("", undefined, { method: undefined, error: { code: 1, message: "x" } })],
  [
    "a client's error without an id",
    old("", undefined, { id: undefined, method: undefined, error: { code: 1, message: "x" } }),
  ],
  ["an answer that is no object", old("", undefined, { method: undefined, result: 1 })],
  ["nothing", [{}, BOTH]],
  ["another JSON-RPC", old("ping", undefined, { jsonrpc: "1.0" })],
  ["an id that is null", old("ping", undefined, { id: null })],
  ["an id that is a fraction", old("ping", undefined, { id: 1.5 })],
  ["an id of the length zero", old("ping", undefined, { id: "" })],
  ["parameters that are a list", old("ping", [])],
  ["a field too many", old("ping", {}, { more: 1 })],
  ["a _meta that is a text", old("ping", { _meta: "x" })],
  ["a progress token that is a list", old("tools/call", { name: "cpu", _meta: { progressToken: [] } })],
];

/** The differences of our server. The status stays the same, unless it is given. */
type Difference = [string, [Body, Headers_], string, { status?: number; ours: object; sdk: object }];
const DIFFERENCES: Difference[] = [
  [
    "initialize without a client",
    old("initialize", { protocolVersion: "2025-06-18", capabilities: {} }),
    "wrong parameters are -32602 (JSON-RPC 2.0 §5.1); the SDK answers -32603 with a dump of its schema",
    { ours: { error: { code: -32_602 } }, sdk: { error: { code: -32_603 } } },
  ],
  [
    "tools/list with a cursor that is no text",
    old("tools/list", { cursor: 1 }),
    "the same",
    { ours: { error: { code: -32_602 } }, sdk: { error: { code: -32_603 } } },
  ],
  [
    "a call without a name",
    old("tools/call", {}),
    "the same code, with one line in place of the dump",
    {
      ours: {
        error: { code: -32_602, message: expect.stringMatching(/^Invalid tools\/call request: name: .*$/) },
      },
      sdk: { error: { code: -32_602, message: expect.stringContaining("\n") } },
    },
  ],
  [
    "a call whose arguments are a list",
    old("tools/call", { name: "cpu", arguments: [] }),
    "the same",
    { ours: { error: { code: -32_602 } }, sdk: { error: { code: -32_602 } } },
  ],
  [
    "a modern method that is none, without its name's header",
    modern("prompts/get", { params: { name: "x" }, headers: { "mcp-name": null } }),
    "there is no such method, whatever its headers are",
    { status: 404, ours: { error: { code: -32_601 } }, sdk: { error: { code: -32_020 } } },
  ],
  [
    "a modern notification of another method",
    modern("notifications/x", { more: { id: undefined }, headers: { "mcp-method": "y" } }),
    "the same code; the SDK words it for notifications",
    { ours: { error: { code: -32_020 } }, sdk: { error: { code: -32_020 } } },
  ],
  [
    "a modern notification of another revision",
    modern("notifications/x", {
      more: { id: undefined },
      headers: { "mcp-protocol-version": "2026-07-29" },
    }),
    "the same",
    { ours: { error: { code: -32_020 } }, sdk: { error: { code: -32_020 } } },
  ],
  ...(
    ["text/event-stream", "application/json", "*/*", "TEXT/*;q=0.5", "application/json; q=1.0"] as const
  ).map(
    (accept): Difference => [
      `D2: Accept: ${accept}`,
      [old("tools/list")[0], { accept }],
      "a client is answered in a form that it takes; the SDK wants both named",
      { status: 200, ours: { result: { tools: [TOOL] } }, sdk: { error: { code: -32_000 } } },
    ],
  ),
  [
    "D2: no Accept",
    [old("tools/list")[0], {}],
    "a client that names no form takes any (RFC 9110 §12.5.1)",
    { status: 200, ours: { result: { tools: [TOOL] } }, sdk: { error: { code: -32_000 } } },
  ],
  [
    "D2: a modern request that accepts neither form",
    modern("tools/list", { headers: { accept: "text/html, application/json;q=0" } }),
    "the same as for old revisions; the SDK looks at Accept for those alone",
    { status: 406, ours: { error: { code: -32_000 } }, sdk: { result: {} } },
  ],
  [
    "D2: a modern request for events alone",
    modern("tools/list", { headers: { accept: "text/event-stream" } }),
    "the form that it takes",
    { ours: { result: { tools: [TOOL] } }, sdk: { result: {} } },
  ],
  ...(
    [
      ["params", old("ping", null)],
      ["capabilities", old("initialize", { ...HELLO, capabilities: null })],
      ["a cursor", old("tools/list", { cursor: null })],
      ["arguments", old("tools/call", { name: "cpu", arguments: null })],
      ["a modern call's arguments", modern("tools/call", { params: { name: "cpu", arguments: null } })],
      ["_meta", old("tools/list", { _meta: null })],
      ["a progress token", old("tools/call", { name: "cpu", _meta: { progressToken: null } })],
      ["a state", modern("tools/call", { params: { name: "cpu", requestState: null } })],
    ] as const
  ).map(
    ([what, sent]): Difference => [
      `D3: null for ${what}`,
      [...sent],
      "null is what some languages write for what is absent",
      { status: 200, ours: { result: {} }, sdk: {} },
    ],
  ),
  [
    "D3: null for a call's name",
    old("tools/call", { name: null }),
    "what is needed is missing then, and is named",
    { ours: { error: { code: -32_602, message: expect.stringContaining("name") } }, sdk: {} },
  ],
  [
    "D1: prompts/list",
    old("prompts/list"),
    "some clients take an error for a broken server, so there are none",
    { ours: { result: { prompts: [] } }, sdk: { error: { code: -32_601 } } },
  ],
  [
    "D1: a modern prompts/list",
    modern("prompts/list"),
    "the same",
    { status: 200, ours: { result: { prompts: [], ttlMs: 30_000 } }, sdk: { error: { code: -32_601 } } },
  ],
  [
    "D1: resources/read without a URI",
    old("resources/read", {}),
    "the words name the field",
    { ours: { error: { code: -32_602, message: expect.stringContaining("uri") } }, sdk: {} },
  ],
  [
    "odd capabilities",
    modern("tools/list", { meta: { [`${KEY}clientCapabilities`]: { roots: 1 } } }),
    "this server uses none of them, so it does not check them",
    { status: 200, ours: { result: { resultType: "complete" } }, sdk: { error: { code: -32_602 } } },
  ],
  [
    "a state that is no text",
    old("tools/call", { name: "cpu", requestState: 1 }),
    "the same code, and the words name the field",
    {
      ours: { error: { code: -32_602, message: expect.stringContaining("requestState") } },
      sdk: { error: { code: -32_602, message: "Invalid or expired requestState" } },
    },
  ],
];

function requestOf([body, headers]: [Body, Headers_]): { request: Request; message: object } {
  const sent = Object.entries(headers).flatMap(([key, value]) => (value === null ? [] : [[key, value]]));
  const text = JSON.stringify(body);
  const request = new Request("https://gateway/mcp", {
    method: "POST",
    body: text,
    headers: { "content-type": "application/json", ...Object.fromEntries(sent) },
  });
  return { request, message: JSON.parse(text) as object };
}

type Answered = Awaited<ReturnType<typeof readAnswer>>;

async function readAnswer(response: Response) {
  const text = await response.text();
  const type = response.headers.get("content-type")?.split(";")[0];
  const lines = type === "text/event-stream" ? text.match(/(?<=^data: ).*/gm) : text ? [text] : [];
  const messages = (lines ?? []).map((line) => JSON.parse(line) as object);
  const [allow, cache, buffering] = ["allow", "cache-control", "x-accel-buffering"].map((name) =>
    response.headers.get(name),
  );
  return { status: response.status, type, allow, cache, buffering, messages };
}

/** @param isLenient the SDK, which answers no client that names one form alone, is told that the client takes both */
async function ask(sent: [Body, Headers_], isLenient = true) {
  const { request, message } = requestOf(sent);
  const sdk = createMcpHandler(sdkServer, { maxSubscriptions: 0 });
  const asked = request.clone();
  if (isLenient) asked.headers.set("accept", BOTH.accept);
  const theirs = await readAnswer(await sdk.fetch(asked, { parsedBody: structuredClone(message) }));
  return { ours: await readAnswer(await serve(request, message, OURS)), theirs };
}

describe("the same answer as the SDK's", () => {
  test.each(CASES)("%s", async (_, sent) => {
    const { ours, theirs } = await ask(sent);
    // Before a stream begins, the SDK's transport for old revisions answers without the request's id.
    const [refused] = theirs.messages as Array<{ id?: unknown; error?: unknown }>;
    if (theirs.status >= 400 && refused?.id === null)
      expect({ ...ours, messages: [{ ...ours.messages[0], id: null }] }).toEqual(theirs);
    else
      expect(ours).toEqual(
        sent[1].accept === BOTH.accept || "mcp-method" in sent[1] ? theirs : inOwnForm(theirs, ours),
      );
  });
});

/** A client that does not name both forms gets one of them from us. */
function inOwnForm(theirs: Answered, { type, cache, buffering }: Answered): Answered {
  return { ...theirs, type, cache, buffering };
}

describe("another answer than the SDK's", () => {
  test.each(DIFFERENCES)("%s", async (_, sent, _reason, { status, ours: expected, sdk }) => {
    const { ours, theirs } = await ask(sent, false);
    expect(ours.status).toBe(status ?? theirs.status);
    expect(ours.messages.at(-1)).toMatchObject(expected);
    expect(theirs.messages.at(-1)).toMatchObject(sdk);
  });
});

test("each of these bodies with the headers of each other gets the same code and status", async () => {
  const headers = [...new Map(CASES.map(([, [, one]]) => [JSON.stringify(one), one])).values()];
  const different = new Set<string>();
  for (const [what, [body]] of CASES)
    for (const one of headers) {
      const { ours, theirs } = await ask([body, one]);
      if (outcomeOf(ours) !== outcomeOf(theirs))
        different.add(
          `${what} with ${JSON.stringify(one)}: ${outcomeOf(ours)}, and not ${outcomeOf(theirs)}`,
        );
    }
  expect([...different]).toEqual([]);
});

function outcomeOf({ status, messages }: Answered): string {
  const [last] = messages.slice(-1) as Array<{ error?: { code: number } }>;
  return `${status} ${last?.error?.code ?? (last ? "result" : "nothing")}`;
}

test("a client that leaves stops the call, in both eras", async () => {
  for (const sent of [
    old("tools/call", { name: "cpu" }),
    modern("tools/call", { params: { name: "cpu" }, meta: { progressToken: 1 } }),
  ]) {
    const { request, message } = requestOf(sent);
    const { promise: left, resolve } = Promise.withResolvers<CallContext>();
    const call: McpServer["call"] = async (_name, _args, context) => {
      context.progress?.("begun");
      await new Promise((stopped) => context.signal.addEventListener("abort", stopped));
      resolve(context);
      return { content: [] };
    };
    const response = await serve(request, message, { ...OURS, call });
    await response.body?.cancel();
    expect((await left).closeCancels).toBe("mcp-name" in sent[1]);
  }
});

test("a note after the result is dropped", async () => {
  for (const sent of [
    old("tools/call", { name: "cpu", _meta: { progressToken: 1 } }),
    modern("tools/call", { params: { name: "cpu" }, meta: { progressToken: 1 } }),
  ]) {
    const { request, message } = requestOf(sent);
    let progress: CallContext["progress"];
    const call: McpServer["call"] = async (_name, _args, context) => {
      progress = context.progress;
      return { content: [] };
    };
    const { messages } = await readAnswer(await serve(request, message, { ...OURS, call }));
    progress?.("late");
    expect(messages).toHaveLength(1);
  }
});

test("an unexpected error's text stays in the log", async () => {
  const { request, message } = requestOf(old("tools/list"));
  const list = () => Promise.reject(new Error("secret"));
  const { messages } = await readAnswer(await serve(request, message, { ...OURS, list }));
  expect(messages).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32_603, message: "Internal error" } }]);
});
