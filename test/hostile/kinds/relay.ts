/** The relay: tokens that no device made or that are for something else, and invalid bodies with a valid token. */
import fc from "fast-check";
import { broken, deep, noJson, not, oddText, oddValue, pathPart } from "../corpus.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";
import { DEVICE, relayToken } from "../world.ts";

const PATH = "/v1/relay/a/chat/completions";
const HOUR_S = 3_600;
const QUESTION = { messages: [{ role: "user", content: "Open the door." }] };

/** Valid at the moment when the request is sent. */
const right = () => ({
  agent: DEVICE,
  exp: Math.floor(Date.now() / 1_000) + 240,
  for: "gateway.example/v1/relay/a",
  nonce: "0123456789",
});

const wrongClaims: fc.Arbitrary<unknown> = fc.oneof(
  oddValue,
  fc
    .tuple(fc.constantFrom("agent", "exp", "for", "more"), oddValue)
    .map(([field, value]) => ({ ...right(), [field]: value })),
  // Any text of some length would be valid.
  fc
    .oneof(not("string"), fc.constantFrom("", "short", "x".repeat(65)))
    .map((nonce) => ({ ...right(), nonce })),
  fc
    .constantFrom(-HOUR_S, -1, HOUR_S)
    .map((by) => ({ ...right(), exp: Math.floor(Date.now() / 1_000) + by })),
  fc
    .constantFrom("gateway.example/v1/relay/b", "other.example/v1/relay/a", "gateway.example/v1/relay/a/")
    .map((place) => ({ ...right(), for: place })),
);

const wrongToken: fc.Arbitrary<string> = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_.-]{1,300}$/),
  wrongClaims.map((claims) => relayToken(claims, "device")),
  // The claims are valid but the key is not, so the home is asked and refuses.
  fc.constantFrom(DEVICE, "nobody", "pi").map((agent) => relayToken({ ...right(), agent }, "stranger")),
  fc.constant("").map(() => `${relayToken(right(), "device")}A`),
  fc.nat({ max: 85 }).map((at) => flipped(relayToken(right(), "device"), at)),
);

/** Changes one character of a token. @param fromEnd its distance from the end */
function flipped(token: string, fromEnd: number): string {
  const at = token.length - 1 - fromEnd;
  return `${token.slice(0, at)}${token[at] === "B" ? "C" : "B"}${token.slice(at + 1)}`;
}

const wrongBody = fc.oneof(
  noJson,
  broken(QUESTION, {
    messages: fc.oneof(
      not("array"),
      fc.constant([]),
      fc.constant(Array(1_001).fill(QUESTION.messages[0])),
      fc.array(not("object"), { minLength: 1, maxLength: 3 }),
      fc.array(
        not("string").map((role) => ({ role })),
        { minLength: 1, maxLength: 3 },
      ),
    ),
    tools: fc.oneof(
      not("array"),
      fc.constant(Array(257).fill({ type: "function" })),
      fc.constant([{ type: "x" }]),
    ),
    max_tokens: fc.constantFrom(0, -1, 1.5, "1", null, 1e21),
    temperature: fc.constantFrom(-1, 3, "0", null, {}),
    stream: not("boolean"),
    model: fc.oneof(not("string"), fc.constant("x".repeat(201))),
  }),
  deep.map((value) => json(`{"messages":[{"role":"user","content":${value}}]}`)),
);

export const relay: fc.Arbitrary<HostileRequest> = fc.oneof(
  {
    weight: 4,
    arbitrary: wrongToken.map((token) =>
      http("relay", PATH, { headers: bearer(token), body: json(QUESTION) }),
    ),
  },
  {
    weight: 4,
    arbitrary: wrongBody.map((body) =>
      http("relay", PATH, { headers: bearer(relayToken(right(), "device")), body }),
    ),
  },
  {
    weight: 2,
    // A home that does not exist, in the path and in the claims: the request must not create it.
    arbitrary: fc
      .tuple(
        fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/),
        fc.constantFrom("device" as const, "stranger" as const),
      )
      .filter(([home]) => home !== "a" && home !== "b")
      .map(([home, by]) =>
        http("relay", `/v1/relay/${home}/chat/completions`, {
          headers: bearer(relayToken({ ...right(), for: `gateway.example/v1/relay/${home}` }, by)),
          body: json(QUESTION),
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        pathPart,
        fc.constantFrom("GET", "POST", "PUT"),
        fc.constantFrom("/chat/completions", "/models", ""),
      )
      .map(([home, method, rest]) =>
        http("relay", `/v1/relay/${home}${rest}`, {
          method,
          headers: bearer(relayToken(right(), "device")),
          body: method === "GET" ? undefined : json({ messages: "none" }),
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: oddText.map((text) =>
      http("relay", PATH, {
        headers: { cookie: `a=${encodeURIComponent(text.toWellFormed())}` },
        body: json(QUESTION),
      }),
    ),
  },
);
