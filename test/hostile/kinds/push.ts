/** Browsers and topics that are none, or somebody else's, and links of buttons that are forged, used or of another place. */
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { broken, noJson, not, oddText, oddValue, pathPart } from "../corpus.ts";
import { bearer, type HostileRequest, http, json } from "../request.ts";
import { TOKENS, testVars } from "../world.ts";

const TYPED = { ...bearer(TOKENS.owner), "content-type": "application/json" };
const KEYS = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};
/** The owner's topic. Nothing is ever sent there. */
export const TOPIC = "https://ntfy.example.org/hostile-requests";
export const OUTLET = createHash("sha256").update(`anna ${TOPIC}`).digest("hex").slice(0, 16);

const PRESS = {
  do: "ack",
  rule: "w-0000",
  occurrence: 1,
  home: "a",
  outlet: OUTLET,
  until: Date.now() + 3_600_000,
  once: "00000000-0000-4000-8000-000000000001",
};

/** A link as the gateway makes it (worker/features/push/press-links.ts). @param key of the signature's purpose and secrets */
function linkOf(claims: unknown, key = `edgecall rule press v1\n${SECRETS}`): string {
  const body = Buffer.from(JSON.stringify(claims) ?? "").toString("base64url");
  return `/v1/push/press/${body}.${createHmac("sha256", key).update(body).digest("base64url")}`;
}
const SECRETS = `${testVars.BRIDGE_TOKENS}\n${testVars.API_TOKENS}`;
/** Was pressed before the run. */
export const USED_LINK = linkOf(PRESS);
const fresh = (claims: object) =>
  linkOf({ ...PRESS, once: "00000000-0000-4000-8000-000000000002", ...claims });

const posted = (path: string, status: number) => http("press", path, { method: "POST", exactly: { status } });
/** Each has one right answer. */
export const PRESSES: HostileRequest[] = [
  posted(USED_LINK, 410),
  posted(fresh({ outlet: "0".repeat(16) }), 410),
  posted(fresh({ home: "b" }), 410),
  posted(fresh({ until: Date.now() - 1 }), 404),
  posted(linkOf(PRESS, `edgecall link v1\n${SECRETS}`), 404),
  posted(linkOf(PRESS, "another gateway's"), 404),
  posted(USED_LINK.slice(0, -5), 400),
  ...["GET", "PUT", "PATCH", "DELETE"].map((method) =>
    http("press", fresh({}), { method, exactly: { status: 401 } }),
  ),
];

const forged = fc
  .tuple(
    fc.oneof(
      fc.constant(PRESS),
      fc.record({ do: oddValue, rule: oddValue, outlet: oddValue, until: oddValue, home: oddValue }),
      oddValue,
    ),
    fc.stringMatching(/^[A-Za-z0-9_-]{43}$/),
  )
  .map(([claims, mac]) => {
    const body = Buffer.from(JSON.stringify(claims) ?? "").toString("base64url");
    return posted(`/v1/push/press/${body.slice(0, 900) || "e30"}.${mac}`, 404);
  });
/** A right signature, of other bytes. */
const altered = fc.tuple(fc.nat(400), fc.constantFrom("A", "z", "-")).map(([at, letter]) => {
  const place = "/v1/push/press/".length + (at % (USED_LINK.indexOf(".") - "/v1/push/press/".length));
  return http("press", USED_LINK.slice(0, place) + letter + USED_LINK.slice(place + 1), { method: "POST" });
});
const noLink = pathPart.map((part) => http("press", `/v1/push/press/${part}`, { method: "POST" }));

/** None of them may be written to, whatever the rest of the request says. */
const PRIVATE = [
  "http://push.example.org/x",
  "https://127.0.0.1/x",
  "https://127.1/x",
  "https://2130706433/x",
  "https://[::1]/x",
  "https://[::ffff:10.0.0.1]/x",
  "https://169.254.169.254/latest/meta-data",
  "https://192.168.1.1/x",
  "https://localhost/x",
  "https://router.local/x",
  "https://ntfy/x",
  "https://user:password@ntfy.example.org/x",
  "https://ntfy.example.org:22/x",
  "ftp://ntfy.example.org/x",
  "javascript:alert(1)",
];
const address = fc.oneof(fc.constantFrom(...PRIVATE), oddText, not("string"));
const browser = broken(
  { endpoint: "https://push.example.org/x", keys: KEYS },
  {
    endpoint: address,
    keys: oddValue,
    name: fc.oneof(not("string"), fc.constantFrom("", " ", "x".repeat(61))),
    more: oddValue,
  },
);
const noKey = fc
  .tuple(fc.stringMatching(/^[A-Za-z0-9_-]{87}$/), fc.stringMatching(/^[A-Za-z0-9_-]{22}$/))
  .map(([p256dh, auth]) => json({ endpoint: "https://push.example.org/x", keys: { p256dh, auth } }));
const topic = broken(
  { url: "https://ntfy.example.org/x" },
  {
    url: fc.oneof(
      address,
      fc
        .constantFrom("", "/", "/a/b", "/%2e%2e", `/${"x".repeat(65)}`)
        .map((path) => `https://ntfy.sh${path}`),
    ),
    token: fc.oneof(not("string"), fc.constantFrom("", "a b", "ä", "x".repeat(201), "a\r\nb: c")),
    more: oddValue,
  },
);
const form = Buffer.from(`url=${encodeURIComponent("https://ntfy.example.org/x")}`);
const PLACES = ["/v1/push/browsers", "/v1/push/topics"] as const;

const outlets: fc.Arbitrary<HostileRequest> = fc.oneof(
  fc.oneof(browser, noKey).map((body) => http("push", PLACES[0], { headers: TYPED, body })),
  topic.map((body) => http("push", PLACES[1], { headers: TYPED, body })),
  fc
    .tuple(fc.constantFrom(...PLACES), noJson)
    .map(([path, body]) => http("push", path, { headers: TYPED, body })),
  fc
    .constantFrom("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x")
    .map((type) => http("push", PLACES[1], { headers: { ...TYPED, "content-type": type }, body: form })),
  pathPart.map((id) => http("push", `/v1/push/${id}`, { method: "DELETE", headers: TYPED })),
  // The owner's, for others.
  fc
    .constantFrom(TOKENS.guest, TOKENS.member, TOKENS.admin, TOKENS.otherHome, TOKENS.bridge, TOKENS.scraper)
    .map((token) => http("push", `/v1/push/${OUTLET}`, { method: "DELETE", headers: bearer(token) })),
);

export const push: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 5, arbitrary: outlets },
  { weight: 1, arbitrary: fc.constantFrom(...PRESSES) },
  { weight: 2, arbitrary: fc.oneof(forged, altered, noLink) },
);
