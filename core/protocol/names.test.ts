import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AGENT_ID, parseTopic, TOPIC_KINDS, topicOf } from "./names.ts";

test("EvoClaw's topics", () => {
  expect(topicOf("evoclaw", "living-room-pi", "commands")).toBe("evoclaw/agents/living-room-pi/commands");
  expect(parseTopic("evoclaw", "evoclaw/agents/living-room-pi/reports")).toEqual({
    agentId: "living-room-pi",
    kind: "reports",
  });
});

describe("not an agent's topic", () => {
  test.each([
    "",
    "evoclaw/broadcast",
    "evoclaw/agents",
    "evoclaw/agents/",
    "evoclaw/agents/pi",
    "evoclaw/agents/pi/",
    "evoclaw/agents//reports",
    "evoclaw/agents/pi/reports/",
    "evoclaw/agents/pi/reports/x",
    "evoclaw/agents/pi/strategy",
    "evoclaw/agents/pi/constructor",
    "evoclaw/agents/+/reports",
    "evoclaw/agents/#/reports",
    "evoclaw/agents/pi\n/reports",
    "evoclaw/agents/pi\u0000/reports",
    "evoclaw/agents/ä/reports",
    `evoclaw/agents/${"x".repeat(65)}/reports`,
    "evoclaw2/agents/pi/reports",
    "x/evoclaw/agents/pi/reports",
    "/evoclaw/agents/pi/reports",
    "EVOCLAW/agents/pi/reports",
  ])("%j", (topic) => {
    expect(parseTopic("evoclaw", topic)).toBeUndefined();
  });
});

test("a prefix may have several levels", () => {
  expect(parseTopic("home/one", "home/one/agents/pi/tools")).toEqual({ agentId: "pi", kind: "tools" });
  expect(parseTopic("home", "home/one/agents/pi/tools")).toBeUndefined();
});

test("topicOf and parseTopic are inverse, and neither throws", () => {
  const prefix = fc.string({ minLength: 1 });
  fc.assert(
    fc.property(
      prefix,
      fc.stringMatching(AGENT_ID),
      fc.constantFrom(...TOPIC_KINDS),
      (before, agentId, kind) => {
        expect(parseTopic(before, topicOf(before, agentId, kind))).toEqual({ agentId, kind });
      },
    ),
  );
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("evoclaw", "agents", "pi", "reports", "+", "#", "", "é"), { maxLength: 6 }),
      (levels) => {
        const topic = levels.join("/");
        const found = parseTopic("evoclaw", topic);
        if (found) expect(topicOf("evoclaw", found.agentId, found.kind)).toBe(topic);
      },
    ),
  );
});
