/** Several messages in quick succession, as people write in a chat. */
import { expect, test } from "vitest";
import { modelCalls, releaseModel } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { until } from "../../../test/wait.ts";
import { type Answer, ask, say } from "../../../test/workerd.ts";

const speak = (conversation: string, text: string, more: Record<string, unknown> = {}, key?: string) =>
  say(conversation, text, {
    body: JSON.stringify({ text, merge: true, ...more }),
    ...(key !== undefined && { headers: { "idempotency-key": key } }),
  });

async function turnsOf(conversation: string) {
  const response = await ask(`/v1/conversations/${conversation}`);
  return ((await response.json()) as { turns: Array<Answer & { text: string }> }).turns;
}

test("a burst is one turn with one answer to all messages, and a repetition adds nothing", async () => {
  const attic = script({ hold: "never", step: { text: "to the first alone" } });
  const first = speak("burst", attic);
  // The first request of all: on a loaded machine the Worker takes seconds to start.
  await until(async () => (await modelCalls(attic)) === 1, { within: 15_000 });
  const rest = script({ text: "to all of it" });
  const second = speak("burst", "And the cellar?", {}, "second");
  await until(async () => (await turnsOf("burst"))[0]?.text.includes("cellar"));
  const third = speak("burst", rest, {}, "third");
  await until(async () => (await turnsOf("burst"))[0]?.text.includes("to all"));
  const again = speak("burst", "And the cellar?", {}, "second");
  const answers = (await Promise.all([first, second, third, again])).map(({ body }) => body);
  expect(new Set(answers.map(({ turn }) => turn)).size).toBe(1);
  expect(answers.map(({ answer }) => answer)).toEqual(Array(4).fill("to all of it"));
  const [turn, ...others] = await turnsOf("burst");
  expect(others).toEqual([]);
  expect(turn?.text.match(/cellar/g)).toHaveLength(1);
}, 20_000);

test("after an answer, or without the option, a message is a separate turn", async () => {
  const one = await speak("apart", script({ text: "one" }));
  const two = await speak("apart", script({ text: "two" }));
  expect(two.body.turn).not.toBe(one.body.turn);
  const held = say("apart", script({ hold: "apart", step: { text: "three" } }));
  await until(async () => (await turnsOf("apart")).length === 3);
  const other = say("apart", script({ text: "four" }));
  await until(async () => (await turnsOf("apart")).length === 4);
  await releaseModel("apart");
  expect((await held).body.answer).toBe("three");
  expect((await other).body.answer).toBe("four");
});
