import { expect, test } from "vitest";
import { callText, changeText } from "./change-text.ts";

test.each([
  ["set", { on: false }, true, "off"],
  ["set", { on: true, brightness_pct: 40 }, true, "on, 40 %"],
  ["set_position", { position: 40 }, false, "40 %"],
  ["unlock", {}, true, "unlocked"],
  // It did not do it, so it is not said to have done it.
  ["unlock", {}, false, "unlock"],
  ["temperature", {}, true, "temperature"],
  ["system_info", {}, true, "system info"],
  ["read", { path: "note.txt" }, true, "read note.txt"],
  ["bash", { command: "uptime -p\nrm -rf x" }, true, "a command was run: uptime -p"],
  ["bash", { command: "uptime -p" }, false, "bash uptime -p"],
  ["append", { text: `${"a".repeat(70)}\u202e` }, false, `append ${"a".repeat(59)}…`],
  ["set", { mode: "\u202eheat" }, false, "set \\u202eheat"],
  ["toString", null, true, "toString"],
])("a call of %s with %j, done: %s, is %s", (action, parameters, done, text) => {
  expect(callText({ action, parameters, done })).toBe(text);
});

test("what was changed never has the name of an action", () => {
  expect(changeText("toString", {})).toBe("changed");
  expect(changeText("constructor", {})).toBe("changed");
  expect(changeText("blink", { times: 3 })).toBe("changed");
  expect(changeText("set", { temperature: 21.5 })).toBe("21.5 °C");
});
