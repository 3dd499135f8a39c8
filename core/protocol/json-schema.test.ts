/** The conversion compared with zod's own, whose output models have been given since the first version. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { toJSONSchema } from "zod/mini";
import { RULE_TOOLS } from "../rules/tools.ts";
import { SESSION_TOOLS } from "../tools/session-tools.ts";
import { made } from "./deferred-schema.ts";
import { jsonSchema, z } from "./parse.ts";

/** zod's, without the address of the draft and the bounds of every whole number, which tell a model nothing. */
function asZodSays(schema: z.ZodMiniType): unknown {
  const { $schema: _, ...rest } = toJSONSchema(made(schema) as z.ZodMiniType, {
    io: "input",
    target: "draft-7",
    override: ({ jsonSchema: json }) => {
      if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
      if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
    },
  });
  return rest;
}

const bound = fc.integer({ min: 0, max: 9 });
const words = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 });
const leaf: fc.Arbitrary<z.ZodMiniType> = fc.oneof(
  fc.constantFrom(z.string(), z.number(), z.int(), z.boolean(), z.null(), z.unknown(), z.any()),
  fc.tuple(bound, bound).map(([least, most]) => z.string().check(z.maxLength(most), z.minLength(least))),
  fc.tuple(bound, bound).map(([least, most]) => z.int().check(z.minimum(least), z.maximum(most))),
  bound.map((least) => z.number().check(z.minimum(least))),
  fc.constant(
    z.string().check(
      z.trim(),
      z.regex(/^\d+$/),
      z.refine(() => true),
    ),
  ),
  words.map((values) => z.enum(values)),
  fc.constantFrom(z.literal("x"), z.literal(1), z.literal(true), z.literal(["x", "y"]), z.literal(["x", 1])),
);
const { schema } = fc.letrec<{ schema: z.ZodMiniType; object: z.ZodMiniType }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    tie("schema").map((inner) => inner.check(z.describe("what it is"))),
    tie("schema").map((inner) => z.optional(inner)),
    tie("schema").map((inner) => z.nullable(inner)),
    tie("schema").map((inner) => z._default(inner, 7 as never)),
    fc
      .tuple(tie("schema"), bound)
      .map(([inner, least]) => z.array(inner).check(z.minLength(least), z.maxLength(9))),
    tie("schema").map((inner) => z.record(z.string().check(z.maxLength(9)), inner)),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((options) => z.union(options)),
    fc
      .constantFrom("a", "b")
      .map((kind) => z.discriminatedUnion("kind", [z.object({ kind: z.literal(kind) })])),
    tie("object"),
  ),
  object: fc
    .tuple(
      fc.constantFrom(z.object, z.strictObject, z.looseObject),
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema"), { noNullPrototype: true }),
    )
    .map(([make, shape]) => make(shape)),
}));

test("schemas of every kind that tools have are as zod writes them", () => {
  fc.assert(
    fc.property(schema, (one) => {
      expect(JSON.stringify(jsonSchema(one))).toBe(JSON.stringify(asZodSays(one)));
    }),
    { numRuns: 1_000 },
  );
});

test.each(Object.entries({ ...RULE_TOOLS, ...SESSION_TOOLS }))(
  "%s: the same text as zod's",
  (_, { input }) => {
    expect(JSON.stringify(jsonSchema(input))).toBe(JSON.stringify(asZodSays(input)));
  },
);

test("a type that JSON does not have is refused by its name", () => {
  expect(() => jsonSchema(z.object({ at: z.catch(z.string(), "") }))).toThrow("one of catch");
});
