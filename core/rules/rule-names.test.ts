import { expect, test } from "vitest";
import { RULE_ID } from "../protocol/rules.ts";
import { findRule, newRuleId } from "./rule-names.ts";

const RULES = [
  { id: "w-0001", name: "Freezer too warm" },
  { id: "w-0002", name: "Gate" },
  { id: "w-0003", name: "gate " },
];

test("an id is short, and longer where that is taken", () => {
  const seen = new Set<string>();
  for (let n = 0; n < 500; n += 1) seen.add(newRuleId("w", (id) => seen.has(id)));
  expect(seen.size).toBe(500);
  for (const id of seen) expect(id).toMatch(RULE_ID);
  expect(newRuleId("r", (id) => id.length <= 6)).toMatch(/^r-[0-9a-f]{6}$/);
});

test("a rule is found by its id or its whole name", () => {
  expect(findRule(RULES, { id: "w-0002" })).toEqual({ ok: true, value: RULES[1] });
  expect(findRule(RULES, { name: "freezer TOO warm" })).toEqual({ ok: true, value: RULES[0] });
  // The id decides.
  expect(findRule(RULES, { id: "w-0001", name: "Gate" })).toEqual({ ok: true, value: RULES[0] });
});

test.each([
  [
    { name: "gate" },
    "name: 'gate' is the name of several rules; give the id of one: w-0002 (Gate), w-0003 (gate )",
  ],
  [
    { name: "gat" },
    /^name: 'gat' is no rule\. Did you mean 'Gate'\? There are: w-0001 \(Freezer too warm\), /,
  ],
  [{ id: "w-9999" }, /^id: 'w-9999' is no rule\. There are: /],
])("%j is refused with what there is", (asked, error) => {
  const found = findRule(RULES, asked);
  expect(found).toEqual({
    ok: false,
    error: typeof error === "string" ? error : expect.stringMatching(error),
  });
});

test("a long list is cut, and an empty one is said", () => {
  const many = Array.from({ length: 12 }, (_, n) => ({ id: `w-00${10 + n}`, name: "Door" }));
  expect(findRule(many, { name: "door" })).toMatchObject({ error: expect.stringMatching(/, and 2 more$/) });
  expect(findRule([], { name: "door" })).toEqual({
    ok: false,
    error: "name: 'door' is no rule. There are none.",
  });
});
