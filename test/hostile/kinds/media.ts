/** Pictures and files: invented ids, links and uploads. */
import fc from "fast-check";
import { headerText, oddText, pathPart } from "../corpus.ts";
import { bearer, type HostileRequest, http } from "../request.ts";
import { TOKENS } from "../world.ts";

const place = fc.oneof(
  fc.constantFrom(
    "api/kept",
    "api/c",
    "telegram/c:7",
    "ask/x",
    "../b/api/kept",
    "api/",
    "__proto__/x",
    "command/pi",
  ),
  oddText,
);
const id = fc.oneof(
  fc
    .tuple(fc.uuid(), place)
    .map(([uuid, text]) => `${uuid}.${Buffer.from(text).toString("base64url").slice(0, 260) || "eA"}`),
  pathPart,
);
const link = fc
  .tuple(
    fc.constantFrom("a", "b", "", "__proto__", "A", "a".repeat(64)),
    fc.constantFrom("0", "1", "9999999999", "99999999999", "NaN", "-1"),
    fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      fc.constant(""),
      oddText.map((text) => encodeURIComponent(text.toWellFormed())),
    ),
  )
  .map(([home, until, mac]) => `?home=${home}&until=${until}&mac=${mac}`);
/** The letters of ids and links. */
const made = fc.string({
  unit: fc.constantFrom(..."resp_0123456789abcdefXYZ.-~"),
  minLength: 1,
  maxLength: 120,
});
/** As long as a real signature, but not valid. */
const grant = fc
  .tuple(fc.jsonValue({ maxDepth: 1 }), fc.stringMatching(/^[A-Za-z0-9_-]{43}$/))
  .map(([value, mac]) =>
    bearer(`${Buffer.from(JSON.stringify(value)).toString("base64url").slice(0, 1_500) || "e30"}.${mac}`),
  );

export const media: fc.Arbitrary<HostileRequest> = fc.oneof(
  fc
    .tuple(id, fc.constantFrom(TOKENS.owner, TOKENS.guest, TOKENS.otherHome))
    .map(([name, token]) => http("media", `/v1/media/${name}`, { headers: bearer(token) })),
  fc
    .tuple(made, made)
    .map(([name, mac]) =>
      http("media", `/v1/media/x${name}?home=a&until=1799999999&mac=${mac}`, { exactly: { status: 404 } }),
    ),
  fc.tuple(id, link).map(([name, query]) => http("media", `/v1/media/${name}${query}`)),
  fc
    .tuple(
      id,
      fc.oneof(
        grant,
        fc.constant({}),
        headerText.map((authorization) => ({ authorization })),
        fc.constant(bearer(TOKENS.owner)),
      ),
      fc.uint8Array({ maxLength: 200 }),
    )
    .map(([name, headers, bytes]) =>
      http("media", `/v1/media/${name}`, { method: "PUT", headers, body: Buffer.from(bytes) }),
    ),
);
