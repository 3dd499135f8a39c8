/** The words compared with zod's. */
import fc from "fast-check";
import { expect, test } from "vitest";
import en from "zod/v4/locales/en.js";
import { issueWords } from "./issue-words.ts";
import { z } from "./parse.ts";

const schemas: z.ZodMiniType[] = [
  z.string().check(z.minLength(2), z.maxLength(3), z.regex(/^[a-z"]*$/)),
  z.int().check(z.minimum(1), z.maximum(5)),
  z.number(),
  z.boolean(),
  z.null(),
  z.literal("a"),
  z.literal([1, "b", true]),
  z.enum(["a", "b"]),
  z.array(z.string()).check(z.minLength(1), z.maxLength(2)),
  z.strictObject({ a: z.string(), b: z.optional(z.number()) }),
  z.record(z.string().check(z.maxLength(2)), z.int()),
  z.record(z.enum(["a", "b"]), z.int()),
  z.union([z.string(), z.int()]),
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("a") }),
    z.object({ kind: z.literal("b"), of: z.string() }),
  ]),
  z.string().check(z.refine((text) => text === "")),
];

test("what is wrong is said as zod says it", () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, undefined),
    fc.string(),
    fc.double(),
    fc.integer(),
    fc.record({ kind: fc.constantFrom("a", "b", "c") }),
    fc.dictionary(fc.constantFrom("a", "b", "long"), fc.oneof(fc.string(), fc.integer())),
    fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 4 }),
  );
  const messages = (schema: z.ZodMiniType, given: unknown) =>
    schema.safeParse(given).error?.issues.map(({ message }) => message);
  let wrong = 0;
  fc.assert(
    fc.property(fc.constantFrom(...schemas), value, (schema, given) => {
      z.config(en());
      const theirs = messages(schema, given);
      z.config({ localeError: issueWords });
      expect(messages(schema, given)).toEqual(theirs);
      if (theirs) wrong += 1;
    }),
    { numRuns: 3_000 },
  );
  expect(wrong).toBeGreaterThan(1_000);
});
