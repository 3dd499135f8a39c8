import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areWithin, type Bounds } from "./bounds.ts";
import { exactBounds, folderBounds, offeredBounds, wholeBounds, widerThan } from "./offered-bounds.ts";

const SCHEMA = {
  type: "object",
  properties: {
    on: { type: "boolean" },
    temperature: { type: "number", minimum: 5, maximum: 30 },
    brightness_pct: { type: "integer", minimum: 1, maximum: 100 },
    effect: { type: "string", enum: ["rainbow", "candle"] },
    rgb: { type: "array", items: { type: "integer", minimum: 0, maximum: 255 }, minItems: 3, maxItems: 3 },
    text: { type: "string", maxLength: 20 },
    code: { type: "string", maxLength: 8, writeOnly: true },
    kelvin: { type: "integer", minimum: 2_000, maximum: 6_500 },
    seconds: { type: "number", minimum: 0, maximum: 60 },
    volume: { type: "integer", minimum: 0, maximum: 100 },
    free: { type: "number" },
    ["__proto__"]: { type: "boolean" },
  },
  required: ["on"],
};

test("the whole range of an action has each parameter that bounds can say", () => {
  expect(wholeBounds(SCHEMA)).toEqual({
    on: { oneOf: [true, false] },
    temperature: { from: 5, to: 30, optional: true },
    brightness_pct: { from: 1, to: 100, optional: true },
    effect: { oneOf: ["rainbow", "candle"], optional: true },
    rgb: { each: { from: 0, to: 255 }, length: 3, optional: true },
    text: { any: "text", max: 80, optional: true },
    code: { any: "text", max: 32, optional: true },
    kelvin: { from: 2_000, to: 6_500, optional: true },
    seconds: { from: 0, to: 60, optional: true },
    volume: { from: 0, to: 100, optional: true },
  });
  expect(wholeBounds({ type: "object", properties: {} })).toEqual({});
  expect(wholeBounds({ properties: { level: { type: "number" } }, required: ["level"] })).toBeUndefined();
});

const LIGHT: Bounds = {
  on: { oneOf: [true, false], optional: true },
  brightness_pct: { from: 1, to: 100, optional: true },
  kelvin: { from: 2_000, to: 6_500, optional: true },
  rgb: { each: { from: 0, to: 255 }, length: 3, optional: true },
};

describe("a card offers", () => {
  test("on and off alone for a switch", () => {
    const plug = { properties: { on: { type: "boolean" } }, required: ["on"] };
    expect(offeredBounds(plug, { on: true })).toEqual({ on: { oneOf: [true, false] } });
  });

  test.each<[string, Record<string, unknown>, Bounds | undefined]>([
    ["all of a light for one value of it", { on: true }, LIGHT],
    ["the same for several", { brightness_pct: 40, kelvin: 2_700 }, LIGHT],
    ["the same for a colour", { rgb: [1, 2, 3] }, LIGHT],
    [
      "what is asked alone beside anything else",
      { on: true, text: "a" },
      { on: { oneOf: [true, false] }, text: { is: "a" } },
    ],
    ["two degrees around a temperature", { temperature: 21 }, { temperature: { from: 19, to: 23 } }],
    ["no degree beyond the device's own", { temperature: 29.5 }, { temperature: { from: 27.5, to: 30 } }],
    ["each level", { volume: 40 }, { volume: { from: 0, to: 100 } }],
    ["another number as it is", { seconds: 20 }, { seconds: { is: 20 } }],
    ["a choice as it is", { effect: "candle" }, { effect: { is: "candle" } }],
    ["a text as it is", { text: "milk" }, { text: { is: "milk" } }],
    ["no secret", { code: "4712" }, undefined],
    ["nothing with a secret beside it", { on: true, code: "4712" }, undefined],
    ["no parameter that the device does not name", { loudness: 1 }, undefined],
    ["no number as text", { temperature: "21" }, undefined],
    ["no temperature beyond the device's range", { temperature: 90 }, undefined],
    ["no text as a switch", { on: "true" }, undefined],
    ["no list of another length", { rgb: [1, 2] }, undefined],
    ["no object", { text: { a: 1 } }, undefined],
    ["no NaN", { free: Number.NaN }, undefined],
    ["nothing for `__proto__`", JSON.parse('{"__proto__": true}'), undefined],
    ["no text of 1,001 characters", { text: "a".repeat(1_001) }, undefined],
  ])("%s", (_, asked, bounds) => {
    const offered = offeredBounds(SCHEMA, asked);
    expect(offered).toEqual(bounds);
    if (offered) expect(areWithin(asked, offered)).toBe(true);
  });

  test("exactly the values for a conversation, and both ways of a switch", () => {
    expect(exactBounds(SCHEMA, { on: true, temperature: 21, brightness_pct: 3 })).toEqual({
      on: { oneOf: [true, false] },
      temperature: { is: 21 },
      brightness_pct: { is: 3 },
    });
    expect(exactBounds(SCHEMA, { code: "1" })).toBeUndefined();
  });
});

