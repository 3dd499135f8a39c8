/** What publishers send in forms of their own (test/cases/publisher-forms.json), with what is read of it and sent for it. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NOW, newCatalog, published } from "./testkit/device-cases.ts";

type Case = {
  row: string;
  publisher: string;
  configs: [topic: string, payload: object][];
  states: [topic: string, payload: object | string][];
  /** The topic of a state that is far longer in a home. */
  large?: string;
  readings: Record<string, string>;
  settings?: string[];
  commands?: [action: string, parameters: Record<string, unknown>, sends: string[]][];
};

const CASES: Case[] = JSON.parse(
  readFileSync(new URL("../test/cases/publisher-forms.json", import.meta.url), "utf8"),
);

/** What stands behind the rest of a long state. */
const MORE = Object.fromEntries(
  Array.from({ length: 600 }, (_, at) => [`0x${at}`, { friendly_name: `Room "${at}"` }]),
);

test.each(CASES.map((one) => [one.row, one.publisher, one] as const))(
  "%s: %s",
  (_row, _publisher, { configs, states, large, readings, settings = [], commands = [] }) => {
    const catalog = newCatalog();
    for (const [topic, payload] of configs)
      expect(catalog.mqtt.config(topic, JSON.stringify(payload), NOW)).toBe(true);
    for (const [topic, payload] of states) {
      const whole = topic === large && typeof payload === "object" ? { ...payload, config: MORE } : payload;
      const text = typeof whole === "string" ? whole : JSON.stringify(whole);
      catalog.mqtt.state(topic, text, { now: NOW, retained: false });
    }
    const [device, ...others] = catalog.devices(NOW);
    expect(others).toEqual([]);
    const told = catalog.readings(device?.id ?? "", NOW, true).map(({ name, text }) => [name, text]);
    expect(Object.fromEntries(told)).toEqual(readings);
    expect(device?.online).toBe(true);
    expect(device?.settings?.map(({ name }) => name) ?? []).toEqual(settings);
    for (const [action, parameters, sends] of commands) {
      const plan = catalog.plan(device?.id ?? "", action, parameters, NOW);
      expect(
        "error" in plan ? plan.error : published(plan).map(({ topic, payload }) => `${topic} ${payload}`),
      ).toEqual(sends);
    }
  },
);
