import { afterEach, expect, test } from "vitest";
import { QUESTION_MAX_MS } from "../../config/question-times.ts";
import { type House, house } from "../../testing/house.ts";
import { question } from "./question.ts";

const houses: House[] = [];
afterEach(async () => {
  for (const one of houses.splice(0)) await one.stop();
});

async function asking() {
  const one = await house();
  houses.push(one);
  await one.start({ tools: [question()] });
  return one;
}

test("the answer is the result; the question is open for a week, longer than the call's time-out", async () => {
  const { tool, question: asked, answer, result } = await asking();
  const id = await tool(
    "question",
    { question: "Which room?", options: ["kitchen", "hall", "hall"] },
    { expires_in_ms: 60_000 },
  );
  const { question_id, text, options, expires_in_ms } = await asked(id);
  expect({ text, options }).toEqual({ text: "Which room?", options: ["kitchen", "hall"] });
  expect(expires_in_ms).toBeGreaterThan(QUESTION_MAX_MS - 10_000);
  expect(await answer(question_id, "cellar")).toMatchObject({
    error: "answer: right would be one of: kitchen, hall",
  });
  await answer(question_id, "hall");
  expect(await result(id)).toMatchObject({ status: "success", result: "The user answered: hall" });
});

test("no answer before the call is cancelled", async () => {
  const { send, tool, question: asked, result } = await asking();
  const id = await tool("question", { question: "Are you there?" });
  await asked(id);
  await send("cancel", { request_id: id });
  expect(await result(id)).toMatchObject({ status: "error", code: "aborted" });
});

test("a question without a text or with one option is refused", async () => {
  const { tool, result } = await asking();
  expect(await result(await tool("question", { question: "" }))).toMatchObject({
    error_type: "invalid_params",
  });
  expect(await result(await tool("question", { question: "Yes?", options: ["yes"] }))).toMatchObject({
    error_type: "invalid_params",
  });
});
