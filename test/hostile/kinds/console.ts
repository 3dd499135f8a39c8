/** The console's requests, sent by other pages and with odd fields. */
import fc from "fast-check";
import { broken, headerText, noJson, not, oddText, oddValue, POLLUTING, pathPart } from "../corpus.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";
import { TOKENS } from "../world.ts";

const SESSION = "/v1/console/session";
const OWNER = bearer(TOKENS.owner);
/** send.ts replaces `{origin}` with the gateway's own origin. */
const PAGE = { origin: "{origin}", "x-edgecall-console": "1", "content-type": "application/json" };
const uuid = "00000000-0000-4000-8000-000000000000";

const signIn = fc.oneof(
  noJson,
  broken(
    {},
    {
      token: fc.oneof(not("string"), oddText, fc.stringMatching(/^[A-Za-z0-9._~+/=-]{16,256}$/)),
      more: oddValue,
      ...Object.fromEntries(POLLUTING.slice(1).map((name) => [name, oddValue])),
    },
  ),
);
const otherPage = fc.record({
  origin: fc.oneof(headerText, fc.constantFrom("https://evil.example", "null")),
  "sec-fetch-site": fc.constantFrom("cross-site", "same-site"),
});

export const consoleForms: fc.Arbitrary<HostileRequest> = fc.oneof(
  signIn.map((body) => http("console", SESSION, { headers: PAGE, body })),
  // A valid token from the wrong page.
  otherPage.map((headers) =>
    http("console", SESSION, { headers: { ...PAGE, ...headers }, body: json({ token: TOKENS.owner }) }),
  ),
  otherPage.map((headers) => http("console", SESSION, { method: "DELETE", headers })),
  headerText.map((jwt) =>
    http("console", SESSION, { headers: { ...PAGE, "cf-access-jwt-assertion": jwt }, body: json({}) }),
  ),
  fc
    .tuple(
      fc.constantFrom(`/v1/questions/${uuid}`, "/v1/senders/requests/ABCDEF", "/v1/pairings/ABCDEF"),
      fc.oneof(
        noJson.filter(({ length }) => length > 0),
        oddValue.map((value) => json(JSON.stringify({ answer: value, role: value }))),
      ),
    )
    .map(([path, body]) => http("console", path, { headers: OWNER, body })),
  fc
    .tuple(
      fc.constantFrom("/v1/senders/requests/", "/v1/pairings/", "/v1/senders/telegram/c/", "/v1/senders/"),
      pathPart,
    )
    .map(([path, id]) => http("console", `${path}${id}`, { method: "DELETE", headers: OWNER })),
  pathPart.map((id) => http("console", `/v1/console/agents/${id}/actions`, { headers: OWNER })),
);
