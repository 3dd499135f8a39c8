import fc from "fast-check";
import { expect, test } from "vitest";
import { approvalHash, canonicalJson } from "./approval.ts";

/** Returns the same value with the keys of each object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, entry]) => [key, reversed(entry)])
      .reverse(),
  );
}

test("keys sorted, no white space, order of lists kept", () => {
  expect(canonicalJson({ b: [2, 1, { d: 1, c: null }], a: "x y", é: true })).toBe(
    '{"a":"x y","b":[2,1,{"c":null,"d":1}],"é":true}',
  );
});

test("undefined fields are left out; values that JSON lacks are null", () => {
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  expect(canonicalJson([undefined, Number.NaN])).toBe("[null,null]");
});

test("property: it is JSON of the same value, whatever the order of its keys", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      expect(JSON.stringify(sorted(JSON.parse(canonicalJson(value))))).toBe(
        JSON.stringify(sorted(JSON.parse(json))),
      );
      expect(canonicalJson(reversed(JSON.parse(json)))).toBe(canonicalJson(JSON.parse(json)));
    }),
  );
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted((value as Record<string, unknown>)[key])]),
  );
}

test("property: different values, different texts", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      // -0 is 0 in JSON.
      const same =
        JSON.stringify(sorted(JSON.parse(JSON.stringify(a)))) ===
        JSON.stringify(sorted(JSON.parse(JSON.stringify(b))));
      expect(canonicalJson(a) === canonicalJson(b)).toBe(same);
    }),
  );
});

// Gateway and device each compute it in their own version, so it may never change.
test("the hash of a known request", async () => {
  const hash = await approvalHash("pi-1", "bash", { command: "reboot", env: { B: "2", A: "1" } }, "/home/pi");
  expect(hash).toBe("5bb8024d34feec223d8958a87eaee9ba474adbbb78fd6984af2fb6c6428deb2f");
});

test("it is the same for the same request, and another for any other", async () => {
  const hash = (
    agent = "pi-1",
    tool = "bash",
    parameters: Record<string, unknown> = { a: 1, b: 2 },
    cwd = "/w",
  ) => approvalHash(agent, tool, parameters, cwd);
  expect(await hash()).toMatch(/^[0-9a-f]{64}$/);
  expect(await hash("pi-1", "bash", { b: 2, a: 1 })).toBe(await hash());
  expect(await approvalHash("pi-1", "bash", {})).toBe(await approvalHash("pi-1", "bash", {}, ""));
  const others = await Promise.all([
    hash(),
    hash("pi-2"),
    hash("pi-1", "sh"),
    hash("pi-1", "bash", { a: 1 }),
    hash("pi-1", "bash", { a: 1, b: "2" }),
    hash("pi-1", "bash", { a: 1, b: 2 }, "/"),
    // Moved across a border between two fields.
    hash("pi-1bash", ""),
  ]);
  expect(new Set(others).size).toBe(others.length);
});

test("property: hashes differ exactly when the canonical texts do", async () => {
  const request = fc.tuple(fc.string(), fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), fc.string());
  await fc.assert(
    fc.asyncProperty(request, request, async (a, b) => {
      expect((await approvalHash(...a)) === (await approvalHash(...b))).toBe(
        canonicalJson(a) === canonicalJson(b),
      );
    }),
    { numRuns: 50 },
  );
});
