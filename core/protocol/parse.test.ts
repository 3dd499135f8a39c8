import fc from "fast-check";
import { expect, test } from "vitest";
import { check, checkJson, jsonSchema, z } from "./parse.ts";

const Point = z.object({ name: z.string(), at: z.object({ x: z.int(), y: z.int() }) });

test("a valid value is returned", () => {
  const point = { name: "a", at: { x: 1, y: 2 } };
  expect(check(Point, point)).toEqual({ ok: true, value: point });
  expect(checkJson(Point, JSON.stringify(point))).toEqual({ ok: true, value: point });
});

test("an error names every wrong field, in words", () => {
  expect(check(Point, { at: { x: "1", y: 2 } })).toEqual({
    ok: false,
    error:
      "name: Invalid input: expected string, received undefined; at.x: Invalid input: expected number, received string",
  });
  expect(check(Point, 7)).toEqual({ ok: false, error: "Invalid input: expected object, received number" });
});

test("an error stays short, however many fields are wrong", () => {
  const result = check(z.array(z.int()), Array(1_000).fill("x"));
  expect(result).toMatchObject({ ok: false, error: expect.stringMatching(/^0: .*; 4: .*; and 995 more$/) });
});

test("what is not JSON", () => {
  expect(checkJson(Point, "{nope")).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^not JSON: ./),
  });
});

test("any text gives an answer", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(typeof checkJson(Point, text).ok).toBe("boolean");
    }),
  );
});

test("jsonSchema: draft-7 without its address, defaults optional, no useless bounds", () => {
  const schema = z.strictObject({ n: z.int(), limit: z._default(z.int().check(z.minimum(1)), 5) });
  expect(jsonSchema(schema)).toEqual({
    type: "object",
    properties: { n: { type: "integer" }, limit: { type: "integer", minimum: 1, default: 5 } },
    required: ["n"],
    additionalProperties: false,
  });
});

test("a value that is nested too deeply is refused, whatever it is made of", () => {
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
    expect(checkJson(z.unknown(), nested(100)).ok).toBe(true);
    for (const depth of [101, 60_000])
      expect(checkJson(z.unknown(), nested(depth))).toEqual({
        ok: false,
        error: "more than 100 lists and objects in one another",
      });
  }
});
