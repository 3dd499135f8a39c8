/** Questions about the past in plain sentences, without a model: the bridge is asked, and its figures become a sentence of the person's language. */
import { reset } from "cloudflare:test";
import type { HomeFrame } from "@edgecall/core/protocol/frames.ts";
import type { PastFacts, PastReply } from "@edgecall/core/protocol/past.ts";
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

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type PastFrame = HomeFrame & { t: "past" };
const asked = (bridge: TestBridge) => bridge.received.filter((frame): frame is PastFrame => frame.t === "past");

async function home(facts: Partial<PastFacts>, features = ["devices", "kept", "history"]): Promise<TestBridge> {
  const bridge = await TestBridge.dial();
  await bridge.hello(features);
  await bridge.snapshot([
    device("front-door", { line: "sensor (door)", tools: [READ] }),
    device("garden-pump", { line: "sensor (power)", tools: [READ] }),
  ]);
  bridge.onStates = () => [
    reported("front-door", reading("Contact", false, { kind: "binary_sensor", class: "door", text: "closed" })),
    reported("garden-pump", reading("Power", 0, { unit: "W", class: "power" })),
  ];
  bridge.onPast = ({ question }): PastReply => ({
    answer: {
      reading: question.reading,
      kind: "sensor",
      from: question.from,
      to: question.to,
      facts: { known_ms: HOUR, ...facts },
      unknown: [],
      unknown_ms: 0,
      since: T0 - 90 * 24 * HOUR,
    },
  });
  return bridge;
}

test.each([
  ["When was the front door last open?", "Front door: last open 08:02, until 08:13."],
  ["Wann war Front door zuletzt offen?", "Front door: zuletzt offen 08:02, bis 08:13."],
])("%s", async (sentence, answer) => {
  const last = { at: T0 - 58 * MINUTE, value: true, to: T0 - 47 * MINUTE, is_over: true };
  const bridge = await home({ last });
  expect((await say("a", sentence)).body.answer).toBe(answer);
  expect(asked(bridge)).toMatchObject([{ question: { agent: "front-door", reading: "Contact", ask: "last", is: "on" } }]);
});

test("since when it is so, and how often it was", async () => {
  const bridge = await home({ last: { at: T0 - 30 * MINUTE, value: true, to: null, is_over: false }, count: 4 });
  const since = await say("a", "How long has the front door been open?");
  expect(since.body.answer).toBe("Front door: open since 08:30, for 30 min now.");
  const count = await say("a", "How often was it opened yesterday?");
  expect(count.body.answer).toBe("Front door: open 4 times, Mon 22 Nov, 00:00 to 00:00.");
  expect(asked(bridge).at(-1)?.question).toMatchObject({ from: T0 - 33 * HOUR, to: T0 - 9 * HOUR });
});

test("a pump that has no state of its own runs while it takes power", async () => {
  const bridge = await home({ ms: 42 * MINUTE, count: 2 });
  const { body } = await say("a", "How long did the garden pump run today?");
  expect(body.answer).toBe("Garden pump: running for 42 min in all, 00:00 to 09:00.");
  expect(asked(bridge)).toMatchObject([{ question: { ask: "duration", reading: "Power", is: ">5" } }]);
});

test("the past is at home, for its members, and for those whose bridge keeps it", async () => {
  const bridge = await home({});
  const sentence = "When was the front door last open?";
  expect((await say("a", sentence)).body.answer).toMatch(/^Front door: not open since .*, as far as is known\.$/);
  const guest = await say("guest", sentence, { token: TOKENS.guest });
  expect(guest.body.answer).not.toContain("last open");
  expect(asked(bridge)).toHaveLength(1);
  bridge.close();
  await until(async () => (await say("b", sentence)).body.answer.includes("kept at home"));
  const older = await home({}, ["devices", "kept"]);
  await say("c", sentence);
  expect(asked(older)).toEqual([]);
});
