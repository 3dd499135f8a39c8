import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { check } from "../protocol/parse.ts";
import { areWithin, type Bounds } from "./bounds.ts";
import { covers, type UnapprovedCall } from "./covers.ts";
import { LIFE_MAX_MS, overBy, SILENT_MAX_MS, StandingPermission, UNUSED_MAX_MS } from "./permission.ts";

const NOW = Date.parse("2026-11-26T14:00:00Z");
const DAY_MS = 86_400_000;

/** Ben may set the bedroom's radiator to 18 to 23 °C, from 6 to 22 h. */
const HEAT: StandingPermission = {
  id: "p-1",
  device: "radiator-bedroom",
  key: "77fbc35b",
  version: "v1",
  actions: {
    set: { temperature: { from: 18, to: 23 }, mode: { oneOf: ["heat", "auto"], optional: true } },
    off: {},
  },
  who: { person: "ben" },
  conversation: null,
  channels: null,
  tainted: false,
  chain: false,
  hours: { from: 360, to: 1_320 },
  until: NOW + 30 * DAY_MS,
  by: "ann",
  how: "verified",
  question: "q-19",
  at: NOW - DAY_MS,
};

const CALL: UnapprovedCall = {
  key: "77fbc35b",
  version: "v1",
  action: "set",
  parameters: { temperature: 21 },
  asker: { person: "ben" },
  conversation: "c-1",
  channel: "console",
  tainted: false,
  chain: false,
  effect: "device",
  dangerous: false,
  now: NOW,
  minute: 14 * 60,
};

const NOTES: StandingPermission = {
  ...HEAT,
  key: "garden-pi-key",
  actions: { write: { path: { under: "/home/pi/notes" }, content: { any: "text", max: 64 } } },
};

const WRITE: UnapprovedCall = { ...CALL, key: "garden-pi-key", action: "write" };
const write = (path: unknown, content: unknown = "milk"): UnapprovedCall => ({
  ...WRITE,
  parameters: { path, content },
});
const set = (parameters: unknown): UnapprovedCall => ({ ...CALL, parameters });

const COLOUR: StandingPermission = {
  ...HEAT,
  actions: { set: { rgb: { each: { from: 0, to: 255 }, length: 3 } } },
};
const colour = (rgb: unknown): UnapprovedCall => ({ ...CALL, parameters: { rgb } });

type Row = [name: string, covered: boolean, permission: StandingPermission, call: UnapprovedCall];

