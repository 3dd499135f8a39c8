/** Requests with one right answer each. Every run of the whole corpus begins with them. */
import { bearer, type HostileRequest, type HttpRequest, http, json } from "../request.ts";
import { TOKENS } from "../world.ts";
import { PRESSES } from "./push.ts";

const OWNER = { ...bearer(TOKENS.owner), "content-type": "application/json" };
const fixed = (path: string, exactly: HttpRequest["exactly"], more: Partial<HttpRequest>) =>
  http("fixed", path, { exactly, ...more });

const ARRAYS = "[".repeat(60_000) + "]".repeat(60_000);
const OBJECTS = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
const NESTED = /in one another/;
/** Nested so deeply that a recursive copy would overflow the stack. */
const deep = (
  [
    ["/v1/agents/pi/commands", `{"command":"tool","payload":{"a":${ARRAYS}}}`, NESTED],
    ["/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":${ARRAYS}}}`, NESTED],
    [
      "/v1/chat/completions",
      `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":${OBJECTS}}}}`,
    ],
    ["/v1/chat/completions", `{"messages":[{"role":"user","content":${OBJECTS}}]}`],
    ["/v1/responses", `{"input":"x","metadata":{"a":${OBJECTS}},"background":true}`],
  ] as const
).map(([path, body, words]) =>
  fixed(path, { status: 400, ...(words && { words }) }, { headers: OWNER, body: json(body) }),
);

/** Without a token nothing can be read. */
const tokenless = [
  ...["/v1/chat/completions", "/v1/responses"].map((path) =>
    fixed(path, { status: 401 }, { body: json("{") }),
  ),
  ...["/v1/responses/x", "/v1/models", "/v1/models/x"].map((path) => fixed(path, { status: 401 }, {})),
];

/** An unknown route below OpenAI's addresses answers with an error in OpenAI's form. */
const absent = (
  [
    ["GET", "/v1/chat/completions", 405, "method_not_allowed"],
    ["PUT", "/v1/responses/resp_1/x", 404, "not_found"],
    ["DELETE", "/v1/models/scripted", 405, "method_not_allowed"],
  ] as const
).map(([method, path, status, code]) => {
  const words = new RegExp(
    `^(?=.*"message":"[^"]*${path})(?=.*"type":"invalid_request_error")(?=.*"code":"${code}")`,
  );
  return fixed(path, { status, words }, { method, headers: OWNER });
});

export const FIXED: HostileRequest[] = [...deep, ...tokenless, ...absent, ...PRESSES];
