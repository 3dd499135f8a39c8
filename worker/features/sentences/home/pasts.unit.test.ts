/** Which reading a question about the past means, where one word says two states: "打开" is switched on, and opened. */

import { ENGLISH } from "@edgecall/core/phrases/phrases.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import type { Past } from "@edgecall/core/sentences/frame.ts";
import { expect, test } from "vitest";
import { answerPast } from "./pasts.ts";
import type { Thing } from "./things.ts";

const FRIDGE: Thing = {
  id: "fridge",
  name: "Fridge",
  own: true,
  online: true,
  hosted: true,
  readOnly: false,
  kinds: new Map(),
  adverts: () => [],
};
const target: Past["target"] = { of: "named", name: "Fridge", ids: ["fridge"] };
const OPENED: Past = { kind: "past", form: "count", state: "on", or: "open", target };
const BOTH = { at: 0, tainted: false, text: "" };
const SWITCH: Reading = { ...BOTH, name: "Switch", value: true, kind: "switch" };
const DOOR: Reading = { ...BOTH, name: "Door", value: false, kind: "binary_sensor", class: "door" };

async function asked(readings: Reading[]): Promise<PastQuestion[]> {
  const questions: PastQuestion[] = [];
  await answerPast(OPENED, {
    things: [FRIDGE],
    phrases: ENGLISH,
    earlier: [],
    called: () => false,
    now: 0,
    zone: "UTC",
    states: async () => new Map([["fridge", { id: "fridge", online: true, readings }]]),
    past: async (question) => {
      questions.push(question);
      return { text: "2 times" };
    },
  });
  return questions;
}

test("the one that the device has", async () => {
  expect(await asked([DOOR])).toMatchObject([{ agent: "fridge", reading: "Door", is: "on" }]);
  expect(await asked([SWITCH])).toMatchObject([{ reading: "Switch", is: "on" }]);
});

test("neither, where it has both", async () => {
  expect(await asked([SWITCH, DOOR])).toEqual([]);
});
