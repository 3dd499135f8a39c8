/** No token, an invalid one, one of another home, and one with fewer rights. */
import fc from "fast-check";
import { headerText, oddText } from "../corpus.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";
import { SECRETS, TOKENS } from "../world.ts";
import { OUTLET } from "./push.ts";

const SAID = json({ text: "Open the door." });
const ROUTES: Array<[method: string, path: string]> = [
  ["POST", "/v1/conversations/c/messages"],
  ["GET", "/v1/conversations/c"],
  ["DELETE", "/v1/conversations/kept"],
  ["GET", "/v1/agents"],
  ["POST", "/v1/agents/pi/commands"],
  ["GET", "/v1/devices"],
  ["PATCH", "/v1/devices/lamp"],
  ["DELETE", "/v1/devices/lamp"],
  ["GET", "/v1/rules"],
  ["PATCH", "/v1/rules/{rule}"],
  ["DELETE", "/v1/rules/{rule}"],
  ["POST", "/v1/rules/{rule}/press"],
  ["GET", "/v1/push"],
  ["POST", "/v1/push/browsers"],
  ["POST", "/v1/push/topics"],
  ["DELETE", `/v1/push/${OUTLET}`],
  ["GET", "/v1/questions"],
  ["GET", "/v1/tokens"],
  ["POST", "/v1/tokens"],
  ["POST", "/v1/tokens/rotate"],
  ["POST", "/v1/conversations/kept/share"],
  ["GET", "/v1/lending"],
  ["POST", "/v1/lending"],
  ["POST", "/v1/borrowing"],
  ["POST", "/v1/peer/a/call"],
  ["GET", "/v1/audit"],
  ["GET", "/v1/audit/export"],
  ["POST", "/v1/relay/a/chat/completions"],
  ["GET", "/v1/senders/requests"],
  ["GET", "/v1/pairings"],
  ["POST", "/v1/device-codes"],
  ["GET", "/v1/status"],
  ["POST", "/ask"],
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/responses"],
  ["GET", "/v1/models"],
  ["POST", "/mcp"],
  ["GET", "/bridge"],
  ["GET", "/v1/console/usage"],
];

/** Invalid tokens: each has one wrong character, is of another kind, or is no token at all. */
const wrong: fc.Arbitrary<Record<string, string>> = fc.oneof(
  fc.constant({}),
  headerText.map((authorization) => ({ authorization })),
  fc.stringMatching(/^[A-Za-z0-9._~+/=-]{16,256}$/).map(bearer),
  fc
    .constantFrom(...Object.values(TOKENS))
    .chain((token) =>
      fc.constantFrom(
        bearer(`${token}x`),
        bearer(token.slice(1)),
        bearer(token.toUpperCase()),
        { authorization: `Basic ${Buffer.from(`x:${token}`).toString("base64")}` },
        { authorization: token },
        { authorization: `Bearer  ${token}` },
        { "x-api-key": token },
        { cookie: `__Host-edgecall=${token}` },
      ),
    ),
  fc.constantFrom(...Object.values(SECRETS)).map(bearer),
  // In the form of a token that a home made: for a home that exists, and for one that does not.
  fc
    .tuple(fc.constantFrom("a", "b", "nobody", "x".repeat(63)), fc.stringMatching(/^[A-Za-z0-9_-]{43}$/))
    .map(([home, random]) => bearer(`ec_${home}_${random}`)),
  fc
    .tuple(fc.constantFrom("a", "nobody"), fc.uuid(), fc.stringMatching(/^[A-Za-z0-9_-]{43}$/))
    .map(([home, id, mac]) => ({ cookie: `__Host-edgecall=made.${home}.${id}.9999999999.${mac}` })),
  oddText.map((text) => ({ cookie: `__Host-edgecall=${encodeURIComponent(text.toWellFormed())}` })),
  fc
    .tuple(
      fc.stringMatching(/^[0-9a-f]{32}$/),
      fc.integer({ min: 1_000_000_000, max: 9_999_999_999 }),
      fc.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    )
    .map((parts) => ({ cookie: `__Host-edgecall=${parts.join(".")}` })),
);

export const tokens: fc.Arbitrary<HostileRequest> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.constantFrom(...ROUTES), wrong)
      .map(([[method, path], headers]) =>
        http("token", path, { method, headers, body: method === "POST" ? SAID : undefined }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: fc.constantFrom(..."aZ09-._~+/= "), maxLength: 300 })
      .map((token) => http("token", "/v1/agents", { headers: bearer(token), exactly: { status: 401 } })),
  },
);

/** A guest's token where an administrator's is needed, and a bridge's token where a person's is. */
export const scopes: fc.Arbitrary<HostileRequest> = fc.oneof(
  fc
    .constantFrom<[string, string]>(
      ["POST", "/v1/agents/pi/commands"],
      ["GET", "/v1/lending"],
      ["POST", "/v1/lending"],
      ["POST", "/v1/borrowing"],
      ["POST", "/v1/peer/a/call"],
      ["GET", "/v1/audit"],
      ["GET", "/v1/audit/export"],
      ["GET", "/v1/senders/requests"],
      ["GET", "/v1/tokens"],
      ["POST", "/v1/tokens"],
      ["POST", "/v1/tokens/rotate"],
      ["DELETE", "/v1/tokens/secret-0"],
      ["PATCH", "/v1/devices/lamp"],
      ["DELETE", "/v1/devices/lamp"],
      ["POST", "/v1/senders/requests/ABCDEF"],
      ["POST", "/v1/pairings/ABCDEF"],
      ["DELETE", "/v1/senders/telegram/c/7"],
      ["GET", "/v1/console/agents/pi/actions"],
    )
    .map(([method, path]) =>
      http("scope", path, {
        method,
        headers: bearer(TOKENS.guest),
        body: method === "POST" ? json({ command: "ping" }) : undefined,
      }),
    ),
  fc
    .tuple(
      fc.constantFrom(...ROUTES.filter(([, path]) => path !== "/bridge")),
      fc.constantFrom(TOKENS.bridge, TOKENS.otherBridge),
    )
    .map(([[method, path], token]) =>
      http("scope", path, {
        method,
        headers: bearer(token),

        body: method === "POST" ? SAID : undefined,
      }),
    ),
  // For home b, the things of home a do not exist.
  fc
    .constantFrom("/v1/conversations/kept", "/v1/agents/pi", "/v1/agents/pi/commands/x")
    .map((path) => http("scope", path, { headers: bearer(TOKENS.otherHome) })),
);