const CALLS: Row[] = [
  ["the value that was asked for", true, HEAT, CALL],
  ["the lowest value", true, HEAT, set({ temperature: 18 })],
  ["the highest value", true, HEAT, set({ temperature: 23 })],
  ["a broken number within", true, HEAT, set({ temperature: 22.5 })],
  ["with an optional parameter", true, HEAT, set({ temperature: 21, mode: "heat" })],
  ["with its other value", true, HEAT, set({ temperature: 21, mode: "auto" })],
  ["the other action, which takes nothing", true, HEAT, { ...CALL, action: "off", parameters: {} }],
  [
    "parameters without a prototype",
    true,
    HEAT,
    set(Object.assign(Object.create(null), { temperature: 20 })),
  ],
  ["the first minute of its hours", true, HEAT, { ...CALL, minute: 360 }],
  ["the last minute of its hours", true, HEAT, { ...CALL, minute: 1_319 }],
  ["a permission of all day", true, { ...HEAT, hours: null }, { ...CALL, minute: 0 }],
  [
    "hours over midnight, before it",
    true,
    { ...HEAT, hours: { from: 1_320, to: 360 } },
    { ...CALL, minute: 1_400 },
  ],
  [
    "hours over midnight, after it",
    true,
    { ...HEAT, hours: { from: 1_320, to: 360 } },
    { ...CALL, minute: 0 },
  ],
  [
    "everybody: any person",
    true,
    { ...HEAT, who: "everybody" },
    { ...CALL, asker: { person: "telegram:5" } },
  ],
  ["its conversation", true, { ...HEAT, conversation: "c-1" }, CALL],
  ["one of its front doors", true, { ...HEAT, channels: ["telegram", "console"] }, CALL],
  ["a tainted call that the card named", true, { ...HEAT, tainted: true }, { ...CALL, tainted: true }],
  ["another agent's call that the card named", true, { ...HEAT, chain: true }, { ...CALL, chain: true }],
  ["its program", true, { ...HEAT, who: { program: "g-1" } }, { ...CALL, asker: { program: "g-1" } }],
  [
    "its rule",
    true,
    { ...HEAT, who: { rule: "r-1", version: 2 } },
    { ...CALL, asker: { rule: "r-1", version: 2 } },
  ],
  ["the home that borrows", true, { ...HEAT, who: { home: "bergs" } }, { ...CALL, asker: { home: "bergs" } }],
  ["a file below the folder", true, NOTES, write("/home/pi/notes/shopping.txt")],
  ["a file deep below it", true, NOTES, write("/home/pi/notes/2026/11/list.txt")],
  ["as many bytes as may be", true, NOTES, write("/home/pi/notes/a", "ä".repeat(32))],

  ["a colour within", true, COLOUR, colour([255, 0, 12])],

  ["a colour out of its range", false, COLOUR, colour([256, 0, 0])],
  ["a colour of two numbers", false, COLOUR, colour([255, 0])],
  ["a colour of four numbers", false, COLOUR, colour([255, 0, 0, 0])],
  ["a colour with a gap", false, COLOUR, colour(Object.assign(new Array(3), { 0: 1, 1: 1 }))],
  ["a colour as an object", false, COLOUR, colour({ 0: 1, 1: 1, 2: 1, length: 3 })],
  ["a colour as texts", false, COLOUR, colour(["1", "1", "1"])],
  ["below the range", false, HEAT, set({ temperature: 17.999 })],
  ["above the range", false, HEAT, set({ temperature: 23.001 })],
  ["a number as a text", false, HEAT, set({ temperature: "21" })],
  ["a number in a list", false, HEAT, set({ temperature: [21] })],
  ["a number in an object", false, HEAT, set({ temperature: { value: 21 } })],
  ["a Number object", false, HEAT, set({ temperature: Object(21) })],
  ["an object that counts as a number", false, HEAT, set({ temperature: { valueOf: () => 21 } })],
  ["a big integer", false, HEAT, set({ temperature: 21n })],
  ["no number", false, HEAT, set({ temperature: Number.NaN })],
  ["an infinite number", false, HEAT, set({ temperature: Number.POSITIVE_INFINITY })],
  ["a negative infinite number", false, HEAT, set({ temperature: Number.NEGATIVE_INFINITY })],
  ["true", false, HEAT, set({ temperature: true })],
  ["null", false, HEAT, set({ temperature: null })],
  ["undefined", false, HEAT, set({ temperature: undefined })],
  ["a missing parameter", false, HEAT, set({})],
  ["the optional one alone", false, HEAT, set({ mode: "heat" })],
  ["an optional parameter out of its set", false, HEAT, set({ temperature: 21, mode: "cool" })],
  ["an optional parameter in other letters", false, HEAT, set({ temperature: 21, mode: "Heat" })],
  ["an optional parameter with a space", false, HEAT, set({ temperature: 21, mode: "heat " })],
  ["an optional parameter that is null", false, HEAT, set({ temperature: 21, mode: null })],
  ["an optional parameter that is undefined", false, HEAT, set({ temperature: 21, mode: undefined })],
  ["an optional parameter as a list", false, HEAT, set({ temperature: 21, mode: ["heat"] })],
  ["another parameter", false, HEAT, set({ temperature: 21, boost: true })],
  ["another parameter that is null", false, HEAT, set({ temperature: 21, boost: null })],
  ["another parameter that is undefined", false, HEAT, set({ temperature: 21, boost: undefined })],
  ["the parameter in other letters", false, HEAT, set({ Temperature: 21 })],
  ["both spellings", false, HEAT, set({ temperature: 21, Temperature: 30 })],
  ["the parameter with a space", false, HEAT, set({ "temperature ": 21 })],
  ["a parameter of empty name", false, HEAT, set({ temperature: 21, "": 1 })],
  ["a symbol beside it", false, HEAT, set({ temperature: 21, [Symbol("x")]: 1 })],
  ["an own __proto__", false, HEAT, set(JSON.parse('{"temperature": 21, "__proto__": {"boost": 1}}'))],
  ["a constructor", false, HEAT, set({ temperature: 21, constructor: 1 })],
  ["toString as a parameter", false, HEAT, set({ temperature: 21, toString: "x" })],
  ["an inherited value", false, HEAT, set(Object.create({ temperature: 21 }))],
  [
    "an inherited value beside an own one",
    false,
    HEAT,
    set(Object.assign(Object.create({ boost: 1 }), { temperature: 21 })),
  ],
  [
    "a hidden own parameter",
    false,
    HEAT,
    set(Object.defineProperty({ temperature: 21 }, "boost", { value: 1 })),
  ],
  ["a list of parameters", false, HEAT, set([21])],
  ["a text of parameters", false, HEAT, set('{"temperature":21}')],
  ["no parameters", false, HEAT, set(undefined)],
  ["null for parameters", false, HEAT, set(null)],
  ["a map of parameters", false, HEAT, set(new Map([["temperature", 21]]))],
  ["a function of parameters", false, HEAT, set(() => 21)],

  ["another action", false, HEAT, { ...CALL, action: "restart" }],
  ["an action in other letters", false, HEAT, { ...CALL, action: "Set" }],
  ["an inherited action", false, HEAT, { ...CALL, action: "toString", parameters: {} }],
  ["a constructor as action", false, HEAT, { ...CALL, action: "constructor", parameters: {} }],
  ["__proto__ as action", false, HEAT, { ...CALL, action: "__proto__", parameters: {} }],
  ["an empty action", false, HEAT, { ...CALL, action: "", parameters: {} }],
  ["the other action with the first one's parameters", false, HEAT, { ...CALL, action: "off" }],
  ["another device", false, HEAT, { ...CALL, key: "88fbc35b" }],
  ["a key in other letters", false, HEAT, { ...CALL, key: "77FBC35B" }],
  ["a device that was paired again", false, HEAT, { ...CALL, key: "" }],
  ["the device's name for its key", false, HEAT, { ...CALL, key: "radiator-bedroom" }],
  ["a device that changed", false, HEAT, { ...CALL, version: "v2" }],
  ["a version that begins so", false, HEAT, { ...CALL, version: "v1.1" }],
  ["a dangerous call", false, HEAT, { ...CALL, dangerous: true }],
  ["text for a shell", false, HEAT, { ...CALL, effect: "exec" }],
  ["what goes out of the home", false, HEAT, { ...CALL, effect: "network" }],
  ["an effect that is not told", false, HEAT, { ...CALL, effect: undefined }],
  [
    "a dangerous call in a permission for everything",
    false,
    { ...HEAT, who: "everybody", tainted: true, chain: true, hours: null },
    { ...CALL, dangerous: true },
  ],

  ["another person", false, HEAT, { ...CALL, asker: { person: "ann" } }],
  ["a person in other letters", false, HEAT, { ...CALL, asker: { person: "Ben" } }],
  ["a program of that name", false, HEAT, { ...CALL, asker: { program: "ben" } }],
  ["a home of that name", false, HEAT, { ...CALL, asker: { home: "ben" } }],
  ["a rule of that name", false, HEAT, { ...CALL, asker: { rule: "ben", version: 1 } }],
  ["everybody: a program", false, { ...HEAT, who: "everybody" }, { ...CALL, asker: { program: "g-1" } }],
  ["everybody: another home", false, { ...HEAT, who: "everybody" }, { ...CALL, asker: { home: "bergs" } }],
  [
    "everybody: a rule",
    false,
    { ...HEAT, who: "everybody" },
    { ...CALL, asker: { rule: "r-1", version: 1 } },
  ],
  ["another program", false, { ...HEAT, who: { program: "g-1" } }, { ...CALL, asker: { program: "g-2" } }],
  ["a person for a program", false, { ...HEAT, who: { program: "ben" } }, CALL],
  ["another home", false, { ...HEAT, who: { home: "bergs" } }, { ...CALL, asker: { home: "berg" } }],
  [
    "another rule",
    false,
    { ...HEAT, who: { rule: "r-1", version: 2 } },
    { ...CALL, asker: { rule: "r-2", version: 2 } },
  ],
  [
    "a newer version of the rule",
    false,
    { ...HEAT, who: { rule: "r-1", version: 2 } },
    { ...CALL, asker: { rule: "r-1", version: 3 } },
  ],
  ["a person for a rule", false, { ...HEAT, who: { rule: "ben", version: 1 } }, CALL],

  ["another conversation", false, { ...HEAT, conversation: "c-2" }, CALL],
  ["no conversation", false, { ...HEAT, conversation: "c-1" }, { ...CALL, conversation: null }],
  ["another front door", false, { ...HEAT, channels: ["telegram"] }, CALL],
  ["a front door that begins so", false, { ...HEAT, channels: ["cons"] }, CALL],
  ["a tainted call", false, HEAT, { ...CALL, tainted: true }],
  ["a tainted call for everybody", false, { ...HEAT, who: "everybody" }, { ...CALL, tainted: true }],
  ["another agent's call", false, HEAT, { ...CALL, chain: true }],
  [
    "a tainted call by another agent, with one of both named",
    false,
    { ...HEAT, tainted: true },
    { ...CALL, tainted: true, chain: true },
  ],
  ["before its hours", false, HEAT, { ...CALL, minute: 359 }],
  ["the minute at which its hours end", false, HEAT, { ...CALL, minute: 1_320 }],
  ["midnight", false, HEAT, { ...CALL, minute: 0 }],
  [
    "noon, with hours over midnight",
    false,
    { ...HEAT, hours: { from: 1_320, to: 360 } },
    { ...CALL, minute: 720 },
  ],
  [
    "the end of hours over midnight",
    false,
    { ...HEAT, hours: { from: 1_320, to: 360 } },
    { ...CALL, minute: 360 },
  ],
  ["the time at which it ends", false, HEAT, { ...CALL, now: HEAT.until }],
  ["long after its end", false, HEAT, { ...CALL, now: HEAT.until + 365 * DAY_MS }],
  ["before it was given", false, HEAT, { ...CALL, now: HEAT.at - 1 }],
  ["no time", false, HEAT, { ...CALL, now: Number.NaN }],
  ["no minute", false, HEAT, { ...CALL, minute: Number.NaN }],

  ["the folder itself", false, NOTES, write("/home/pi/notes")],
  ["the folder with a stroke", false, NOTES, write("/home/pi/notes/")],
  ["a folder beside it", false, NOTES, write("/home/pi/notes2/a")],
  ["a file beside it", false, NOTES, write("/home/pi/notes.txt")],
  ["the folder above", false, NOTES, write("/home/pi/a")],
  ["up and out", false, NOTES, write("/home/pi/notes/../.ssh/authorized_keys")],
  ["up and in again", false, NOTES, write("/home/pi/notes/../notes/a")],
  ["a point in the path", false, NOTES, write("/home/pi/notes/./a")],
  ["two strokes", false, NOTES, write("/home/pi/notes//a")],
  ["two strokes at the beginning", false, NOTES, write("//home/pi/notes/a")],
  ["a backslash", false, NOTES, write("/home/pi/notes/..\\a")],
  ["a hidden file", false, NOTES, write("/home/pi/notes/.bashrc")],
  ["a hidden folder", false, NOTES, write("/home/pi/notes/.git/hooks/post-commit")],
  ["a relative path", false, NOTES, write("home/pi/notes/a")],
  ["a relative path into it", false, NOTES, write("notes/a")],
  ["a home folder's sign", false, NOTES, write("~/notes/a")],
  ["a file address", false, NOTES, write("file:///home/pi/notes/a")],
  ["a NUL", false, NOTES, write("/home/pi/notes/a\u0000.txt")],
  ["a line's end", false, NOTES, write("/home/pi/notes/a\n")],
  ["a right-to-left mark", false, NOTES, write("/home/pi/notes/\u202etxt.a")],
  ["a zero-width space", false, NOTES, write("/home/pi/notes\u200b/a")],
  ["another form of Unicode", false, NOTES, write("/home/pi/notes/a\u0308")],
  ["half a character", false, NOTES, write("/home/pi/notes/\ud83d")],
  ["other letters", false, NOTES, write("/home/pi/Notes/a")],
  ["an empty path", false, NOTES, write("")],
  ["a path of another type", false, NOTES, write(["/home/pi/notes/a"])],
  ["one byte too many", false, NOTES, write("/home/pi/notes/a", "a".repeat(65))],
  ["characters of two bytes, one too many", false, NOTES, write("/home/pi/notes/a", "ä".repeat(33))],
  ["half a character as content", false, NOTES, write("/home/pi/notes/a", "\ud83d")],
  ["a number as content", false, NOTES, write("/home/pi/notes/a", 5)],
  [
    "a mode beside it",
    false,
    NOTES,
    { ...WRITE, parameters: { path: "/home/pi/notes/a", content: "", mode: 511 } },
  ],
];

