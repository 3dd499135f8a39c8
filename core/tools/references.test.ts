import { describe, expect, test } from "vitest";
import { RESOLVED_MAX_BYTES, referencesIn, resolveReferences, resultDocument } from "./references.ts";

const at = (pointer: string) => ({ $ref: pointer });

const DOCUMENT = {
  a: { result: "load 0.5", data: { hosts: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], empty: {}, none: null } },
  n: { result: "7", data: 7 },
  // JSON.parse makes an own property of this name; a literal would set the prototype.
  odd: JSON.parse('{"a/b": 1, "m~n": 2, "": 3, "~1": 4, "__proto__": {"x": 5}, "0": 6}'),
};

describe("what a reference points to (RFC 6901)", () => {
  test.each<[string, unknown]>([
    ["/a/result", "load 0.5"],
    ["/a/data", DOCUMENT.a.data],
    ["/a/data/hosts/1/ip", "10.0.0.2"],
    ["/a/data/none", null],
    ["/n/data", 7],
    ["/odd/a~1b", 1],
    ["/odd/m~0n", 2],
    ["/odd/", 3],
    ["/odd/~01", 4],
    ["/odd/__proto__/x", 5],
    ["/odd/0", 6],
  ])("%s", (pointer, value) => {
    expect(resolveReferences({ params: [at(pointer)] }, DOCUMENT)).toEqual({
      ok: true,
      value: { params: [value] },
    });
  });

  test.each<[string, RegExp]>([
    ["/b/result", /"\/b\/result".*no 'b'/],
    ["/a/data/hosts/2", /no '2'/],
    ["/a/data/hosts/-", /no '-'/],
    ["/a/data/hosts/01", /no '01'/],
    ["/a/data/hosts/length", /no 'length'/],
    ["/a/result/length", /below a text or number, so no 'length'/],
    ["/a/data/none/x", /so no 'x'/],
    ["/a/data/empty/toString", /no 'toString'/],
    ["/a/data/empty/__proto__", /no '__proto__'/],
    ["/a/constructor/name", /no 'constructor'/],
    ["/a/re~sult", /'~' is written '~0'/],
    ["/", /no ''/],
  ])("%s leads nowhere", (pointer, words) => {
    const resolved = resolveReferences({ params: { deep: [at(pointer)] } }, DOCUMENT);
    expect(resolved).toMatchObject({ ok: false, error: expect.stringMatching(words) });
  });
});

test.each<[string, unknown]>([
  ["JSON Schema's own", { $ref: "#/definitions/x" }],
  ["a text", '{"$ref": "/a/result"}'],
  ["another key beside it", { $ref: "/a/result", more: 1 }],
  ["a number", { $ref: 1 }],
  ["a relative one", { $ref: "a/result" }],
])("%s is no reference", (_, value) => {
  expect(referencesIn({ params: value })).toEqual([]);
  expect(resolveReferences({ params: value }, {})).toEqual({ ok: true, value: { params: value } });
});

test("arguments keep their keys, `__proto__` too", () => {
  const args = JSON.parse('{"__proto__": {"$ref": "/n/data"}, "b": [null, true, {"$ref": "/n/result"}]}');
  const resolved = resolveReferences(args, DOCUMENT);
  expect(JSON.stringify(resolved.ok && resolved.value)).toBe('{"__proto__":7,"b":[null,true,"7"]}');
  expect(({} as { x?: unknown }).x).toBeUndefined();
});

test("each pointer is named once", () => {
  expect(referencesIn({ a: at("/a/result"), b: [at("/a/result"), at("/n/data")] })).toEqual([
    "/a/result",
    "/n/data",
  ]);
});

describe("the size of resolved arguments", () => {
  const half = { a: { result: "x".repeat(RESOLVED_MAX_BYTES / 2) } };

  test("one result fits, two are too much", () => {
    expect(resolveReferences({ p: at("/a/result") }, half).ok).toBe(true);
    expect(resolveReferences({ p: at("/a/result"), q: at("/a/result") }, half)).toMatchObject({
      ok: false,
      error: expect.stringMatching(
        /^with the results that \/a\/result point to it has \d+ bytes \(at most 65536\)$/,
      ),
    });
  });

  test("it is counted in bytes", () => {
    const wide = { a: { result: "ä".repeat(RESOLVED_MAX_BYTES / 2) } };
    expect(resolveReferences({ p: at("/a/result") }, wide).ok).toBe(false);
  });

  test("many short references to a long result are never written out: no text could hold them", () => {
    const many = Array.from({ length: 100_000 }, () => at("/a/result"));
    expect(resolveReferences({ many }, half).ok).toBe(false);
  });

  test("without references nothing is counted", () => {
    const p = "x".repeat(RESOLVED_MAX_BYTES * 2);
    expect(resolveReferences({ p }, {})).toEqual({ ok: true, value: { p } });
  });
});

test.each<[string, ReturnType<typeof resultDocument>]>([
  ["load 0.5", { result: "load 0.5" }],
  ["7", { result: "7", data: 7 }],
  ["null", { result: "null", data: null }],
  ['{"a": [1]}\n', { result: '{"a": [1]}\n', data: { a: [1] } }],
  ["", { result: "" }],
  ["{", { result: "{" }],
])("the document of %j", (text, document) => {
  expect(resultDocument(text)).toEqual(document);
});

test("JSON that is too deep to be passed on is only a text", () => {
  expect(resultDocument("[".repeat(10_000) + "]".repeat(10_000))).not.toHaveProperty("data");
});
