import fc from "fast-check";
import { expect, test } from "vitest";
import { maskDeep, maskSecrets, SecretStream } from "./secrets.ts";

const KEY = "sk-0123456789";

test("each occurrence is removed, and nothing else", () => {
  expect(maskSecrets(`a ${KEY} b ${KEY}${KEY}`, [KEY])).toBe("a [secret] b [secret][secret]");
  expect(maskSecrets("nothing here", [KEY])).toBe("nothing here");
  expect(maskSecrets(KEY, [])).toBe(KEY);
});

test("overlapping or nested secrets leave no rest", () => {
  expect(maskSecrets("xabcdefghijkly", ["abcdefgh", "efghijkl"])).toBe("x[secret]y");
  expect(maskSecrets("password-123", ["password", "password-123"])).toBe("[secret]");
  expect(maskSecrets("my-password-here", ["my-password-here", "password"])).toBe("[secret]");
});

test("a short value is a word, not a secret; regular expression characters are literal", () => {
  expect(maskSecrets("the end", ["the", ""])).toBe("the end");
  expect(maskSecrets("aaaaaaaaaa", [".{4,20}.", "(a+)+$(a+)+"])).toBe("aaaaaaaaaa");
});

test("in nested values, and only in JSON", () => {
  const date = new Date(0);
  const given = { stderr: `x${KEY}`, list: [KEY, 1, null, { a: KEY }], date, [KEY]: true };
  expect(maskDeep(given, [KEY])).toEqual({
    stderr: "x[secret]",
    list: ["[secret]", 1, null, { a: "[secret]" }],
    date,
    [KEY]: true,
  });
});

const secrets = fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 12 }), {
  minLength: 1,
  maxLength: 3,
});
const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 }), {
  maxLength: 10,
});

test("property: no secret remains in any text", () => {
  fc.assert(
    fc.property(secrets, pieces, (known, parts) => {
      const text = parts.join(known[0]);
      const masked = maskSecrets(text, known);
      for (const secret of known) expect(masked).not.toContain(secret);
    }),
  );
});

test("property: however the stream is split, no secret passes", () => {
  fc.assert(
    fc.property(secrets, pieces, fc.nat(7), (known, parts, size) => {
      const text = parts.join(known[0]);
      const stream = new SecretStream(known);
      let shown = "";
      for (let at = 0; at < text.length; at += size + 1) shown += stream.push(text.slice(at, at + size + 1));
      shown += stream.end();
      for (const secret of known) expect(shown).not.toContain(secret);
      const plain = (masked: string) => masked.replaceAll("[secret]", "").length;
      expect(plain(shown)).toBeLessThanOrEqual(text.length);
    }),
  );
});

test("a stream without secrets passes unchanged, and is delayed only where a secret may begin", () => {
  const stream = new SecretStream([KEY]);
  expect(stream.push("ask")).toBe("a");
  expect(stream.push("-01")).toBe("");
  expect(stream.push("x")).toBe("sk-01x");
  expect(stream.push("sk-0123456789")).toBe("[secret]");
  expect(stream.push("is s")).toBe("is ");
  expect(stream.end()).toBe("s");
  expect(stream.end()).toBe("");
});

test("a stream that ends within a secret does not show its beginning", () => {
  const stream = new SecretStream([KEY]);
  expect(stream.push(`key: ${KEY.slice(0, -1)}`) + stream.end()).toBe("key: [secret]");
});
