import { DAY_MS, HOUR_MS } from "@edgecall/core/time/zone.ts";
import { expect, test } from "vitest";
import { LastWelcome } from "./last-welcome.ts";

const AT = Date.parse("2026-11-29T12:00Z");

test("30 days without a welcome are too long; a bridge that was never welcomed waits for the first one", () => {
  const welcome = new LastWelcome(AT);
  expect(welcome.isAlone(AT + 30 * DAY_MS)).toBe(false);
  expect(welcome.isAlone(AT + 30 * DAY_MS + 1)).toBe(true);
  expect(new LastWelcome(undefined).isAlone(AT)).toBe(false);
});

test("it is written down at most each 6 hours", () => {
  const welcome = new LastWelcome(undefined);
  expect(welcome.welcomed(AT)).toBe(true);
  expect(welcome.welcomed(AT + HOUR_MS)).toBe(false);
});

test("a machine without a clock, that was off for 40 days, counts them once its clock is set", () => {
  const welcome = new LastWelcome(AT);
  welcome.clockSet(40 * DAY_MS);
  expect(welcome.isAlone(AT + 40 * DAY_MS)).toBe(true);
});

test("a clock that is set after the welcome makes it no older and no newer", () => {
  const welcome = new LastWelcome(undefined);
  welcome.welcomed(AT);
  welcome.clockSet(40 * DAY_MS);
  expect(welcome.isAlone(AT + 40 * DAY_MS)).toBe(false);
  expect(welcome.isAlone(AT + 71 * DAY_MS)).toBe(true);
});
