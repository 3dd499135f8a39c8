import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusedParts } from "../testkit/model-schema.ts";
import { schemaForModels } from "./schema-for-models.ts";

type Json = Record<string, unknown>;

/** The reduced form of one property. */
function property(schema: unknown, more: Json = {}): unknown {
  return schemaForModels({ type: "object", properties: { it: schema }, ...more }).properties.it;
}

describe("L2: one property", () => {
  test.each<[string, unknown, unknown]>([
    [
      "a plain one stays",
      { type: "string", description: "which one" },
      { type: "string", description: "which one" },
    ],
    ["a large length is left out", { type: "string", minLength: 1, maxLength: 2_001 }, { type: "string" }],
    [
      "a small length stays",
      { type: "string", minLength: 2, maxLength: 64 },
      { type: "string", minLength: 2, maxLength: 64 },
    ],
    [
      "a pattern is left out",
      { type: "string", pattern: "^a$", description: "an a" },
      { type: "string", description: "an a" },
    ],
    [
      "a pattern that no description says",
      { type: "string", pattern: "^a$" },
      { type: "string", description: "matches ^a$" },
    ],
    ["a format", { type: "string", format: "date-time" }, { type: "string", description: "date-time" }],
    ["a default", { type: "integer", default: 5 }, { type: "integer", description: "default 5" }],
    [
      "a default that is said",
      { type: "integer", default: 5, description: "Default 5." },
      { type: "integer", description: "Default 5." },
    ],
    ["a constant", { const: "on" }, { type: "string", enum: ["on"] }],
    [
      "titled constants",
      {
        oneOf: [
          { const: "a", title: "A" },
          { const: "b", title: "B" },
        ],
      },
      { type: "string", enum: ["a", "b"] },
    ],
    [
      "numbers to choose from",
      { enum: [1, 2, 5] },
      { type: "integer", description: "one of 1, 2, 5", minimum: 1, maximum: 5 },
    ],
    [
      "numbers in a row",
      {
        anyOf: [
          { type: "number", const: 0 },
          { type: "number", const: 1 },
        ],
      },
      { type: "integer", minimum: 0, maximum: 1 },
    ],
    ["an empty choice", { enum: ["", "a"] }, { type: "string", description: 'one of "", "a"' }],
    ["no choice", { type: "string", enum: [] }, { type: "string" }],
    ["a fixed boolean", { const: true }, { type: "boolean", description: "always true" }],
    [
      "several plain types",
      { type: ["number", "string", "boolean"] },
      { type: "string", description: "number, text or true/false" },
    ],
    [
      "choices of several types",
      { enum: ["auto", 1] },
      { type: "string", description: 'text or number; one of "auto", 1' },
    ],
    [
      "a text or a list of texts",
      { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
      { type: "array", description: "or text", items: { type: "string" } },
    ],
    ["any value", { description: "What to set." }, { type: "string", description: "What to set. any value" }],
    ["allowed by true", true, { type: "string", description: "any value" }],
    ["forbidden", false, undefined],
    [
      "excluded limits of a whole number",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: "integer", minimum: 1, maximum: 9 },
    ],
    [
      "excluded limits",
      { type: "number", exclusiveMinimum: 0, multipleOf: 0.5 },
      { type: "number", description: "more than 0; a multiple of 0.5", minimum: 0 },
    ],
    [
      "a bound that grammars cannot spell",
      { type: "integer", minimum: -Number.MAX_SAFE_INTEGER, maximum: 9 },
      { type: "integer", maximum: 9 },
    ],
    ["a list of anything", { type: "array" }, { type: "array", items: { type: "string" } }],
    [
      "a long list",
      { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 500 },
      { type: "array", description: "at most 500", items: { type: "integer" }, minItems: 1 },
    ],
    [
      "a tuple",
      { type: "array", prefixItems: [{ type: "number" }, { type: "number" }] },
      { type: "array", items: { type: "number" } },
    ],
    [
      "free names",
      { type: "object", additionalProperties: { type: "number" } },
      { type: "object", description: "each value: number" },
    ],
    [
      "a name that endpoints refuse",
      { type: "object", properties: { "no spaces": {}, ok: { type: "boolean" } } },
      { type: "object", description: 'it also has "no spaces"', properties: { ok: { type: "boolean" } } },
    ],
    ["a type that there is not", { type: "frog" }, { type: "string", description: "any value" }],
    [
      "half of a character",
      { enum: ["\ud800", "ok"], description: "\udc00" },
      { type: "string", description: "\ufffd", enum: ["ok"] },
    ],
    [
      "several lines",
      { type: "integer", title: "GPIO\n\tnumber" },
      { type: "integer", description: "GPIO number" },
    ],
  ])("%s", (_, schema, reduced) => {
    expect(property(schema)).toEqual(reduced);
  });

  test("null is left out, and said where the property cannot be", () => {
    const nullable = { anyOf: [{ type: "string" }, { type: "null" }] };
    expect(property(nullable)).toEqual({ type: "string" });
    expect(property(nullable, { required: ["it"] })).toEqual({ type: "string", description: "or null" });
    expect(property({ type: ["integer", "null"] })).toEqual({ type: "integer" });
  });

  test("choices between objects are one object with what all of them need", () => {
    const of = (kind: string, properties: Json, required: string[]) => ({
      type: "object",
      properties: { kind: { const: kind }, ...properties },
      required: ["kind", ...required],
    });
    const schema = {
      oneOf: [of("a", { x: { type: "integer" } }, ["x"]), of("b", { y: { type: "string" } }, [])],
    };
    expect(property(schema)).toEqual({
      type: "object",
      properties: {
        kind: { type: "string", enum: ["a", "b"] },
        x: { type: "integer" },
        y: { type: "string" },
      },
      required: ["kind"],
    });
  });

  test("parts that have to fit together are one", () => {
    const allOf = [
      { properties: { x: { type: "number" } }, required: ["x"] },
      { properties: { x: { minimum: 1 }, y: { type: "string" } }, required: ["y"] },
    ];
    expect(property({ type: "object", description: "both", allOf })).toEqual({
      type: "object",
      description: "both",
      properties: { x: { type: "number", minimum: 1 }, y: { type: "string" } },
      required: ["x", "y"],
    });
    const either = { properties: { a: {}, b: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] };
    expect(property(either)).not.toHaveProperty("required");
  });
});

