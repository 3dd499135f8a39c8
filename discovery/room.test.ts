/** What is kept and told of a device does not depend on the order in which the broker sends its configs. */
import { describe, expect, test } from "vitest";
import type { DeviceCatalog } from "./catalog.ts";
import type { HostedDevice } from "./model/device.ts";
import { ENTITIES_A_DEVICE_MAX } from "./model/room.ts";
import { CASES, NOW, newCatalog, published } from "./testkit/device-cases.ts";

type Config = { topic: string; payload: Record<string, unknown> };

const device = { identifiers: ["big"], name: "Big" };

/** Sensors and numbers of one device, alternately. */
function large(sensors: number, numbers: number): Config[] {
  const of = (kind: string, count: number, more: object): Config[] =>
    Array.from({ length: count }, (_, at) => ({
      topic: `homeassistant/${kind}/big/${kind}_${at}/config`,
      payload: {
        name: `${kind} ${at}`,
        unique_id: `${kind}_${at}`,
        state_topic: `big/${kind}/${at}`,
        device,
        ...more,
      },
    }));
  return [
    ...of("sensor", sensors, { unit_of_measurement: "W" }),
    ...of("number", numbers, { command_topic: "big/set" }),
  ];
}

/** Another order for each seed, and always the same one for a seed. */
function shuffled<T>(all: readonly T[], seed: number): T[] {
  let state = seed * 2_654_435_761 + 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const ranked = all.map((one) => ({ one, at: next() }));
  return ranked.sort((a, b) => a.at - b.at).map(({ one }) => one);
}

function started(configs: readonly Config[], file?: unknown): DeviceCatalog {
  const catalog = newCatalog();
  if (file !== undefined) catalog.restore(JSON.parse(JSON.stringify(file)));
  for (const { topic, payload } of configs) catalog.mqtt.config(topic, JSON.stringify(payload), NOW);
  return catalog;
}

function told({ id, line, allowHash, actions, notOffered, name, kinds }: HostedDevice) {
  return { id, line, allowHash, actions, notOffered, name, kinds };
}

describe("V7: the same configs in any order, with a restart after each", () => {
  test.each([
    ["60 sensors and 30 numbers", large(60, 30)],
    ["300 sensors and 250 numbers", large(300, 250)],
  ])("V7: %s", (_, configs) => {
    const first = started(configs);
    const wanted = first.devices(NOW).map(told);
    const readings = first.readings("big", NOW, true).map(({ name }) => name);
    expect(wanted).toHaveLength(1);
    let file: unknown = first.dump();
    for (let seed = 1; seed <= 20; seed += 1) {
      const catalog = started(shuffled(configs, seed), file);
      expect(catalog.devices(NOW).map(told)).toEqual(wanted);
      expect(catalog.readings("big", NOW, true).map(({ name }) => name)).toEqual(readings);
      file = catalog.dump();
    }
  });

  test("V7: the devices of real publishers", () => {
    const first = started(CASES.configs);
    const wanted = first.devices(NOW).map(told);
    for (let seed = 1; seed <= 20; seed += 1)
      expect(started(shuffled(CASES.configs, seed), first.dump()).devices(NOW).map(told)).toEqual(wanted);
  });

  test("V7: two topics that describe the same entity", () => {
    const one = (topic: string, command: string): Config => ({
      topic: `homeassistant/switch/${topic}/config`,
      payload: { unique_id: "same", name: "Same", command_topic: command, device },
    });
    const configs = [one("b", "two"), one("a", "one")];
    const sent = configs.map((_, at) => {
      const plan = started(at === 0 ? configs : configs.toReversed()).plan("big", "set", { on: true }, NOW);
      return "error" in plan ? plan.error : published(plan).map(({ topic }) => topic);
    });
    expect(sent).toEqual([["one"], ["one"]]);
  });
});

describe("V7: a large device", () => {
  test("V7: 30 numbers beside 60 sensors are all offered", () => {
    const [big] = started(large(60, 30)).devices(NOW);
    expect(big?.actions.filter(({ name }) => name.startsWith("set_"))).toHaveLength(30);
    expect(big?.notOffered).toEqual([]);
  });

  test("V7: what is left out is said on the device, and is no command while there is a sensor", () => {
    const [big] = started(large(300, 100)).devices(NOW);
    expect(big?.actions.filter(({ name }) => name.startsWith("set_"))).toHaveLength(100);
    expect(big?.notOffered).toEqual([
      {
        what: expect.stringMatching(/^144 more: sensor \d+, sensor /),
        why: `a device has at most ${ENTITIES_A_DEVICE_MAX} entities here; those with commands come first`,
      },
    ]);
  });

  test("V7: too many actions are counted by name", () => {
    const [big] = started(large(0, 220)).devices(NOW);
    expect(big?.actions).toHaveLength(201);
    // It stands once in the gateway's table of adverts, and no model is told more of it than the names.
    expect(JSON.stringify(big?.actions).length).toBeLessThan(64 * 1_024);
    expect(big?.notOffered[0]).toEqual({
      what: expect.stringMatching(/^20 more: set_number_\d+, set_number_/),
      why: "a device has at most 200 actions",
    });
  });

  test("V7: a list of what is not offered that is too long says how many are missing", () => {
    const bad = Array.from({ length: 30 }, (_, at) => ({
      topic: `homeassistant/sensor/big/bad_${at}/config`,
      payload: { name: `Bad ${at}`, unique_id: `bad_${at}`, state_topic: "a/#", device },
    }));
    const [big] = started(bad).devices(NOW);
    expect(big?.notOffered).toHaveLength(20);
    expect(big?.notOffered.at(-1)).toEqual({ what: "11 more", why: "the list is too long for them" });
  });

  test("V7: a new device takes no place of one that is known", () => {
    const many = (names: readonly string[]) =>
      names.map((name) => ({
        topic: `homeassistant/sensor/${name}/config`,
        payload: { unique_id: name, state_topic: name, name: null, device: { identifiers: [name], name } },
      }));
    const old = Array.from({ length: 600 }, (_, at) => `old-${at}`);
    const first = started(many(old));
    const ids = first.devices(NOW).map(({ id }) => id);
    const later = started([...many(["a-new", "another"]), ...many(old)], first.dump());
    expect(later.devices(NOW).map(({ id }) => id)).toEqual(ids);
  });
});
