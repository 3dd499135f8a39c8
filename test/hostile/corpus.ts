/** Values that have broken parsers before, and arbitraries made of them. */
import fc from "fast-check";

/** Names that every object of a careless program inherits. */
export const POLLUTING = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "__defineGetter__",
  "then",
];

const ODD_TEXTS = [
  "",
  " ",
  "\u0000",
  "\ufeff",
  "\u2028",
  "\ud800",
  "\u202e",
  "%",
  "%00",
  "%2e%2e%2f",
  "../../etc/passwd",
  "$(id)",
  "'; DROP TABLE turn; --",
  "<script>alert(1)</script>",
  "{{7*7}}",
  "NaN",
  "-0",
  "1e999",
  "undefined",
  "null",
  "[object Object]",
  "a".repeat(300),
  "💥".repeat(100),
  ...POLLUTING,
];

const ODD_NUMBERS = [
  0,
  -0,
  -1,
  0.5,
  1e21,
  1e308,
  -1e308,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER + 2,
  2 ** 31,
];

export const oddText = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 40 }),
);

/** Any JSON value, odd ones first. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.constantFrom(...ODD_NUMBERS, null, true, false),
  fc.constantFrom<unknown>([], {}, [[]], [null], { length: 1e9 }, { toString: 1 }, JSON.parse('{"then":1}')),
  fc.dictionary(fc.constantFrom(...POLLUTING, "text", "id"), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Bytes that are not JSON, or not UTF-8. */
export const noJson: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .constantFrom(
      "",
      " ",
      "{",
      "[",
      '{"text":',
      "undefined",
      "'text'",
      '{"text":"x"}}',
      '{"text":"x",}',
      "\u0000{}",
      "NaN",
      '"',
      "{text:1}",
      "a=b&c=d",
    )
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from([0xff, ...bytes])),
  fc.constant(Buffer.from('{"text":"x"}', "utf16le")),
  // A gzip body, for a server that does not check the content encoding.
  fc.constant(Buffer.from("1f8b0800000000000003ab562a49ad2851b252aa50aa0500", "hex")),
);

/** Nested so deeply that a recursive function overflows its stack. */
export const deep: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(["[", "]"], ['{"a":', "}"], ['[{"a":', "}]"]), fc.constantFrom(200, 5_000, 60_000))
  .map(([[open = "", close = ""], depth]) => `${open.repeat(depth)}1${close.repeat(depth)}`);

/** Text that is allowed in a header. */
export const headerText = fc
  .oneof(
    fc.constantFrom(...ODD_TEXTS),
    fc.string({ unit: fc.constantFrom(..."aZ09-._~+/=;,:@{}\"'\\ \t"), maxLength: 300 }),
  )
  .map((text) => text.replace(/[^\t\x20-\x7e\xa0-\xff]/g, "?"));

/** One part of a path, as it is written in the request line. */
export const pathPart: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "%",
    "%zz",
    "%00",
    "%2e%2e",
    "%2F",
    "%ff",
    "%c0%ae",
    "..",
    ".",
    "..;",
    "~",
    "*",
    "a".repeat(2_000),
    "%F0%9F%92%A5",
    "x%0d%0aset-cookie:a=b",
  ),
  oddText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.uuid(),
);

/** Makes a body from a valid object with one invalid field. @param wrong arbitraries of invalid values, by field */
export function broken(
  right: Record<string, unknown>,
  wrong: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<Buffer> {
  const fields = Object.entries(wrong).map(([field, value]) =>
    value.map((bad) => Buffer.from(JSON.stringify({ ...right, [field]: bad }))),
  );
  return fc.oneof(...fields);
}

/** Any value that has none of these types. */
export function not(
  ...types: Array<"string" | "number" | "boolean" | "object" | "array" | "null">
): fc.Arbitrary<unknown> {
  const typeOf = (value: unknown) =>
    value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return oddValue.filter((value) => !types.some((type) => type === typeOf(value)));
}