describe("L2: references", () => {
  test("are replaced by what they point at, with their own description", () => {
    const schema = {
      type: "object",
      properties: {
        at: { $ref: "#/$defs/a~1b/items", description: "where" },
        gone: { $ref: "#/$defs/none" },
      },
      $defs: {
        "a/b": { items: { $ref: "#/$defs/place" } },
        place: { enum: ["in", "out"], description: "place" },
      },
    };
    expect(schemaForModels(schema).properties).toEqual({
      at: { type: "string", description: "where", enum: ["in", "out"] },
      gone: { type: "string", description: "any value" },
    });
  });

  test("in a circle end with a plain object", () => {
    const node = {
      type: "object",
      properties: { name: { type: "string" }, child: { $ref: "#/$defs/node" } },
    };
    const schema = { type: "object", properties: { tree: { $ref: "#/$defs/node" } }, $defs: { node } };
    expect(schemaForModels(schema).properties).toEqual({
      tree: { type: "object", properties: { name: { type: "string" }, child: { type: "object" } } },
    });
    expect(schemaForModels({ $ref: "#" })).toEqual({ type: "object", properties: {} });
  });
});

describe("L2: a hostile schema", () => {
  const many = (count: number, of: (n: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, of(n)]));
  const nested = (times: number, wrap: (inner: unknown) => unknown, inner: unknown = {}) => {
    let schema = inner;
    for (let n = 0; n < times; n += 1) schema = wrap(schema);
    return schema;
  };
  const doubling = many(60, (n) => ({
    anyOf: [{ $ref: `#/$defs/p${n + 1}` }, { $ref: `#/$defs/p${n + 1}` }],
  }));

  test.each<[string, Json]>([
    ["a text", { type: "string" }],
    ["a deep list", { properties: { deep: nested(10_000, (items) => ({ items })) } }],
    [
      "deep objects",
      { properties: { deep: nested(10_000, (a) => ({ type: "object", properties: { a, b: a } })) } },
    ],
    ["deep choices", { properties: { deep: nested(10_000, (a) => ({ anyOf: [a, a] })) } }],
    ["deep parts", { properties: { deep: nested(10_000, (a) => ({ allOf: [a] })) } }],
    ["a wide object", { properties: many(100_000, () => ({ type: "string" })) }],
    [
      "many choices",
      { properties: { x: { allOf: Array.from({ length: 1_000 }, () => ({ anyOf: [{}, {}] })) } } },
    ],
    ["references that double", { properties: { x: { $ref: "#/$defs/p0" } }, $defs: doubling }],
    [
      "references to a wide one",
      {
        properties: many(500, () => ({ $ref: "#/$defs/w" })),
        $defs: { w: { properties: many(5_000, () => ({})) } },
      },
    ],
    [
      "long words",
      {
        properties: many(50, () => ({ description: "\u0007\n".repeat(50_000), enum: ["y".repeat(90_000)] })),
      },
    ],
    ["many values", { properties: { x: { enum: Array.from({ length: 200_000 }, (_, n) => `v${n}`) } } }],
    [
      "names of prototypes",
      JSON.parse(
        '{"properties": {"__proto__": {}, "constructor": {"$ref": "#/__proto__"}, "x": {"type": "toString"}}, "required": ["__proto__", 5, "x"]}',
      ),
    ],
  ])("%s costs little, and leaves nothing that is refused", (_, schema) => {
    const startedAt = performance.now();
    const reduced = schemaForModels(schema);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(refusedParts(reduced)).toEqual([]);
    expect(JSON.stringify(reduced).length).toBeLessThanOrEqual(8_000);
    expect(schemaForModels(structuredClone(reduced))).toEqual(reduced);
  });

  test("a large one keeps the names of its properties", () => {
    const large = many(40, () => ({
      type: "object",
      properties: many(40, () => ({ type: "string", description: "w".repeat(200) })),
    }));
    expect(Object.keys(schemaForModels({ properties: large, required: ["p7"] }).properties)).toHaveLength(40);
  });

  const name = fc.constantFrom("a", "b", "no spaces", "__proto__", "");
  const odd = fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1.5,
    "",
    "a",
    "\ud800",
    [],
    ["a", null],
    {},
    { a: 1 },
  );
  const { schema } = fc.letrec((tie) => {
    const some = fc.array(tie("schema"), { maxLength: 2 });
    return {
      schema: fc.oneof(
        { maxDepth: 4, depthSize: "small" },
        odd,
        fc.record(
          {
            type: fc.constantFrom("object", "array", "string", "number", "integer", "x", [
              "string",
              "null",
              "object",
            ]),
            description: fc.oneof(fc.string({ unit: "binary", maxLength: 400 }), odd),
            enum: fc.array(odd, { maxLength: 3 }),
            properties: fc.dictionary(name, tie("schema"), { maxKeys: 2 }),
            required: fc.oneof(fc.array(name, { maxLength: 2 }), odd),
            items: fc.oneof(tie("schema"), some),
            anyOf: some,
            allOf: some,
            $ref: fc.constantFrom("#", "#/properties/a", "#/properties/b/anyOf/0", "http://evil.example"),
            default: odd,
            minimum: fc.oneof(fc.double(), odd),
            exclusiveMaximum: fc.double(),
            maxItems: fc.integer(),
            minLength: fc.double(),
            pattern: odd,
            additionalProperties: tie("schema"),
          },
          { requiredKeys: [] },
        ),
      ),
    };
  });
  const root = fc.record({
    type: fc.constant("object"),
    properties: fc.dictionary(name, schema, { maxKeys: 3 }),
    anyOf: fc.array(schema, { maxLength: 2 }),
    required: odd,
  });

  test("whatever it is, the reduced form is taken everywhere, and reduced again it is the same", () => {
    fc.assert(
      fc.property(root, (whole) => {
        const reduced = schemaForModels(whole);
        expect(refusedParts(reduced)).toEqual([]);
        expect(JSON.stringify(schemaForModels(structuredClone(reduced)))).toBe(JSON.stringify(reduced));
      }),
      { numRuns: 300 },
    );
  });
});