describe("a standing permission covers", () => {
  test.each(CALLS.filter(([, covered]) => covered))("%s", (_, __, permission, call) => {
    expect(check(StandingPermission, permission)).toEqual({ ok: true, value: permission });
    expect(covers(permission, call)).toBe(true);
  });
});

describe("a standing permission does not cover", () => {
  test.each(CALLS.filter(([, covered]) => !covered))("%s", (_, __, permission, call) => {
    expect(check(StandingPermission, permission)).toEqual({ ok: true, value: permission });
    expect(covers(permission, call)).toBe(false);
  });
});

describe("no row is", () => {
  const withBound = (bound: unknown) => ({ ...HEAT, actions: { set: { temperature: bound } } });
  test.each<[string, unknown]>([
    ["a pattern", withBound({ matches: ".*" })],
    ["an unknown field in a bound", withBound({ is: 21, or: 22 })],
    ["two bounds of a parameter", withBound({ is: 21, from: 1, to: 2 })],
    ["an empty set", withBound({ oneOf: [] })],
    ["a set of objects", withBound({ oneOf: [{}] })],
    ["a range that is upside down", withBound({ from: 3, to: 2 })],
    ["a range without an end", withBound({ from: 3 })],
    ["an infinite range", withBound({ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY })],
    ["no number", withBound({ is: Number.NaN })],
    ["any text without a size", withBound({ any: "text" })],
    ["any value", withBound({ any: "value", max: 5 })],
    ["all files", withBound({ under: "/" })],
    ["a home folder's sign", withBound({ under: "~" })],
    ["a hidden folder", withBound({ under: "/home/pi/.ssh" })],
    ["a folder with a way up", withBound({ under: "/home/pi/notes/.." })],
    ["a folder with a stroke at its end", withBound({ under: "/home/pi/notes/" })],
    ["an unknown field", { ...HEAT, dangerous: true }],
    ["an unknown asker", { ...HEAT, who: { group: "all" } }],
    ["two askers", { ...HEAT, who: { person: "ben", program: "g-1" } }],
    ["hours without length", { ...HEAT, hours: { from: 360, to: 360 } }],
    ["no front doors", { ...HEAT, channels: [] }],
    ["a permission without an end", { ...HEAT, until: null }],
    [
      "33 actions",
      { ...HEAT, actions: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`a${at}`, {}])) },
    ],
  ])("%s", (_, row) => {
    expect(check(StandingPermission, row).ok).toBe(false);
  });
});

