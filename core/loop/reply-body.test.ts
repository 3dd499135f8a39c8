import fc from "fast-check";
import { expect, test } from "vitest";
import { ReplyBody } from "./reply-body.ts";
import { ModelError } from "./retry.ts";

const bytes = new TextEncoder();

function read(text: string, size = Number.POSITIVE_INFINITY): string[] {
  const body = new ReplyBody();
  const all = bytes.encode(text);
  const data: string[] = [];
  for (let at = 0; at < all.length; at += size)
    data.push(...body.add(all.subarray(at, at + size)).map((it) => it.data));
  return [...data, ...body.end().map((it) => it.data)];
}

const A = '{"a":"grün 🌡"}';
const B = '{"b":2}';

const BODIES: ReadonlyArray<readonly [string, string, string[]]> = [
  ["events", `data: ${A}\n\ndata: ${B}\n\ndata: [DONE]\n\n`, [A, B, "[DONE]"]],
  ["events without blanks", `data:${A}\n\ndata:${B}\n\n`, [A, B]],
  ["events with CRLF", `data: ${A}\r\n\r\ndata: ${B}\r\n\r\n`, [A, B]],
  ["events with CR alone", `data: ${A}\r\rdata: ${B}\r\r`, [A, B]],
  ["events behind a BOM", `\ufeffdata: ${A}\n\n`, [A]],
  ["events behind comments", `: OPENROUTER PROCESSING\n\n: again\n\ndata: ${A}\n\n`, [A]],
  ["events behind blank lines", `\n\n\ndata: ${A}\n\n`, [A]],
  ["an event in several lines", 'data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']],
  ["an event without its blank line", `data: ${A}`, [A]],
  ["events with ids and names", `id: 1\nevent: message\nretry: 5\ndata: ${A}\n\n`, [A]],
  ["one JSON value", A, [A]],
  ["a JSON value in lines", JSON.stringify({ a: 1, b: [2] }, null, 2), ['{"a":1,"b":[2]}']],
  ["a list", `[${A},${B}]`, [A, B]],
  ["a value a line", `${A}\n${B}\n`, [A, B]],
  ["llama.cpp's field error", `error: ${B}\n\n`, [B]],
  ["a value between events", `data: ${A}\n\n${B}\n`, [A, B]],
  ["comments alone", ": ping\n\n", []],
  ["nothing", "", []],
]; // biome-ignore format: a table

test.each(BODIES)("L12: read by its first characters: %s", (_, text, data) => {
  expect(read(text)).toEqual(data);
});

test("L12: property: in any pieces the same", () => {
  fc.assert(
    fc.property(fc.constantFrom(...BODIES), fc.integer({ min: 1, max: 40 }), ([, text, data], size) => {
      expect(read(text, size)).toEqual(data);
    }),
  );
});

test.each([
  ["<!DOCTYPE html><title>Sign in</title>", "a web page", "Sign in"],
  ["\n <html>", "a web page", ""],
  ["Service is starting", "plain text", "Service is starting"],
])("L7: %j is no reply", (text, what, words) => {
  const error = (() => {
    try {
      read(text);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({
    kind: "never",
    message: expect.stringContaining(`${what} in place of a reply${words && `: ${words}`}`),
  });
});

test("a body of one endless line is told as too long before it is held whole", () => {
  for (const begin of ['{"a":"', 'data: {"a":"']) {
    const body = new ReplyBody();
    let held = 0;
    const piece = bytes.encode("x".repeat(256 * 1024));
    body.add(bytes.encode(begin));
    while (!body.isTooLong && held < 64) {
      body.add(piece);
      held += 1;
    }
    expect(held).toBeLessThan(20);
  }
});
