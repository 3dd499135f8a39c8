/** Rules of others, rules that are none, and changes that fit no rule. send.ts replaces `{rule}` with the owner's reminder. */
import fc from "fast-check";
import { broken, noJson, not, oddText, oddValue, pathPart } from "../corpus.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";
import { TOKENS } from "../world.ts";

const TYPED = { ...bearer(TOKENS.owner), "content-type": "application/json" };
const METHODS: Array<[method: string, path: string]> = [
  ["PATCH", "/v1/rules/{rule}"],
  ["DELETE", "/v1/rules/{rule}"],
  ["POST", "/v1/rules/{rule}/press"],
];

const change = broken(
  {},
  {
    status: fc.oneof(
      not("string"),
      oddText.filter((text) => text !== "active" && text !== "paused"),
    ),
    name: fc.oneof(not("string"), fc.constantFrom("", " ", "x".repeat(61), "A reminder has none")),
    value: not("string", "number", "boolean"),
    for_minutes: fc.constantFrom<unknown>(-1, 1e9, "1", null, 5),
    severity: fc.oneof(oddValue, fc.constant("critical")),
    say: fc.oneof(not("string", "null"), fc.constant("x".repeat(201)), fc.constant("A reminder has none")),
    text: fc.oneof(not("string"), fc.constantFrom("", " ", "x".repeat(501))),
    maker: oddValue,
    schedule: oddValue,
  },
);
const press = fc.oneof(
  broken(
    { do: "ack" },
    {
      do: oddValue,
      occurrence: fc.constantFrom<unknown>(-1, 0.5, "1", null, 1e300),
      minutes: fc.constantFrom<unknown>(0, -5, 10_081, "1", null),
      by: oddValue,
    },
  ),
  fc.constant(json({})),
);

export const rules: fc.Arbitrary<HostileRequest> = fc.oneof(
  fc
    .oneof(change, noJson)
    .map((body) => http("rule", "/v1/rules/{rule}", { method: "PATCH", headers: TYPED, body })),
  fc.oneof(press, noJson).map((body) => http("rule", "/v1/rules/{rule}/press", { headers: TYPED, body })),
  // A name that is no rule's id, and an id that no rule has.
  fc
    .tuple(
      fc.oneof(pathPart, fc.constantFrom("w-0000", "r-0000", "w-0000000000000")),
      fc.constantFrom("PATCH", "DELETE"),
    )
    .map(([id, method]) =>
      http("rule", `/v1/rules/${id}`, {
        method,
        headers: TYPED,
        body: method === "PATCH" ? json({ status: "paused" }) : undefined,
      }),
    ),
  // The owner's, for others: a guest, a member, another home, a bridge, a program that reads figures.
  fc
    .tuple(
      fc.constantFrom(...METHODS.slice(0, 2)),
      fc.constantFrom(TOKENS.guest, TOKENS.member, TOKENS.otherHome, TOKENS.bridge, TOKENS.scraper),
    )
    .map(([[method, path], token]) =>
      http("rule", path, {
        method,
        headers: bearer(token),
        body: method === "PATCH" ? json({ status: "paused" }) : undefined,
      }),
    ),
  // They are told that they may not, or that there is none, and nothing changes.
  fc
    .tuple(
      fc.constantFrom(TOKENS.guest, TOKENS.member, TOKENS.otherHome),
      fc.constantFrom("ack", "snooze", "stop"),
    )
    .map(([token, what]) =>
      http("rule", "/v1/rules/{rule}/press", {
        headers: bearer(token),
        body: json({ do: what }),
        exactly: { status: 200, words: /"(Only whoever is told|This rule is not there)[^}]*\}$/ },
        may: "answered",
      }),
    ),
);