describe("L2: what a tool takes can be written by the reduced form", () => {
  type Case = { schema: Json; value: unknown };
  const ofType = (schema: Json, values: fc.Arbitrary<unknown>) =>
    values.map((value): Case => ({ schema, value }));
  const bound = fc.integer({ min: 0, max: 5_000 });
  const { one } = fc.letrec<{ one: Case }>((tie) => {
    const scalar = fc.oneof(
      bound.chain((maxLength) =>
        ofType({ type: "string", maxLength }, fc.string({ maxLength: Math.min(maxLength, 30) })),
      ),
      fc
        .tuple(fc.integer(), fc.nat())
        .chain(([minimum, span]) =>
          ofType(
            { type: "integer", minimum, maximum: minimum + span },
            fc.integer({ min: minimum, max: minimum + span }),
          ),
        ),
      fc
        .tuple(fc.integer(), fc.nat())
        .chain(([low, span]) =>
          ofType(
            { type: "number", exclusiveMinimum: low },
            fc.integer({ min: low + 1, max: low + 1 + span }),
          ),
        ),
      ofType({ type: "boolean" }, fc.boolean()),
      ofType({ type: "null" }, fc.constant(null)),
      fc
        .array(fc.oneof(fc.string({ maxLength: 5 }), fc.integer(), fc.boolean()), {
          minLength: 1,
          maxLength: 5,
        })
        .chain((values) => ofType({ enum: values }, fc.constantFrom(...values))),
      fc.string({ maxLength: 5 }).map((value): Case => ({ schema: { const: value }, value })),
    );
    const other = tie("one");
    return {
      one: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        scalar,
        fc.array(other, { maxLength: 3 }).map(
          (all): Case => ({
            schema: {
              type: "array",
              items: all.length > 0 ? { anyOf: all.map(({ schema }) => schema) } : {},
              maxItems: 100,
            },
            value: all.map(({ value }) => value),
          }),
        ),
        fc
          .tuple(
            fc.dictionary(fc.constantFrom("a", "b", "c"), other),
            fc.array(fc.constantFrom("a", "b", "c")),
          )
          .map(([of, needed]): Case => {
            const entries = Object.entries(of);
            return {
              schema: {
                type: "object",
                properties: Object.fromEntries(entries.map(([key, { schema }]) => [key, schema])),
                required: needed.filter((key) => key in of),
                additionalProperties: false,
              },
              value: Object.fromEntries(entries.map(([key, { value }]) => [key, value])),
            };
          }),
        fc
          .tuple(other, other, fc.constantFrom("anyOf", "oneOf"))
          .map(([a, b, by]): Case => ({ schema: { [by]: [a.schema, b.schema] }, value: b.value })),
        fc.tuple(other, other).map(
          ([a, b]): Case => ({
            schema: { allOf: [b.schema, { description: "both" }], default: a.value },
            value: b.value,
          }),
        ),
      ),
    };
  });

  type Reduced = {
    type: string;
    description?: string;
    enum?: string[];
    properties?: Record<string, Reduced>;
    items?: Reduced;
    required?: string[];
  } & Record<"minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems", number | undefined>;

  /** @returns the place that cannot be written, or undefined */
  function unwritable(node: Reduced | undefined, value: unknown, at: string): string | undefined {
    if (!node) return `${at}: left out`;
    const { type, description = "", minimum = -Infinity, maximum = Infinity } = node;
    const within = (length: number, low = 0, high = Infinity) => length >= low && length <= high;
    if (
      type === "string" &&
      typeof value === "string" &&
      (node.enum?.includes(value) ?? within(value.length, node.minLength, node.maxLength))
    )
      return undefined;
    if (
      (type === "number" || Number.isInteger(value)) &&
      typeof value === "number" &&
      /number|integer/.test(type) &&
      within(value, minimum, maximum)
    )
      return undefined;
    if (type === typeof value && type === "boolean") return undefined;
    if (type === "array" && Array.isArray(value) && within(value.length, node.minItems, node.maxItems)) {
      return value
        .map((item, n) => unwritable(node.items, item, `${at}[${n}]`))
        .find((wrong) => wrong !== undefined);
    }
    if (type === "object" && typeof value === "object" && value !== null && !Array.isArray(value)) {
      const given = Object.entries(value).filter(
        ([key, item]) => item !== null || node.required?.includes(key),
      );
      const lacking = node.required?.find((key) => !(key in value));
      if (lacking !== undefined) return `${at}.${lacking}: required`;
      // Without properties its names are free.
      if (!node.properties) return undefined;
      return given
        .map(([key, item]) => unwritable(node.properties?.[key], item, `${at}.${key}`))
        .find((wrong) => wrong !== undefined);
    }
    // Other types are said in words: a text can stand for them.
    const word =
      value === null
        ? "null"
        : Array.isArray(value)
          ? "list"
          : ({ string: "text", boolean: "true/false" }[String(typeof value)] ?? typeof value);
    const said =
      description.includes(word) ||
      description.includes("any value") ||
      (description.includes("whole number") && Number.isInteger(value));
    return said ? undefined : `${at}: ${JSON.stringify(value)} by ${JSON.stringify(node)}`;
  }

  test("or is named in its words", () => {
    fc.assert(
      fc.property(one, ({ schema, value }) => {
        const reduced = schemaForModels({ type: "object", properties: { it: schema }, required: ["it"] });
        // A property that is always null cannot say anything.
        fc.pre(value !== null || reduced.properties.it !== undefined);
        expect(unwritable(reduced as never, { it: value }, "#")).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });
});
