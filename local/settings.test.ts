import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { agentIdOf, demoEnvironment, readStartSettings, type StartOptions, workerVars } from "./settings.ts";

const read = (options: StartOptions, env: Record<string, string> = {}) => {
  const result = readStartSettings(options, env);
  return result.ok ? result.value : result.error;
};

test("no settings", () => {
  expect(read({})).toMatchObject({
    ask: undefined,
    port: undefined,
    mqttUrl: undefined,
    model: undefined,
  });
});

test.for([
  [{ ask: " " }, {}, "--ask: the question is empty"],
  [{ seed: "3" }, {}, "--seed: only with --demo"],
  [{ demo: true, seed: "x" }, {}, "--seed: expected a whole number from 0 to 4294967295, got 'x'"],
  [{ demo: true, speed: "0" }, {}, "--speed: expected a number above 0 and at most 1000, got '0'"],
  [{ demo: true, speed: "1001" }, {}, "--speed"],
  [{}, { PORT: "http" }, "PORT: expected a number from 0 to 65535, got 'http'"],
  [{}, { PORT: "70000" }, "PORT"],
  [{}, { EDGECALL_TOKEN: "short" }, "EDGECALL_TOKEN: expected 16 to 256"],
  [{}, { LLM_BASE_URL: "http://127.0.0.1:1/v1" }, "LLM_MODEL: not set"],
  [{}, { LLM_MODEL: "qwen3:8b" }, "LLM_BASE_URL: not set"],
  [{}, { API_TOKENS: "secret-that-is-no-list" }, "API_TOKENS: expected a JSON list"],
  [{}, { BRIDGE_TOKENS: '{"hash":"x"}' }, "BRIDGE_TOKENS: expected a JSON list"],
  [{}, { UPGRADE_COPY: "maybe" }, "UPGRADE_COPY: expected yes or no, got 'maybe'"],
  [{}, { MQTT_URL: "localhost" }, "MQTT_URL: expected the address of a broker"],
] as const)("wrong: %j %j", ([options, env, words]) => {
  expect(read(options, { ...env })).toContain(words);
});

test("--demo: a seed, a speed and a state folder of its own", () => {
  const env = { EDGECALL_DIR: "/home-of-mine" };
  expect(read({}, env)).toMatchObject({ demo: undefined, dir: "/home-of-mine" });
  expect(read({ demo: true }, env)).toMatchObject({ demo: { seed: 1, speed: 1 }, dir: "/home-of-mine/demo" });
  const options = { demo: true, seed: "7", speed: "0.5", ask: "Is it warm?" };
  expect(read(options, env)).toMatchObject({ demo: { seed: 7, speed: 0.5 }, ask: "Is it warm?" });
});

test("--demo: nothing of a person's broker reaches it, and all devices are hosted", () => {
  const env = { MQTT_URL: "mqtt://192.168.1.2", MQTT_PASSWORD: "x", MQTT_DEVICES: "off", PORT: "1" };
  expect(demoEnvironment(env)).toEqual({
    PORT: "1",
    MQTT_DEVICES: "allow",
    PRESENCE: "Phone=phone:Home",
    PLACE: "52.5, 13.4",
  });
});

test.for([
  ["pi", "pi"],
  ["pi.local", "pi"],
  ["Bob's Mac", "Bob-s-Mac"],
  ["localhost", "this-machine"],
  ["", "this-machine"],
  ["+#/", "this-machine"],
  ["x".repeat(80), "x".repeat(64)],
] as const)("host name %s → agent id %s", ([host, id]) => {
  expect(agentIdOf(host)).toBe(id);
});

test("S8 every setting of the Worker reaches the one-machine stack: it is in the list of both", () => {
  const root = fileURLToPath(new URL("../worker", import.meta.url));
  const others = globSync("**/*.ts", {
    cwd: root,
    exclude: (path) => /node_modules|fixtures/.test(String(path)),
  })
    .filter((path) => !path.includes(".test."))
    .map((path) => readFileSync(`${root}/${path}`, "utf8"))
    // In the form of a variable that a type of the Worker has besides.
    .flatMap((text) => [...text.matchAll(/^ {2}([A-Z][A-Z0-9_]+)\?: string;$/gm)])
    .map(([, name = ""]) => name);
  expect(others).toEqual([]);
  const passed = Object.keys(workerVars(new Proxy({}, { get: () => "0" })));
  expect(passed).toContain("RELAY_DAY_TOKENS");
  expect(passed.length).toBeGreaterThan(50);
});
