import { expect, test } from "vitest";
import { versionProblem } from "./versions.ts";

test.for([
  ["0.3.0", "0.3.0"],
  ["0.3.9", "0.3.0"],
  ["0.2.0", "0.3.1"],
  ["0.2.7-rc.1", "0.3.0"],
  ["0.3.0+build", "0.3.0"],
])("%s fits gateway %s", ([version, gateway]) => {
  expect(versionProblem("bridge", version, gateway)).toBeUndefined();
});

test.for([
  ["0.1.9", "0.3.0", "agent 0.1.9 is too old for gateway 0.3.0: update the agent"],
  ["0.9.0", "1.0.0", "agent 0.9.0 is too old for gateway 1.0.0: update the agent"],
  [
    "0.4.0",
    "0.3.2",
    "agent 0.4.0 is newer than gateway 0.3.2: update the gateway, or put the agent back to 0.3",
  ],
  [
    "1.0.0",
    "0.9.0",
    "agent 1.0.0 is newer than gateway 0.9.0: update the gateway, or put the agent back to 0.9",
  ],
])("%s does not fit gateway %s", ([version, gateway, words]) => {
  expect(versionProblem("agent", version, gateway)).toBe(words);
});

test("an unreadable version is no reason to refuse a program", () => {
  for (const version of [
    null,
    undefined,
    "",
    "1",
    "0.1",
    "latest",
    "v0.0.1",
    "0.0.1.5",
    "99999.0.0",
    "0.0.x",
  ])
    expect(versionProblem("agent", version, "0.2.0")).toBeUndefined();
  expect(versionProblem("agent", "0.0.1", "main")).toBeUndefined();
});

test("the text contains only digits of a stranger, and fits a close reason", () => {
  const words = versionProblem("bridge", '9999.9999.999999-"><script>', "9999.9998.999999") ?? "";
  expect(words).not.toContain("script");
  expect(Buffer.byteLength(words)).toBeLessThanOrEqual(123);
});
