import { expect, test } from "vitest";
import { agentIdOf, readStartSettings } from "./settings.ts";

const read = (args: string[], env: Record<string, string> = {}) => {
  const result = readStartSettings(args, env);
  return result.ok ? result.value : result.error;
};

test("nothing given", () => {
  expect(read([])).toMatchObject({
    ask: undefined,
    port: undefined,
    mqttUrl: undefined,
    llmBaseUrl: undefined,
  });
});

test.for([
  [["--aks", "x"], {}, "--aks"],
  [["x"], {}, "usage"],
  [["--ask"], {}, "usage"],
  [["--ask", " "], {}, "--ask: the question is empty"],
  [[], { PORT: "http" }, "PORT: expected a number from 0 to 65535, got 'http'"],
  [[], { PORT: "70000" }, "PORT"],
  [[], { EDGECALL_TOKEN: "short" }, "EDGECALL_TOKEN: expected 16 to 256"],
  [[], { LLM_BASE_URL: "http://127.0.0.1:1/v1" }, "LLM_MODEL: not set"],
  [[], { MQTT_URL: "localhost" }, "MQTT_URL: expected the address of a broker"],
] as const)("wrong: %j %j", ([args, env, words]) => {
  expect(read([...args], { ...env })).toContain(words);
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