describe("a folder is offered", () => {
  const text = { any: "text", max: 65_536 };
  test.each<[string, string | undefined]>([
    ["/home/pi/notes/shopping.txt", "/home/pi/notes"],
    ["/home/pi/notes/2026/a.md", "/home/pi/notes/2026"],
    ["/srv/share/a", "/srv/share"],
    ["/media/pi/disk/photos/a.txt", "/media/pi/disk/photos"],
    ["/mnt/disk/a/b", "/mnt/disk/a"],
    ["/home/pi/a.txt", undefined],
    ["/root/notes/a", undefined],
    ["/a", undefined],
    ["a", undefined],
    ["~/notes/a", undefined],
    ["/etc/cron.d/a", undefined],
    ["/usr/local/bin/a", undefined],
    ["/opt/app/a", undefined],
    ["/tmp/a/b", undefined],
    ["/var/www/a", undefined],
    ["/home/pi/bin/a", undefined],
    ["/home/pi/my/Scripts/a", undefined],
    ["/home/pi/site/node_modules/a", undefined],
    ["/home/pi/.config/a/b", undefined],
    ["/home/pi/notes/.hidden", undefined],
    ["/home/pi/notes/../.ssh/x", undefined],
    ["/home/pi/notes//a", undefined],
    ["/home/pi/skills/a.md", undefined],
    ["/home/pi/autostart/a.desktop", undefined],
    ["/mnt/disk/a", undefined],
    ["/media/pi/a", undefined],
    ["/srv/a", undefined],
  ])("for %s: %s", (path, under) => {
    const bounds = under === undefined ? undefined : { path: { under }, content: text };
    expect(folderBounds({ path, content: "milk" })).toEqual(bounds);
  });

  test("for a text of at most 64 KB, and for nothing else beside it", () => {
    const path = "/home/pi/notes/a";
    expect(folderBounds({ path, content: "ä".repeat(32_769) })).toBeUndefined();
    expect(folderBounds({ path, content: "a", mode: 0o777 })).toBeUndefined();
    expect(folderBounds({ path, content: 1 })).toBeUndefined();
    expect(folderBounds({ path })).toBeUndefined();
  });
});

