import { expect, test } from "vitest";
import { madeFrom } from "./token-makers.ts";

const token = (name: string, made_by: string | null, source = "home") => ({ name, made_by, source });

test("G8 the tokens that a token made, directly and indirectly, are found by names", () => {
  const anna = token("anna", null, "secret");
  const boss = token("boss", "anna");
  const [phone, wall, clock] = [token("phone", "boss"), token("wall", "phone"), token("clock", "anna")];
  const all = [anna, boss, phone, wall, clock];
  expect(madeFrom(boss, all)).toEqual([phone, wall]);
  expect(madeFrom(wall, all)).toEqual([]);
  expect(madeFrom(anna, all)).toEqual([boss, clock, phone, wall]);
  // One that a token with its own name made, and two that made each other.
  const again = token("boss", "boss");
  expect(madeFrom(again, [...all, again])).toEqual([phone, wall]);
  const [a, b] = [token("a", "b"), token("b", "a")];
  expect(madeFrom(a, [a, b])).toEqual([b]);
});
