import { describe, expect, test } from "vitest";
import * as mini from "zod/mini";
import { deferred, deferredObject } from "./deferred-schema.ts";
import { jsonSchema, z } from "./parse.ts";

/** Counts how often zod's function is called. */
function counted<F extends (...args: never[]) => unknown>(make: F): { make: F; calls: () => number } {
  let calls = 0;
  const counting = (...args: never[]) => {
    calls += 1;
    return make(...args);
  };
  // SAFETY: it takes and returns what `make` does.
  return { make: counting as unknown as F, calls: () => calls };
}

describe("a schema", () => {
  test("is made at its first use, once, with those that stand in it", () => {
    const [string, object, min] = [counted(mini.string), counted(mini.object), counted(mini.minLength)];
    const name = deferred(string.make)().check(deferred(min.make)(2));
    const schema = deferredObject(object.make)({ name, list: deferred(mini.array)(name) });
    const calls = () => [string.calls(), object.calls(), min.calls()];
    expect(calls()).toEqual([0, 0, 0]);
    expect(Object.keys(schema.shape)).toEqual(["name", "list"]);
    expect(calls()).toEqual([0, 0, 0]);
    expect(schema.safeParse({ name: "ab", list: ["cd"] }).success).toBe(true);
    expect(schema.safeParse({ name: "a", list: [] }).success).toBe(false);
    expect(schema.safeParse({ name: "ab", list: ["c"] }).success).toBe(false);
    expect(calls()).toEqual([1, 1, 1]);
  });

  test("may be built of another's shape, before and after that was made", () => {
    const One = z.object({ a: z.string() });
    const before = z.strictObject({ ...One.shape, b: z.int() });
    expect(One.safeParse({ a: "x" }).success).toBe(true);
    const after = z.strictObject({ ...One.shape, b: z.int() });
    for (const schema of [before, after]) {
      expect(schema.parse({ a: "x", b: 1 })).toEqual({ a: "x", b: 1 });
      expect(schema.safeParse({ a: "x", b: 1, c: 1 }).success).toBe(false);
    }
  });

  test("takes defaults, enums and lists of values as they are", () => {
    const schema = z.object({
      list: z._default(z.array(z.string()), []),
      object: z._default(z.record(z.string(), z.unknown()), { a: { b: 1 } }),
      one: z.catch(z.enum(["x", "y"]), "x"),
      other: z.nullable(z.union([z.literal([1, 2]), z.null()])),
    });
    expect(schema.parse({ one: "z", other: 2 })).toEqual({
      list: [],
      object: { a: { b: 1 } },
      one: "x",
      other: 2,
    });
  });

  test("has its JSON Schema, with the descriptions of its fields", () => {
    const input = z.strictObject({ name: z.string().check(z.maxLength(5), z.describe("What it is called")) });
    expect(jsonSchema(input)).toEqual({
      type: "object",
      properties: { name: { type: "string", maxLength: 5, description: "What it is called" } },
      required: ["name"],
      additionalProperties: false,
    });
  });
});
