/**
 * Every state of a Conversation in which the model is asked, stopped there: the turn gets one answer, and the model is
 * asked no more often than needed. States that share their code share a row: a model call in a later step, the summary
 * at a limit, and the first call of a turn that a job's result starts are all the model step, which reads the same
 * rows.
 */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { EventStream } from "../../../test/event-stream.ts";
import { modelCalls, modelsAsked, releaseModel, summaryCalls } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf, stopConversationWhile } from "../../../test/states.ts";
import { hold, rowsOf, storedTurns } from "../../../test/stopping.ts";
import { expectTurns, turnsOf } from "../../../test/turns.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { say } from "../../../test/workerd.ts";
import { Home } from "../../home.ts";

stopConversationWhile({
  "the turn is accepted, its first model call not made yet": async ({ id, stop }) => {
    const plan = hold(Home, "conversations.plan");
    const text = script({ text: "Hello." });
    const waiting = say(id, text);
    await plan.reached();
    await stop(plan.release);
    expect((await waiting).body).toMatchObject({ status: "done", answer: "Hello." });
    expect(await modelCalls(text)).toBe(1);
    await expectTurns(id, [{ answer: "Hello." }]);
  },

  "the model is asked, no byte of its answer is there": async ({ how, id, stop }) => {
    const text = script({ hold: id, step: { text: "The first." } }, { text: "The second." });
    const waiting = say(id, text);
    await until(() => modelCalls(text));
    await stop(() => releaseModel(id));
    const answer = how === "evict" ? "The first." : "The second.";
    expect((await waiting).body).toMatchObject({ status: "done", answer });
    await expectTurns(id, [{ answer }]);
  },

  "the model is in the middle of its answer": async ({ how, id, stop }) => {
    const client = await EventStream.say(
      id,
      script({ text: "The first answer.", pause: id }, { text: "The second answer." }),
    );
    await until(() => client.text !== "");
    await stop(() => releaseModel(id));
    await client.ended;
    const answer = how === "evict" ? "The first answer." : "The second answer.";
    expect(client.of("done")).toMatchObject([{ status: "done", answer }]);
    // The partial text of the broken answer is removed from the screen.
    expect(client.text).toBe(answer);
    await expectTurns(id, [{ answer }]);
  },

  "it pauses after a fault of the model": async ({ id, stop }) => {
    const text = script({ status: 429, headers: { "retry-after": "1" } }, { text: "At last." });
    const waiting = say(id, text);
    await until(async () => {
      const [turn] = await turnRows(id);
      return turn && turn.notBefore > Date.now();
    });
    const before = await turnRows(id);
    await stop();
    // Pause and count of attempts are kept, because otherwise a crash would make it hammer the endpoint forever.
    expect(await turnRows(id)).toEqual(before);
    expect((await waiting).body).toMatchObject({ status: "done", answer: "At last." });
    expect(await modelCalls(text)).toBe(2);
    await expectTurns(id, [{ answer: "At last." }]);
  },

  "the second model is asked, after the first failed": async ({ how, id, stop }) => {
    const second = [{ name: "second", base_url: env.LLM_BASE_URL, model: "scripted-2" }];
    setVariables({ LLM_MODELS: JSON.stringify(second) });
    const text = script({ status: 401 }, { hold: id, step: { text: "Of the second." } }, { text: "Again." });
    const waiting = say(id, text);
    await until(async () => (await modelCalls(text)) === 2);
    await stop(() => releaseModel(id));
    const answer = how === "evict" ? "Of the second." : "Again.";
    expect((await waiting).body).toMatchObject({ status: "done", answer });
    // The model with the wrong key is not asked again.
    const again = how === "evict" ? [] : ["scripted-2"];
    expect(await modelsAsked(text)).toEqual(["scripted", "scripted-2", ...again]);
    await expectTurns(id, [{ answer }]);
  },

  "a summary of what no longer fits is being made": async ({ how, id, stop }) => {
    for (const n of [1, 2, 3]) await say(id, script({ text: `${n} [hold ${id}] ${"word ".repeat(400)}` }));
    setVariables({ HISTORY_MAX_TOKENS: "1200" });
    const text = script({ text: "In short." });
    const waiting = say(id, text);
    await until(async () => (await summaryCalls(id)) > 0);
    expect(await modelCalls(text)).toBe(0);
    await stop(() => releaseModel(id));
    expect((await waiting).body).toMatchObject({ status: "done", answer: "In short." });
    expect(await summaryCalls(id)).toBe(how === "evict" ? 1 : 2);
    expect(await rowsOf(conversationOf(id), "SELECT turns FROM summary")).toHaveLength(1);
    expect(await modelCalls(text)).toBe(1);
    expect((await turnsOf(id)).map(({ status }) => status)).toEqual(["done", "done", "done", "done"]);
  },
});

async function turnRows(id: string) {
  const turns = await storedTurns(conversationOf(id));
  return turns.map(({ status, attempts, notBefore }) => ({ status, attempts, notBefore }));
}
