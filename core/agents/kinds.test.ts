import { expect, test } from "vitest";
import { areaOf, isAtWork, kindOf } from "./kinds.ts";

const described = (id: string, line: string, ...names: string[]) => ({
  id,
  line,
  actions: names.map((name) => ({ name })),
});

test.each([
  [described("x", "Water leak sensor under the kitchen sink"), "leak", "kitchen"],
  [described("x", "Roller shutter of the left living room window"), "blind", "living room"],
  [
    described("hq-2-oslo-co2", "CO2 sensor meeting room Oslo, office 2nd floor"),
    "air quality",
    "meeting room",
  ],
  [described("kueche-licht", "IKEA"), "light", "kitchen"],
  [described("press-01", "Hydraulic press 250 t no. 1, hall 2"), "machine", "hall 2"],
  [described("a1", "by the bed", "set_brightness"), "light", undefined],
  [described("a1", "sonoff basic"), "other", undefined],
])("%j", (agent, kind, area) => {
  expect([kindOf(agent), areaOf(agent)]).toEqual([kind, area]);
});

test.each([
  ["Fridge of the kitchenette, office 1st floor", true],
  ["Ceiling light in Jonas's home office", false],
  ["Camera in the hen house", false],
])("at work: %s %s", (line, expected) => {
  expect(isAtWork({ id: "x", line })).toBe(expected);
});
