/** find_agents in a home of 1,700 entities: 30 questions in each of five languages, test/cases/device_questions.json. */
import { readFileSync } from "node:fs";
import { AgentIndex } from "@edgecall/core/agents/agent-index.ts";
import { NOW } from "@edgecall/discovery/testkit/device-cases.ts";
import { largeHome } from "@edgecall/discovery/testkit/large-home.ts";
import { describe, expect, test } from "vitest";
import { devicesByReading } from "./by-reading.ts";
import { areaOf, lineOf } from "./device-line.ts";
import { readCondition } from "./reading-condition.ts";

type Ask = { text: string; area?: string; kind?: string; reading?: string };
type Question = { ask: Ask; right?: string; all_in?: string; all_of?: string };
type Table = { lists: Record<string, string[]>; questions: Questions; later: Questions };
type Questions = Record<string, Question[]>;
const { lists, questions, later }: Table = JSON.parse(
  readFileSync(new URL("../../../../test/cases/device_questions.json", import.meta.url), "utf8"),
);

/** Right answers of 30 in each language. When the questions were written they were 29, 15, 15, 12 and 2; all 30 are right since. */
const RIGHT_MIN = 27;

const { catalog, entities } = largeHome();
const index = new AgentIndex();
const home = new Map(
  catalog.devices(NOW).map((device) => {
    const hosted = { ...device, key: "", allow: "", mode: "allow" as const };
    const line = lineOf(device, hosted, undefined, false);
    const area = areaOf(hosted, undefined, false);
    index.set({ id: device.id, line, area: area?.toLowerCase(), actions: device.actions });
    return [device.id, { id: device.id, name: device.name, area, line }];
  }),
);

function find(ask: Ask) {
  if (ask.reading === undefined) return named(index.search({ ...ask, limit: 5 }).map(({ id }) => id));
  const found = devicesByReading(
    readCondition(ask.reading),
    index.within(ask).flatMap((id) => {
      const device = home.get(id);
      return device ? [{ ...device, readings: catalog.readings(id, NOW, true) }] : [];
    }),
    index.isThere(ask.text),
  );
  return named(found.map(({ id }) => id));
}

function named(ids: readonly string[]) {
  return ids.flatMap((id) => home.get(id) ?? []);
}

function isRight({ ask, right, all_in, all_of = "" }: Question): boolean {
  const first = find(ask).slice(0, 3);
  if (right !== undefined) return first.some(({ name }) => name === right);
  if (all_in !== undefined) return first.length === 3 && first.every(({ area }) => area === all_in);
  return first.length > 0 && first.every(({ name }) => lists[all_of]?.includes(name));
}

test("the home is large, and the questions name devices of it", () => {
  expect({ entities, devices: home.size }).toEqual({ entities: 1_700, devices: 300 });
  const all = [...Object.values(questions), ...Object.values(later)].flat();
  const names = new Set([...home.values()].map(({ name }) => name));
  const areas = new Set([...home.values()].map(({ area }) => area));
  const wanted = [...Object.values(lists).flat(), ...all.flatMap(({ right }) => right ?? [])];
  expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  expect(all.filter(({ all_in }) => all_in !== undefined && !areas.has(all_in))).toEqual([]);
});

describe.each(Object.entries(questions))("V11 V12 V13: in %s", (_, asked) => {
  test("the right device is among the first three", () => {
    const wrong = asked.filter((one) => !isRight(one)).map(({ ask }) => ask);
    expect(asked.length - wrong.length, JSON.stringify(wrong)).toBeGreaterThanOrEqual(RIGHT_MIN);
  });

  test("no reading is answered with nothing", () => {
    const byReading = asked.flatMap(({ ask }) => (ask.reading === undefined ? [] : [ask]));
    expect(byReading.length).toBeGreaterThanOrEqual(15);
    expect(byReading.filter((ask) => find(ask).length === 0)).toEqual([]);
  });
});

test.each(Object.entries(later))("V11 V13: in %s 11 of 12 later questions", (_, asked) => {
  const wrong = asked.filter((one) => !isRight(one)).map(({ ask }) => ask);
  expect(wrong.length, JSON.stringify(wrong)).toBeLessThanOrEqual(1);
});

test("V12: temperature > 25 has rooms first, and no lamp", () => {
  const found = find({ text: "x", reading: "temperature > 25" });
  const rooms = lists.warm ?? [];
  expect(
    found
      .slice(0, rooms.length)
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...rooms].sort());
  expect(found.filter(({ line }) => line.includes("light ("))).toEqual([]);
  for (const text of ["temperature", "Temperatur", "température", "temperatura", "温度"])
    expect(find({ text }).filter(({ line }) => line.includes("light ("))).toEqual([]);
  expect(find({ text: "colour temperature" })[0]?.line).toContain("light (");
});
