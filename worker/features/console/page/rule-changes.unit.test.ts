import { expect, test } from "vitest";
import { changesOf, type Rule, writtenOf } from "./rule-changes.ts";

const watch: Rule = {
  id: "w-7f2c",
  kind: "watch",
  name: "Freezer",
  status: "active",
  why: null,
  condition: "temperature is above −15 °C",
  device: "Freezer",
  agent: "freezer",
  value: -15,
  for_minutes: 10,
  severity: "info",
  repeat: "each_time",
  state: "idle",
  last_firing: null,
  history: [],
  by: "anna",
  channel: "api",
  conversation: "console-1",
  to: "you here",
  made_at: 0,
};
const changed = (rule: Rule, other: Partial<ReturnType<typeof writtenOf>>) =>
  changesOf(rule, { ...writtenOf(rule), ...other });

test("what was not changed is not sent", () => {
  expect(changed(watch, {})).toEqual({});
  const quiet = {
    ...watch,
    only_between: "08:00-20:00",
    say: "Look",
    then_to: { to: "owners", after_minutes: 5 },
  };
  expect(changed(quiet, {})).toEqual({});
});

test("fields are read as people write them on a phone, and an empty one means none", () => {
  expect(changed(watch, { limit: "−12,5", minutes: "2,5" })).toEqual({ value: -12.5, for_minutes: 2.5 });
  expect(changed(watch, { hours: "08:00–20:00", repeat: "until_ack", severity: "warning" })).toEqual({
    only_between: "08:00-20:00",
    repeat: "until_ack",
    severity: "warning",
  });
  expect(changed(watch, { second: "owners" })).toEqual({ then_to: { to: "owners", after_minutes: 15 } });
  const full = {
    ...watch,
    only_between: "08:00-20:00",
    say: "Look",
    then_to: { to: "owners", after_minutes: 5 },
  };
  expect(changed(full, { hours: " ", say: "", second: "" })).toEqual({
    only_between: null,
    say: null,
    then_to: null,
  });
  expect(changed(full, { after: "30" })).toEqual({ then_to: { to: "owners", after_minutes: 30 } });
});

test("a word as the limit stays a word, and a reminder has its text alone", () => {
  expect(changed({ ...watch, value: "open" }, { limit: "7" })).toEqual({ value: "7" });
  expect(changed({ ...watch, kind: "remind" }, { name: "tea", minutes: "9" })).toEqual({ text: "tea" });
});
