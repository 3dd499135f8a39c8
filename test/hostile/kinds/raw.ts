/** Bytes that are hardly HTTP. The runtime handles them, and must keep working afterwards. */
import fc from "fast-check";
import type { HostileRequest } from "../request.ts";
import { TOKENS } from "../world.ts";

const HEAD = `POST /v1/conversations/c/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.guest}\r\n`;
const BYTES = [
  "\r\n\r\n\r\n",
  "GET\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  "BREW / HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET /\u0000 HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET http://evil.example/v1/agents HTTP/1.1\r\nHost: x\r\n\r\n",
  "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: localhost:99999\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: %00\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
  `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(100_000)}\r\n\r\n`,
  `GET /${"x".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `${HEAD}Content-Length: -1\r\n\r\n`,
  `${HEAD}Content-Length: 99999999999999999999\r\n\r\n{}`,
  `${HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{"a":1}`,
  `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
  `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  `${HEAD}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n`,
  `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  // Half of a body, and then nothing.
  `${HEAD}Content-Length: 100\r\n\r\n{"text":"x"}`,
];

export const raw: fc.Arbitrary<HostileRequest> = fc
  .oneof(
    { weight: 4, arbitrary: fc.constantFrom(...BYTES).map((text) => Buffer.from(text, "latin1")) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ minLength: 1, maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
    },
  )
  .map((bytes) => ({ by: "raw", kind: "no HTTP", may: "answered", bytes }));
