/** Sign-ins of no client: odd registrations, requests, codes and tokens. */
import fc from "fast-check";
import { noJson, oddText, oddValue, POLLUTING } from "../corpus.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";

const registration = fc
  .record(
    {
      client_name: fc.oneof(oddValue, oddText),
      redirect_uris: fc.oneof(
        oddValue,
        fc.array(
          fc.oneof(
            fc.constantFrom("https://app.example/cb", "http://127.0.0.1/cb", "javascript:alert(1)", "//x"),
            oddText,
            oddValue,
          ),
          { maxLength: 10 },
        ),
      ),
      grant_types: oddValue,
    },
    { requiredKeys: [] },
  )
  .map((body) => http("oauth", "/oauth/register", { body: json(body), may: "answered" }));

const field = fc.oneof(oddText, fc.constantFrom(...POLLUTING, "dcr1.e30.AAAA", "https://app.example/c.json"));
const fields = fc.dictionary(
  fc.constantFrom(
    "grant_type",
    "client_id",
    "redirect_uri",
    "code",
    "code_challenge",
    "code_challenge_method",
    "refresh_token",
    "response_type",
    "resource",
    "state",
    "scope",
    "token",
    "form",
    "query",
    "answer",
  ),
  field,
);
const encoded = fields.map((values) => new URLSearchParams(values).toString());

const request = encoded.map((query) =>
  http("oauth", `/oauth/authorize?${query}`, { method: "GET", may: "answered" }),
);
const posted = fc
  .tuple(fc.constantFrom("/oauth/token", "/oauth/revoke", "/oauth/authorize", "/oauth/register"), encoded)
  .map(([path, body]) =>
    http("oauth", path, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: Buffer.from(body),
      may: "answered",
    }),
  );
const broken = noJson.map((body) => http("oauth", "/oauth/register", { body, may: "answered" }));
const token = fc
  .stringMatching(/^oat1\.[A-Za-z0-9_-]{1,200}\.[A-Za-z0-9_-]{43}$/)
  .map((text) => http("oauth", "/mcp", { headers: bearer(text), body: Buffer.from("{}") }));

export const oauth: fc.Arbitrary<HostileRequest> = fc.oneof(registration, request, posted, broken, token);
