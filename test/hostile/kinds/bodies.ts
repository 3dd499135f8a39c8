/** Bodies that are larger than their route allows, with and without their length, and bodies in other encodings. */
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { bearer, type HostileRequest, http, json } from "../request.ts";
import { SIGNED, TOKENS, webhookPath } from "../world.ts";

const MIB = 1_024 * 1_024;
const TYPED = { ...bearer(TOKENS.owner), "content-type": "application/json" };
const ROUTES = [
  { path: "/v1/conversations/c/messages", max: MIB, headers: TYPED },
  { path: "/ask", max: MIB, headers: TYPED },
  { path: "/v1/agents/pi/commands", max: MIB, headers: TYPED },
  { path: "/v1/push/browsers", max: MIB, headers: TYPED },
  { path: "/v1/push/topics", max: MIB, headers: TYPED },
  { path: "/v1/rules/{rule}/press", max: MIB, headers: TYPED },
  { path: "/mcp", max: MIB / 4, headers: TYPED },
  { path: webhookPath("generic"), max: MIB / 2, headers: SIGNED.generic() },
  { path: webhookPath("telegram"), max: MIB / 2, headers: {} },
];
const HUGE = Buffer.alloc(4 * MIB, '{"text":"');

export const largeBodies: fc.Arbitrary<HostileRequest> = fc
  .tuple(fc.constantFrom(...ROUTES), fc.boolean(), fc.constantFrom(1, 1_000, 65_536, MIB, 3 * MIB))
  .map(([{ path, max, headers }, chunked, over]) =>
    http("large body", path, { headers, body: HUGE.subarray(0, max + over), chunked }),
  );

const SAID = json({ text: "x" });
export const encodings: fc.Arbitrary<HostileRequest> = fc
  .constantFrom<[string, Buffer]>(
    ["gzip", gzipSync(SAID)],
    ["deflate", deflateSync(SAID)],
    ["br", Buffer.from("8b058004", "hex")],
    ["gzip", gzipSync(Buffer.alloc(MIB))],
    ["zstd", Buffer.from("28b52ffd", "hex")],
  )
  .chain(([encoding, body]) =>
    fc
      .constantFrom("/v1/conversations/c/messages", "/v1/agents/pi/commands", "/v1/push/topics")
      .map((path) => http("encoding", path, { headers: { ...TYPED, "content-encoding": encoding }, body })),
  );
