/** Who is at home, by sources that know it, do not know it, and say it too soon. */
import type { HomePresence } from "@edgecall/core/protocol/automation.ts";
import { beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { readSettings } from "../settings.ts";
import { HomePresenceSources } from "./presence.ts";

const MINUTE = 60_000;
let now: number;
/** The gateway's time. */
let isKnown: boolean;
let entities: Record<string, string | undefined>;
let readings: Record<string, unknown>;
let answers: Record<string, boolean | undefined>;

beforeEach(() => {
  [now, isKnown] = [0, true];
  [entities, readings, answers] = [{}, {}, {}];
});

function sourcesOf(presence: string): HomePresenceSources {
  const env = { GATEWAY_URL: "http://127.0.0.1:1", BRIDGE_TOKEN: "x", PRESENCE: presence };
  const read = readSettings(env);
  if (!read.ok) throw new Error(read.errors.join());
  return new HomePresenceSources({
    sources: read.settings.devices?.presence ?? [],
    entityState: (id) => entities[id],
    readingOf: (agent, reading) => readings[`${agent}:${reading}`],
    ping: async (host) => answers[host],
    clock: { now: () => now },
    time: () => (isKnown ? now : undefined),
  });
}

const says = ({ shown }: HomePresenceSources) => shown?.sources.map((one) => `${one.name} ${one.says}`);
/** Passes time, with a look each second. */
function passes(presence: HomePresenceSources, minutes: number): HomePresence["home"] | undefined {
  for (const end = now + minutes * MINUTE; now < end; now += 1_000) presence.tick();
  return presence.shown?.home;
}

test("nobody is home when all sources have said so for 10 minutes, and somebody with the first", () => {
  const home = sourcesOf(
    "Anna=device_tracker.anna, Ben=person.ben, Hall=binary_sensor.hall, Sofa=sofa:presence",
  );
  expect(home.now).toBe("unknown");
  entities = { "device_tracker.anna": "not_home", "person.ben": "Work", "binary_sensor.hall": "off" };
  readings = { "sofa:presence": false };
  expect(says(home)).toEqual(["Anna away", "Ben away", "Hall away", "Sofa away"]);
  expect(passes(home, 9.9)).toBe("unknown");
  entities["person.ben"] = "home";
  expect(home.now).toBe("somebody");
  entities["person.ben"] = "not_home";
  expect(passes(home, 9.9)).toBe("unknown");
  expect(passes(home, 0.2)).toBe("nobody");
  readings["sofa:presence"] = "on";
  expect(home.now).toBe("somebody");
});

test("one source that is not known makes it unknown, also a restart, unless another one says that somebody is there", () => {
  const home = sourcesOf("device_tracker.anna, binary_sensor.hall");
  entities = { "device_tracker.anna": "not_home", "binary_sensor.hall": "off" };
  expect(passes(home, 11)).toBe("nobody");
  for (const state of [undefined, "unavailable", "unknown"]) {
    entities["binary_sensor.hall"] = state;
    expect(home.now).toBe("unknown");
    entities["device_tracker.anna"] = "home";
    expect(home.now).toBe("somebody");
    entities["device_tracker.anna"] = "not_home";
  }
  entities["binary_sensor.hall"] = "off";
  // A gap begins the 10 minutes anew.
  expect(passes(home, 9)).toBe("unknown");
});

test("a host that answers is somebody; one that nobody can ask is unknown", async () => {
  const home = sourcesOf("Anna=ping:192.168.1.23");
  expect(says(home)).toEqual(["Anna unknown"]);
  const asked = async (answer: boolean | undefined) => {
    answers["192.168.1.23"] = answer;
    now += 2 * MINUTE;
    const before = says(home)?.join();
    home.tick();
    await until(() => says(home)?.join() !== before);
    return says(home);
  };
  expect(await asked(true)).toEqual(["Anna home"]);
  expect(await asked(false)).toEqual(["Anna away"]);
  expect(await asked(undefined)).toEqual(["Anna unknown"]);
});

test("a person's word is a source as others are", () => {
  const home = sourcesOf("");
  expect(home.shown).toBeUndefined();
  expect(home.now).toBe("unknown");
  home.said([{ person: "u-1", name: "Anna", away: true, at: 1 }]);
  expect(passes(home, 11)).toBe("nobody");
  const at = now;
  home.said([{ person: "u-1", name: "Anna", away: false, at }]);
  expect(home.now).toBe("somebody");
});

test("that somebody is back holds for a day, and that they are away until they say otherwise", () => {
  const home = sourcesOf("");
  home.said([
    { person: "u-1", name: "Anna", away: false, at: now },
    { person: "u-2", name: "Mia", away: true, at: now },
  ]);
  expect(passes(home, 24 * 60 - 1)).toBe("somebody");
  expect(passes(home, 10)).toBe("unknown");
  expect(passes(home, 60)).toBe("nobody");
  expect(says(home)).toEqual(["Mia away"]);
});

test("as long as the time is not known, it is unknown whether that somebody is back still holds", () => {
  const home = sourcesOf("Hall=binary_sensor.hall");
  entities = { "binary_sensor.hall": "off" };
  home.said([{ person: "u-1", name: "Anna", away: false, at: now }]);
  isKnown = false;
  expect(says(home)).toEqual(["Hall away", "Anna unknown"]);
  expect(passes(home, 11)).toBe("unknown");
  isKnown = true;
  expect(home.now).toBe("somebody");
});

test("a source that is none is an error that says what is one", () => {
  for (const wrong of ["Anna=anna", "light.hall", "ping:-c 1", "ping:", "x:", "a b:c"]) {
    const read = readSettings({ GATEWAY_URL: "http://127.0.0.1:1", BRIDGE_TOKEN: "x", PRESENCE: wrong });
    expect(read, wrong).toMatchObject({ ok: false, errors: [expect.stringContaining("PRESENCE")] });
  }
});
