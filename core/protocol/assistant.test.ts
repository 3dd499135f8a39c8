import { expect, test } from "vitest";
import { AssistantAnswer, AssistantQuestion } from "./assistant.ts";
import { check } from "./parse.ts";

test.each([
  ["https://ha.example/auth/authorize?state=x", true],
  ["http://homeassistant.local:8123/auth/authorize", true],
  ["javascript:alert(1)//http://ha.local", false],
  ["//ha.local/auth/authorize", false],
])("a browser is sent to an address of the web alone: %s", (authorize, isRight) => {
  expect(check(AssistantAnswer, { state: null, authorize }).ok).toBe(isRight);
});

test.each(["short", "x".repeat(65), "a state with spaces and more"])("no state of a sign-in: %s", (state) => {
  expect(check(AssistantQuestion, { finish: { state, code: "c" } }).ok).toBe(false);
});