test("a name that no record can have is left out of a row", () => {
  const actions = JSON.parse('{"__proto__": {}, "set": {"__proto__": {"is": 1}, "temperature": {"is": 21}}}');
  expect(check(StandingPermission, { ...HEAT, actions })).toEqual({
    ok: true,
    value: { ...HEAT, actions: { set: { temperature: { is: 21 } } } },
  });
});

describe("a permission is over", () => {
  const given = { until: NOW + LIFE_MAX_MS, at: NOW, conversation: null, who: { person: "anna" } };
  const rules = { ...given, who: { rule: "a-0000", version: 1 } };
  test.each<[string, Parameters<typeof overBy>, ReturnType<typeof overBy>]>([
    ["not when it is new", [given, null, NOW + DAY_MS], undefined],
    ["at its date", [{ ...given, until: NOW + DAY_MS }, NOW, NOW + DAY_MS], "date"],
    [
      "after 90 days, also where it names a later date",
      [{ ...given, until: NOW + 900 * DAY_MS }, NOW + 89 * DAY_MS, NOW + LIFE_MAX_MS],
      "date",
    ],
    ["60 days after it was given, without a use", [given, null, NOW + UNUSED_MAX_MS], "unused"],
    ["60 days after its last use", [given, NOW + DAY_MS, NOW + DAY_MS + UNUSED_MAX_MS], "unused"],
    ["not 60 days after it was given, with a use", [given, NOW + DAY_MS, NOW + UNUSED_MAX_MS], undefined],
    ["not without a use, of a rule", [rules, null, NOW + LIFE_MAX_MS - 1], undefined],
    ["at its date, of a rule", [rules, null, NOW + LIFE_MAX_MS], "date"],
    [
      "after a silent day, of one conversation",
      [{ ...given, conversation: "c" }, null, NOW + SILENT_MAX_MS],
      "silent",
    ],
  ])("%s", (_, args, why) => {
    expect(overBy(...args)).toBe(why);
  });
});

