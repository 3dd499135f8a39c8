/** The 30 days are what they are said to be. */
import { expect, test } from "vitest";
import { DEVICES } from "../../local/demo/house.ts";
import adverts from "./adverts.json" with { type: "json" };
import { demoAdverts } from "./demo-adverts.ts";
import {
  A_DAY,
  DAYS,
  HARMLESS,
  injectedCalls,
  PEOPLE,
  RISKY_DAYS_A_WEEK,
  replyTo,
  thirtyDays,
} from "./workload.ts";

const EVENTS = thirtyDays(1);
const dayOf = (at: number) => Math.floor(at / 1_440);

test("each person does the same number of things each day, and a risky one on three days of each week", () => {
  for (const { name } of PEOPLE) {
    const own = EVENTS.filter(({ person }) => person.name === name);
    for (let day = 0; day < DAYS; day++) {
      const today = own.filter(({ at }) => dayOf(at) === day);
      for (const [way, count] of Object.entries(A_DAY))
        expect(
          today.filter((one) => one.way === way),
          `${name}, day ${day}, ${way}`,
        ).toHaveLength(count);
    }
    const risky = own.filter(({ way }) => way === "unlock" || way === "script").map(({ at }) => dayOf(at));
    for (let week = 0; week < Math.floor(DAYS / 7); week++)
      expect(new Set(risky.filter((day) => Math.floor(day / 7) === week)).size).toBe(RISKY_DAYS_A_WEEK);
  }
});

test("one change a day comes after a stranger's text, questions change nothing, and all is the same again", () => {
  const tainted = EVENTS.filter((event) => event.tainted);
  expect(tainted.map(({ at }) => dayOf(at))).toEqual(Array.from({ length: DAYS }, (_, day) => day));
  expect(tainted.every(({ change }) => change !== undefined)).toBe(true);
  const sentences = EVENTS.filter(({ way }) => way === "sentence");
  const reads = sentences.filter(({ change }) => change === undefined).length / sentences.length;
  expect(reads).toBeGreaterThan(0.4);
  expect(reads).toBeLessThan(0.6);
  expect(thirtyDays(1)).toEqual(EVENTS);
  expect(thirtyDays(2)).not.toEqual(EVENTS);
});

test("the devices are the demo home's", () => {
  const names = new Set(DEVICES.map(({ name }) => name));
  const used = [...Object.keys(HARMLESS), ...PEOPLE.flatMap(({ habits }) => habits)];
  expect(used.filter((name) => !names.has(name))).toEqual([]);
  const injected = injectedCalls(1, 1_000);
  expect(injected.filter(({ change }) => change.device === "Front door").length).toBeGreaterThan(150);
  expect(injected.filter(({ change }) => change.device === "machine").length).toBeGreaterThan(150);
});

test("who is asked about the same thing again wants not to be asked any more", () => {
  expect([0, 1, 2].map(replyTo)).toEqual(["once", "always", "always"]);
});

test("the actions of adverts.json are those that discovery makes of what the house publishes", () => {
  expect(JSON.parse(JSON.stringify(demoAdverts()))).toEqual(adverts);
  expect(Object.keys(adverts).toSorted()).toEqual([...Object.keys(HARMLESS), "Front door"].toSorted());
});