describe("narrower bounds", () => {
  const OFFERED: Bounds = {
    temperature: { from: 18, to: 23 },
    on: { oneOf: [true, false] },
    mode: { is: "heat", optional: true },
  };
  const ON = { oneOf: [true, false] };
  test.each<[string, Bounds, string | undefined]>([
    ["the same", OFFERED, undefined],
    ["a smaller range", { ...OFFERED, temperature: { from: 19, to: 20 } }, undefined],
    ["one value of a range", { ...OFFERED, temperature: { is: 20 } }, undefined],
    ["one value of a set", { ...OFFERED, on: { is: false } }, undefined],
    ["without an optional one", { temperature: { from: 18, to: 23 }, on: { is: true } }, undefined],
    ["an optional one that has to be there", { ...OFFERED, mode: { is: "heat" } }, undefined],
    ["a higher end", { ...OFFERED, temperature: { from: 18, to: 23.1 } }, "temperature"],
    ["a lower beginning", { ...OFFERED, temperature: { from: 17, to: 23 } }, "temperature"],
    ["one value beyond", { ...OFFERED, temperature: { is: 24 } }, "temperature"],
    ["a value of another type", { ...OFFERED, temperature: { is: "20" } }, "temperature"],
    ["a set with a value beyond", { ...OFFERED, temperature: { oneOf: [20, 24] } }, "temperature"],
    ["a text in place of a number", { ...OFFERED, temperature: { any: "text", max: 5 } }, "temperature"],
    ["a folder in place of it", { ...OFFERED, temperature: { under: "/home/pi/a" } }, "temperature"],
    [
      "a list in place of it",
      { ...OFFERED, temperature: { each: { from: 18, to: 19 }, length: 1 } },
      "temperature",
    ],
    ["another parameter", { ...OFFERED, boost: { is: true } }, "boost"],
    ["without one that has to be there", { on: ON } as Bounds, "temperature"],
    ["optional where it has to be there", { ...OFFERED, on: { oneOf: [true], optional: true } }, "on"],
    ["a switch with null", { ...OFFERED, on: { oneOf: [true, null] } }, "on"],
    ["`__proto__`", { ...OFFERED, ...JSON.parse('{"__proto__": {"is": 1}}') }, "__proto__"],
    ["`constructor`", { ...OFFERED, constructor: { is: 1 } } as unknown as Bounds, "constructor"],
  ])("%s", (_, wanted, wider) => {
    expect(widerThan(OFFERED, wanted)).toBe(wider);
  });

  test.each<[string, Bounds, boolean]>([
    ["a folder below", { path: { under: "/home/pi/notes/2026" }, content: { any: "text", max: 9 } }, true],
    ["the folder above", { path: { under: "/home/pi" }, content: { any: "text", max: 9 } }, false],
    [
      "a folder of a longer name",
      { path: { under: "/home/pi/notes2" }, content: { any: "text", max: 9 } },
      false,
    ],
    ["one file of it", { path: { is: "/home/pi/notes/a" }, content: { any: "text", max: 9 } }, true],
    ["one file up and out", { path: { is: "/home/pi/notes/../a" }, content: { any: "text", max: 9 } }, false],
    ["more bytes", { path: { under: "/home/pi/notes" }, content: { any: "text", max: 11 } }, false],
  ])("%s", (_, wanted, isNarrower) => {
    const offered: Bounds = { path: { under: "/home/pi/notes" }, content: { any: "text", max: 10 } };
    expect(widerThan(offered, wanted) === undefined).toBe(isNarrower);
  });

  test("what passes them passes the offered ones", () => {
    const bound = fc.oneof(
      fc.record({ is: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.boolean(), fc.constantFrom("1", null)) }),
      fc.record({ oneOf: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 3 }) }),
      fc
        .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 5 }))
        .map(([from, more]) => ({ from, to: from + more })),
    );
    const bounds = fc.dictionary(fc.constantFrom("a", "b", "__proto__", "toString"), bound);
    const call = fc.dictionary(
      fc.constantFrom("a", "b", "__proto__", "toString"),
      fc.integer({ min: 0, max: 14 }),
    );
    fc.assert(
      fc.property(bounds, bounds, call, (offered, wanted, parameters) => {
        if (widerThan(offered as Bounds, wanted as Bounds) !== undefined) return;
        if (areWithin(parameters, wanted as Bounds))
          expect(areWithin(parameters, offered as Bounds)).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });
});
