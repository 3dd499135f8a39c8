/** Questions about the past in plain sentences, without a model: the bridge is asked, and its answer is told. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { device, READ, reading, reported } from "../../../test/hosted-device.ts";
import { languageFiles } from "../../../test/language-files.ts";
import { at, T0 } from "../../../test/rule-clock.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { say, TestBridge } from "../../../test/workerd.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({
    ASSETS: languageFiles,
    TIMEZONE: "Europe/Berlin",
    GATEWAY_TOOLS: "history",
    ...{ LLM_BASE_URL: "", LLM_MODEL: "", LLM_MODELS: "", AI: undefined },
  });
  at(T0);
});

const asked = (bridge: TestBridge) =>
  bridge.received.flatMap((frame) => (frame.t === "past" ? [frame.question] : []));

async function home(text: string, features = ["devices", "kept", "history"]): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  await bridge.hello(features);
  await bridge.snapshot([
    device("front-door", { line: "sensor (door)", tools: [READ] }),
    device("garden-pump", { line: "sensor (power)", tools: [READ] }),
  ]);
  bridge.onStates = () => [
    reported(
      "front-door",
      reading("Contact", false, { kind: "binary_sensor", class: "door", text: "closed" }),
    ),
    reported("garden-pump", reading("Power", 0, { unit: "W", class: "power" })),
  ];
  bridge.onPast = () => ({ text });
  return bridge;
}

test.each([
  ["When was the front door last open?", "en", "open"],
  ["Wann war Front door zuletzt offen?", "de", "offen"],
])("%s", async (sentence, language, state) => {
  const bridge = await home("Front door: 08:02.");
  expect((await say("a", sentence)).body.answer).toBe("Front door: 08:02.");
  expect(asked(bridge)).toEqual([
    {
      agent: "front-door",
      name: "Front door",
      reading: "Contact",
      ask: "last",
      is: "on",
      zone: "Europe/Berlin",
      sentence: { language, state },
    },
  ]);
});

test("since when it is so, and how often it was in a part of time", async () => {
  const bridge = await home("x");
  await say("a", "How long has the front door been open?");
  await say("a", "How often was it opened yesterday?");
  await say("a", "How often was the front door open in the last 24 hours?");
  expect(asked(bridge)).toMatchObject([
    { ask: "last", is: "on" },
    { ask: "count", is: "on", period: "yesterday" },
    { ask: "count", period: "24 h" },
  ]);
  expect(asked(bridge)[0]).not.toHaveProperty("period");
});

test("a pump that has no state of its own runs while it takes power", async () => {
  const bridge = await home("x");
  await say("a", "How long did the garden pump run today?");
  expect(asked(bridge)).toMatchObject([
    { ask: "duration", reading: "Power", is: ">5", sentence: { language: "en", state: "running" } },
  ]);
});

test("the past is at home, for its members, and for those whose bridge keeps it", async () => {
  const bridge = await home("Front door: 08:02.");
  const sentence = "When was the front door last open?";
  expect((await say("a", sentence)).body.answer).toBe("Front door: 08:02.");
  const guest = await say("guest", sentence, { token: TOKENS.guest });
  expect(guest.body.answer).not.toContain("08:02");
  expect(asked(bridge)).toHaveLength(1);
  bridge.close();
  await until(async () => (await say("b", sentence)).body.answer.includes("kept at home"));
  const older = await home("x", ["devices", "kept"]);
  await say("c", sentence);
  expect(asked(older)).toEqual([]);
});
