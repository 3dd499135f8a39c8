import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { newTrace } from "./context.ts";
import type { Span } from "./span.ts";
import { Tracer } from "./tracer.ts";

type Body = { resourceSpans: [{ scopeSpans: [{ spans: Array<Record<string, unknown>> }] }] };

let status = 200;
const bodies: Body[] = [];
const headers: Array<string | undefined> = [];
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  bodies.push(JSON.parse(Buffer.concat(chunks).toString()) as Body);
  headers.push(request.headers["x-team"]?.toString());
  response.writeHead(status).end("{}");
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
afterAll(() => server.close());

const lines: Array<[string, Record<string, string | number>]> = [];
function tracer(delayMs?: number): Tracer {
  bodies.length = 0;
  lines.length = 0;
  const { port } = server.address() as AddressInfo;
  return new Tracer({
    settings: { url: `http://127.0.0.1:${port}/v1/traces`, headers: { "x-team": "us" }, ratio: 1 },
    source: { service: "edgecall-test", version: "1", scope: "test" },
    ...(delayMs !== undefined && { delayMs }),
    log: (event, fields) => lines.push([event, fields]),
  });
}

const span = (more: Partial<Span> = {}): Span => ({
  context: newTrace(1),
  name: "one",
  kind: "client",
  startMs: 1_700_000_000_000.5,
  endMs: 1_700_000_000_002,
  ...more,
});

test("spans go out together, with their times in nanoseconds, their error, and the headers", async () => {
  const own = tracer();
  own.add(span({ attributes: { n: 3, half: 0.5, yes: true, none: undefined }, error: "timeout" }));
  own.add(span({ name: "two", parentId: "00f067aa0ba902b7" }));
  await own.flush();
  expect(bodies).toHaveLength(1);
  expect(headers.at(-1)).toBe("us");
  expect(bodies[0]?.resourceSpans[0].scopeSpans[0].spans).toMatchObject([
    {
      name: "one",
      kind: 3,
      startTimeUnixNano: "1700000000000500000",
      endTimeUnixNano: "1700000000002000000",
      status: { code: 2, message: "timeout" },
      attributes: [
        { key: "n", value: { intValue: "3" } },
        { key: "half", value: { doubleValue: 0.5 } },
        { key: "yes", value: { boolValue: true } },
        { key: "error.type", value: { stringValue: "timeout" } },
      ],
    },
    { name: "two", parentSpanId: "00f067aa0ba902b7" },
  ]);
  await own.flush();
  expect(bodies).toHaveLength(1);
});

test("a span that is not sampled is never sent", async () => {
  const own = tracer(0);
  own.add(span({ context: newTrace(0) }));
  await own.flush();
  expect(bodies).toHaveLength(0);
});

test("a collector that is away costs its spans and one line, until it takes spans again", async () => {
  const own = tracer();
  status = 503;
  for (let i = 0; i < 3; i += 1) {
    own.add(span());
    await own.flush();
  }
  expect(lines).toEqual([["trace.dropped", { spans: 1, error: "status 503" }]]);
  status = 200;
  own.add(span());
  await own.flush();
  expect(bodies.at(-1)?.resourceSpans[0].scopeSpans[0].spans).toHaveLength(1);
  status = 503;
  own.add(span());
  await own.flush();
  status = 200;
  expect(lines).toHaveLength(2);
});

test("more than a thousand spans do not wait", async () => {
  const own = tracer();
  for (let i = 0; i < 1_005; i += 1) own.add(span());
  await own.flush();
  expect(bodies[0]?.resourceSpans[0].scopeSpans[0].spans).toHaveLength(1_000);
  expect(lines).toEqual([["trace.dropped", { spans: 5, error: "more than 1000 waited" }]]);
});
