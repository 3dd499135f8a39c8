/** find_agents in a home of 1,700 entities: 30 questions in each of five languages, test/cases/device_questions.json. */
import { readFileSync } from "node:fs";
import { AgentIndex } from "@edgecall/core/agents/agent-index.ts";
import { NOW } from "@edgecall/core/testkit/device-cases.ts";
import { largeHome } from "@edgecall/core/testkit/large-home.ts";
import { describe, expect, test } from "vitest";
import { areaOf, lineOf } from "./device-line.ts";
import { fits, readCondition, stemsOf } from "./reading-words.ts";

type Ask = { text: string; area?: string; kind?: string; reading?: string };
type Question = { ask: Ask; right?: string; all_in?: string; all_of?: string };
const { lists, questions }: { lists: Record<string, string[]>; questions: Record<string, Question[]> } =
  JSON.parse(readFileSync(new URL("../../../test/cases/device_questions.json", import.meta.url), "utf8"));

/** Right answers when the questions were written, of 30. */
const BEFORE: Readonly<Record<string, number>> = { en: 29, de: 15, fr: 15, pl: 12, zh: 2 };

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
  const condition = readCondition(ask.reading);
  const found = index
    .within(ask)
    .sort()
    .flatMap((id) => {
      const words = stemsOf(`${id} ${home.get(id)?.line}`);
      const [first] = catalog.readings(id, NOW, true).filter((one) => fits(condition, one, words));
      return first ? [{ id, value: first.value }] : [];
    });
  const order = condition.compare?.startsWith(">") ? -1 : 1;
  found.sort((a, b) => (typeof a.value === "number" ? order * (a.value - Number(b.value)) : 0));
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
  const all = Object.values(questions).flat();
  const names = new Set([...home.values()].map(({ name }) => name));
  const areas = new Set([...home.values()].map(({ area }) => area));
  const wanted = [...Object.values(lists).flat(), ...all.flatMap(({ right }) => right ?? [])];
  expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  expect(all.filter(({ all_in }) => all_in !== undefined && !areas.has(all_in))).toEqual([]);
});

describe.each(Object.entries(questions))("in %s", (language, asked) => {
  test("the right device is among the first three", () => {
    const wrong = asked.filter((one) => !isRight(one)).map(({ ask }) => ask);
    expect(asked.length - wrong.length, JSON.stringify(wrong)).toBeGreaterThanOrEqual(BEFORE[language] ?? 30);
  });
});
