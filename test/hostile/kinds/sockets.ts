/** WebSocket handshakes on routes without one, and frames from a sender with home b's bridge token. */
import fc from "fast-check";
import { deep, headerText, oddText, oddValue, POLLUTING } from "../corpus.ts";
import { bearer, type HostileRequest } from "../request.ts";
import { TOKENS } from "../world.ts";

const closed: fc.Arbitrary<HostileRequest> = fc
  .tuple(
    fc.constantFrom(
      "/bridge",
      "/v1/conversations/kept/attach",
      "/attach?turn=x&after=0",
      "/wait?call=x",
      "/v1/conversations/kept/messages",
      "/v1/conversations/kept",
      "/mcp",
      "/",
    ),
    fc.oneof(
      fc.constant({}),
      headerText.map((authorization) => ({ authorization })),
      fc.constantFrom(TOKENS.owner, TOKENS.guest, `${TOKENS.bridge}x`).map(bearer),
      fc.constant({ ...bearer(TOKENS.bridge), origin: "https://evil.example" }),
    ),
  )
  .map(([path, headers]) => ({
    by: "socket",
    kind: "handshake",
    // Without an upgrade it is a normal GET.
    may: path === "/" || path === "/v1/conversations/kept" ? "answered" : "refused",
    path,
    headers,
    frames: [],
  }));

const agent = fc.record(
  {
    id: fc.oneof(fc.constantFrom("pi", "a".repeat(65)), oddValue),
    online: oddValue,
    last_seen: oddValue,
    foreign: oddValue,
    capabilities: oddValue,
    tools: oddValue,
    more: oddValue,
  },
  { requiredKeys: [] },
);
const frame: fc.Arbitrary<string> = fc.oneof(
  fc
    .record(
      {
        t: fc.oneof(
          fc.constantFrom(
            "hello",
            "snapshot",
            "agent",
            "gone",
            "taken",
            "refused",
            "event",
            "report",
            "call",
            "welcome",
            ...POLLUTING,
          ),
          oddValue,
        ),
        id: oddValue,
        agent: fc.oneof(agent, oddValue),
        agents: fc.oneof(fc.array(agent, { maxLength: 3 }), oddValue),
        last: oddValue,
        payload: oddValue,
        protocol: oddValue,
        bridge: oddValue,
        version: oddValue,
        code: oddValue,
        message: oddValue,
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
  oddText,
  deep.filter((text) => text.length < 40_000),
  fc.constant(
    JSON.stringify({ t: "report", id: "00000000-0000-4000-8000-000000000000", agent: "pi", payload: "{" }),
  ),
  fc.constant("x".repeat(70_000)),
);
const HELLO = JSON.stringify({ t: "hello", protocol: 1, bridge: "hostile", version: "0" });

const frames: fc.Arbitrary<HostileRequest> = fc
  .tuple(
    fc.boolean(),
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: frame },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)) },
      ),
      { minLength: 1, maxLength: 12 },
    ),
  )
  .map(([greeted, some]) => ({
    by: "socket",
    kind: "frames",
    may: "answered",
    path: "/bridge",
    headers: bearer(TOKENS.otherBridge),
    frames: greeted ? [HELLO, ...some] : some,
  }));

export const sockets: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 2, arbitrary: closed },
  { weight: 1, arbitrary: frames },
);
