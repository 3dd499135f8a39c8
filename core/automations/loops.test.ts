import { describe, expect, test } from "vitest";
import { MINUTE_MS } from "../time/zone.ts";
import { loopsOf, type RuleNode } from "./loops.ts";
import { conditionOf } from "./testkit/rules.ts";

type Read = [key: string, value: boolean, hold?: number];
const node = (id: string, reads: Read[], changes: RuleNode["changes"]): RuleNode => ({
  id,
  reads: reads.map(([key, value, hold_ms = 0]) => ({
    key,
    condition: { ...conditionOf({ value, hold_ms }).condition, reading: "state" },
  })),
  changes,
});
const to = (key: string, value?: boolean) => ({ key, reading: "state", to: value });

describe("rules that act on each other", () => {
  test("one that makes its own condition true is refused, unless that has to last", () => {
    expect(loopsOf(node("a", [["lamp", true]], [to("lamp", true)]), []).own).toEqual({
      key: "lamp",
      reading: "state",
    });
    // "Is it open, close it" is no loop: nobody knows here which value that brings.
    expect(loopsOf(node("a", [["lamp", true]], [to("lamp")]), [])).toEqual({ circles: [], against: [] });
    const held = node("a", [["lamp", true, MINUTE_MS]], [to("lamp", true)]);
    expect(loopsOf(held, [])).toEqual({ circles: [["a"]], against: [] });
    expect(loopsOf(node("a", [["lamp", true]], [to("lamp", false)]), []).own).toBeUndefined();
    expect(loopsOf(node("a", [["door", true]], [to("lamp", true)]), []).own).toBeUndefined();
  });

  test("circles are named, the shortest first", () => {
    const a = node("a", [["x", true]], [to("y", true)]);
    const b = node("b", [["y", true]], [to("x", true), to("z", true)]);
    const c = node("c", [["z", true]], [to("x", true)]);
    expect(loopsOf(a, [b, c]).circles).toEqual([
      ["a", "b"],
      ["a", "b", "c"],
    ]);
    expect(loopsOf(a, [c]).circles).toEqual([]);
  });

  test("two against each other are named; two that want the same are not", () => {
    const on = node("on", [["cold", true]], [to("heater", true)]);
    const off = node("off", [["warm", true]], [to("heater", false)]);
    expect(loopsOf(off, [on]).against).toEqual([{ id: "on", key: "heater", reading: "state" }]);
    expect(loopsOf(on, [{ ...on, id: "on2" }]).against).toEqual([]);
    expect(loopsOf(node("dim", [["dark", true]], [to("heater")]), [on]).against).toEqual([]);
  });
});
