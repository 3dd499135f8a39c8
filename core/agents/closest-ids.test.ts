import fc from "fast-check";
import { expect, test } from "vitest";
import { closestIds } from "./closest-ids.ts";

const IDS = [
  "wz-lampe-1",
  "wz-lampe-2",
  "wz-lampe-3",
  "pi4-garage",
  "shelly_plug_03",
  "shelly_plug_13",
  "haas-03",
  "babycam",
];

test.each<[string, string | undefined]>([
  ["wz_lampe_2", "wz-lampe-2"],
  ["WZ-Lampe-2", "wz-lampe-2"],
  ["wz-lamp-2", "wz-lampe-2"],
  ["garage-pi4", "pi4-garage"],
  ["pi-garage", "pi4-garage"],
  ["shelly-plug-3", "shelly_plug_03"],
  ["haas-3", "haas-03"],
  ["babycamm", "babycam"],
  ["fridge", undefined],
  ["", undefined],
])("nearest to %s", (id, nearest) => {
  expect(closestIds(id, IDS)[0]).toBe(nearest);
});

test("at most as many as asked for, the nearest first", () => {
  expect(closestIds("wz-lampe-4", IDS, 2)).toEqual(["wz-lampe-1", "wz-lampe-2"]);
});

test("property: a known id is its own nearest", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/), { minLength: 1 }),
      (ids) => {
        for (const id of ids) expect(closestIds(id, ids, ids.length)).toContain(id);
      },
    ),
  );
});

test("property: any text as an id is answered", () => {
  fc.assert(fc.property(fc.string({ maxLength: 5_000 }), (id) => void closestIds(id, IDS)));
});
