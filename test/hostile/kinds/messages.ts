/** The gateway's own API with a valid token, and everything else invalid. */
import fc from "fast-check";
import { broken, deep, headerText, noJson, not, oddText, oddValue, POLLUTING, pathPart } from "../corpus.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";
import { TOKENS } from "../world.ts";

const OWNER = bearer(TOKENS.owner);
const MESSAGES = "/v1/conversations/c/messages";
const empty = fc.constantFrom("", " ", "\n\t", "\u3000");

const message = fc.oneof(
  noJson,
  broken(
    { text: "x" },
    {
      text: fc.oneof(not("string"), empty, fc.constant("x".repeat(32_001))),
      images: fc.oneof(
        not("array"),
        fc.constant(Array(9).fill("https://a.example/b.png")),
        fc.array(not("string"), { minLength: 1, maxLength: 3 }),
      ),
      merge: not("boolean"),
      model: fc.oneof(not("string"), oddText),
      ...Object.fromEntries(
        [...POLLUTING.slice(1), "turn", "home", "origin", "role"].map((name) => [name, oddValue]),
      ),
    },
  ),
  // JSON.parse makes it an own field; an assignment would not.
  fc
    .constantFrom(
      '{"text":"x","__proto__":{"scopes":["admin"]}}',
      '{"__proto__":{"text":"x"}}',
      '{"text":{"__proto__":"x"}}',
    )
    .map(json),
  deep.map(json),
  fc
    .tuple(deep, fc.constantFrom("images", "text", "more"))
    .map(([value, field]) => json(`{"text":"x","${field}":${value}}`)),
);

const COMMANDS = "/v1/agents/nobody/commands";
/** Also valid commands, because the agent does not exist. */
const command = fc.oneof(
  noJson,
  broken(
    { command: "ping", payload: {} },
    { command: fc.oneof(not("string"), oddText), payload: oddValue, more: oddValue },
  ),
  deep.map((value) => json(`{"command":"tool","payload":{"a":${value}}}`)),
);

const cursor = fc.oneof(headerText, fc.constantFrom("-1", "1.5", "9007199254740993", "0x10", "1e3", "\xb2"));
const query = fc
  .tuple(
    fc.constantFrom("/v1/audit", "/v1/audit/export"),
    fc.array(
      fc.tuple(
        fc.constantFrom("agent", "tool", "result", "since", "until", "limit", "after", ...POLLUTING),
        oddText,
      ),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(
    ([path, pairs]) =>
      `${path}?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join("&")}`,
  );

/**
 * Any body that is not a question, on the routes that take one, from the owner, from another home and without a token.
 */
const strange = fc
  .tuple(
    fc.constantFrom(
      "/v1/conversations/c/messages",
      "/v1/conversations/%2e%2e/messages",
      "/v1/conversations/c/turns/x/cancel",
      "/v1/agents/pi/commands",
      "/v1/agents/a%2Fb/commands",
      "/ask",
      "/nothing",
    ),
    fc.oneof(
      fc.json(),
      fc.string(),
      fc.constant(""),
      fc
        .record({ text: fc.jsonValue(), images: fc.jsonValue() })
        .filter(({ text }) => typeof text !== "string" || text.trim() === "")
        .map((value) => JSON.stringify(value)),
      fc.record({ command: fc.jsonValue(), payload: fc.jsonValue() }).map((value) => JSON.stringify(value)),
    ),
    fc.constantFrom(TOKENS.owner, TOKENS.otherHome, "x"),
  )
  // On this route any text is a question.
  .map(([path, body, token]) =>
    http("body", path, {
      headers: bearer(token),
      body: json(path === "/ask" && token !== "x" ? " ".repeat(body.length) : body),
    }),
  );

export const messages: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 5, arbitrary: message.map((body) => http("message", MESSAGES, { headers: OWNER, body })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "x".repeat(201), "x".repeat(4_000)).map((key) =>
      http("message", MESSAGES, {
        headers: { ...OWNER, "idempotency-key": key },
        body: json({ text: "x" }),
      }),
    ),
  },
  // An empty question, because any other text would be a real one.
  {
    weight: 1,
    arbitrary: fc
      .oneof(empty.map(json), fc.constant(Buffer.from([0xc3, 0x28])), fc.constant(json("x".repeat(32_001))))
      .map((body) => http("message", "/ask", { headers: OWNER, body })),
  },
  { weight: 4, arbitrary: strange },
  { weight: 3, arbitrary: command.map((body) => http("command", COMMANDS, { headers: OWNER, body })) },
);

/** Odd values in the path, in a query, or in a header that holds a number. */
export const cursors: fc.Arbitrary<HostileRequest> = fc.oneof(
  fc.tuple(fc.uuid(), cursor).map(([turn, id]) =>
    http("cursor", `/v1/conversations/c/turns/${turn}/events`, {
      headers: { ...OWNER, "last-event-id": id },
    }),
  ),
  query.map((path) => http("cursor", path, { headers: OWNER, may: "answered" })),
  fc
    .tuple(
      pathPart,
      fc.constantFrom("GET", "DELETE", "POST"),
      fc.constantFrom("", "/messages", "/turns/x", "/turns/x/cancel", "/turns/x/events"),
    )
    .map(([id, method, rest]) =>
      http("cursor", `/v1/conversations/${id}${rest}`, {
        method,
        headers: OWNER,
        may: "answered",
        body: method === "POST" ? json({ text: 1 }) : undefined,
      }),
    ),
  fc
    .tuple(
      pathPart,
      fc.constantFrom(
        "/v1/agents/",
        "/v1/agents/nobody/commands/",
        "/v1/questions/",
        "/v1/device-codes/",
        "/v1/pairings/",
        "/v1/senders/telegram/c/",
      ),
    )
    .map(([id, path]) => http("cursor", `${path}${id}`, { headers: OWNER, may: "answered" })),
);
