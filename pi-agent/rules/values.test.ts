import { faultResult, textResult } from "@edgecall/core/tools/contract.ts";
import { expect, test } from "vitest";
import { valuesIn } from "./values.ts";

const named = (details: Record<string, unknown>) =>
  Object.fromEntries(
    valuesIn(textResult("", details), false).map(({ field = "", value, unit }) => [
      field,
      unit === undefined ? value : `${value} ${unit}`,
    ]),
  );

test("figures have their members' names, and the unit that the name says", () => {
  expect(named({ usage_percent: 12.5, cores: 4, mhz: 1_500, load: [1, 2, 3] })).toEqual({
    usage_percent: "12.5 %",
    cores: 4,
    mhz: "1500 MHz",
  });
});

test("items of a list are told by their names, not by their places", () => {
  const sensors = [
    { name: "cpu", celsius: 48.1 },
    { name: "nvme", celsius: 35 },
  ];
  const both = { "cpu.celsius": "48.1 °C", "nvme.celsius": "35 °C" };
  expect(named({ sensors })).toEqual(both);
  expect(named({ sensors: [...sensors].reverse() })).toEqual(both);
  expect(named({ disks: [{ path: "/", type: "ext4", used_percent: 61 }, { used_percent: 1 }] })).toEqual({
    "/.type": "ext4",
    "/.used_percent": "61 %",
  });
});

test("what is no value is left out: long texts, lists of figures, what is too deep", () => {
  const deep = { a: { b: { c: { d: { e: { f: 1 } } } } } };
  expect(
    named({ ...deep, long: "x".repeat(101), lines: "a\nb", none: null, nan: Number.NaN, ok: true }),
  ).toEqual({
    ok: true,
  });
  expect(
    valuesIn(textResult("", Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`v${n}`, n]))), false),
  ).toHaveLength(64);
});

test("V2: a text of digits that a skill's program prints stays that text", () => {
  const of = (text: string) => valuesIn(textResult(text, { exit_code: 0, stderr: "" }), true);
  for (const text of [
    "007",
    "0012345678",
    "2.10",
    "12345678901234567890",
    "0x1F",
    "+49",
    "07:30",
    "1.2.3",
    "2026-11-26",
  ])
    expect(of(text)).toEqual([{ value: text }]);
  expect(of("4915112345678")).toEqual([{ value: 4_915_112_345_678 }]);
  expect(of("5 m3")).toEqual([{ value: 5, unit: "m3" }]);
  expect(of("80%")).toEqual([{ value: 80, unit: "%" }]);
  expect(of("2.10 m")).toEqual([{ value: 2.1, unit: "m" }]);
});

test("a skill's program gives its JSON, or else its only line", () => {
  const of = (text: string, data?: Record<string, unknown>) =>
    valuesIn(textResult(text, { exit_code: 0, stderr: "", ...(data && { data }) }), true);
  expect(of("21.4\n")).toEqual([{ value: 21.4 }]);
  expect(of("-3 °C")).toEqual([{ value: -3, unit: "°C" }]);
  expect(of("open")).toEqual([{ value: "open" }]);
  expect(of("two\nlines")).toEqual([]);
  // The words in place of an output are no value.
  expect(of("(no output)")).toEqual([]);
  expect(of("", { value: 21.4, unit: "°C" })).toEqual([{ value: 21.4, unit: "°C" }]);
  expect(of("", { status: "success", water: { value: 3, unit: "cm" }, lid: { open: false } })).toEqual([
    { field: "water", value: 3, unit: "cm" },
    { field: "lid.open", value: false },
  ]);
});

test("a failure has no values", () => {
  expect(valuesIn(faultResult("io", "no", { details: { celsius: 1 } }), false)).toEqual([]);
});
