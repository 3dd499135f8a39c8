/** Another home asks: with tokens that no home signed, for grants, homes and bodies that do not fit. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { broken, noJson, oddValue } from "../corpus.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";

const KINDS = ["take", "agents", "call", "cancel", "outcome"];
const CALL = { id: "0".repeat(36), agent: "pi", action: "cpu", params: {}, chain: { steps: 0 } };
const TAKE = { secret: "A".repeat(22), key: "A".repeat(43), url: "https://far.example", home: "far" };

/** Everything but the signature and the grant is right. */
function tokenFor(path: string, body: Buffer, claims: object = {}): string {
  const right = {
    grant: "00000000-0000-4000-8000-000000000000",
    from: "borrower",
    for: `gateway.example${path}`,
    exp: Math.floor(Date.now() / 1_000) + 240,
    body: createHash("sha256").update(body).digest("hex"),
    ...claims,
  };
  return `${Buffer.from(JSON.stringify(right)).toString("base64url")}.${"A".repeat(86)}`;
}

const bodies = fc.oneof(
  noJson,
  broken(CALL, { id: oddValue, agent: oddValue, chain: oddValue }),
  fc.constantFrom(json(CALL), json(TAKE), json({})),
);
const claims = fc.oneof(
  fc.constant({}),
  fc.constant({ from: "lender" }),
  fc
    .tuple(fc.constantFrom("grant", "from", "for", "exp", "body", "more"), oddValue)
    .map(([field, value]) => ({ [field]: value })),
);
const homes = fc.oneof(fc.constantFrom("a", "b"), fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/));

export const peers: fc.Arbitrary<HostileRequest> = fc
  .tuple(fc.constantFrom(...KINDS, "nothing"), homes, bodies, claims)
  .map(([kind, home, body, more]) => {
    const path = `/v1/peer/${home}/${kind}`;
    const headers = bearer(tokenFor(path, body, more));
    return http("peer", path, { headers, body, exactly: { status: 401 } });
  });