describe("properties", () => {
  const value = fc.oneof(
    fc.string(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.integer({ min: -5, max: 5 }),
  );
  const bound = fc.oneof(
    fc.record({ is: value }),
    fc.record({ oneOf: fc.array(value, { minLength: 1, maxLength: 3 }) }),
    fc
      .tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: 0, max: 5 }))
      .map(([from, length]) => ({ from, to: from + length })),
  );
  const names = fc.constantFrom("a", "b", "c", "__proto__", "constructor");
  const parameters = fc.dictionary(names, fc.anything());

  test("a call that passes has each parameter of its bounds and no other, each of the value that its bound says", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("a", "b", "c"), bound), parameters, (bounds, given) => {
        if (!areWithin(given, bounds)) return;
        expect(Object.keys(given).toSorted()).toEqual(Object.keys(bounds).toSorted());
        for (const [name, one] of Object.entries(bounds)) {
          const got = given[name];
          if ("is" in one) expect(got).toBe(one.is);
          else if ("oneOf" in one) expect(one.oneOf).toContain(got);
          else expect((got as number) >= one.from && (got as number) <= one.to).toBe(true);
        }
      }),
      { numRuns: 5_000 },
    );
  });

  test("what the bounds name passes", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("a", "b", "c"), bound), (bounds) => {
        const given = Object.fromEntries(
          Object.entries(bounds).map(([name, one]) => [
            name,
            "is" in one ? one.is : "oneOf" in one ? one.oneOf[0] : one.to,
          ]),
        );
        const hasNaN = Object.values(given).some((one) => Number.isNaN(one));
        expect(areWithin(given, bounds as Bounds)).toBe(!hasNaN);
      }),
    );
  });

  test("a wider range lets nothing out that the narrower one lets in", () => {
    fc.assert(
      fc.property(
        fc.double(),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 0, max: 9 }),
        (asked, more, less) => {
          const narrow: Bounds = { a: { from: 0, to: 10 } };
          const wide: Bounds = { a: { from: -less, to: 10 + more } };
          if (areWithin({ a: asked }, narrow)) expect(areWithin({ a: asked }, wide)).toBe(true);
        },
      ),
    );
  });
});
