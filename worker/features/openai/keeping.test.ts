import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { assistant, chat, post, user } from "../../../test/openai-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { storedTurns } from "../../../test/stopping.ts";
import { until } from "../../../test/wait.ts";
import { ask } from "../../../test/workerd.ts";
import { mediaId, newMedia } from "../../kernel/api/media.ts";
import { conversationOf } from "../../kernel/api/stubs.ts";
import { mediaLink } from "../../kernel/http/media-links.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";
import { oncePlace, oncePlaces, type Place } from "./conversation-key.ts";

const HOUR_MS = 3_600_000;
const ANNA: ApiToken = { hash: "", name: "anna", home: "a", role: "owner", scopes: [] };

/** Timers stay real, because otherwise a promise that waits for one would wait forever. */
function at(now: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now });
}
afterEach(() => vi.useRealTimers());

test("a chat that its client keeps is deleted two days after its last message; one with a key stays", async () => {
  const question = script({ text: "once" });
  await chat([user(question)]);
  await chat([user(script({ text: "kept" }))], {}, { "x-edge-conversation": "stays" });
  const { name } = await oncePlace(ANNA, question);
  const turns = async () =>
    (await conversationOf(env, name).history({ before: Number.MAX_SAFE_INTEGER, limit: 10 })).turns;
  expect(await turns()).toHaveLength(1);
  const stub = env.CONVERSATION.getByName(name);
  at(Date.now() + 47 * HOUR_MS);
  await runDurableObjectAlarm(stub);
  expect(await turns()).toHaveLength(1);
  at(Date.now() + 2 * HOUR_MS);
  await until(async () => {
    await runDurableObjectAlarm(stub);
    return (await turns()).length === 0;
  });
  const again = await chat([user(script({ text: "again" }))], {}, { "x-edge-conversation": "stays" });
  expect(again.body.choices[0]?.message.content).toBe("again");
}, 20_000);

test("G7 a chat without a name is deleted two days after its last message, whichever chat begins alike meanwhile", async () => {
  const question = script(...Array.from({ length: 6 }, (_, n) => ({ text: `answer ${n}` })));
  const { name } = await oncePlace(ANNA, question);
  const stub = env.CONVERSATION.getByName(name);
  const turns = async () =>
    (await conversationOf(env, name).history({ before: Number.MAX_SAFE_INTEGER, limit: 10 })).turns;
  const respond = async (body: Record<string, unknown>) => {
    const response = await post("/v1/responses", { model: "x", ...body });
    return (await response.json()) as { id: string };
  };
  const began = Date.now();
  await chat([user(question)]);
  const first = await respond({ input: question });
  at(began + 40 * HOUR_MS);
  const second = await respond({ input: question, previous_response_id: first.id });
  await chat([user(question)]);
  at(began + 60 * HOUR_MS);
  await runDurableObjectAlarm(stub);
  // The first chat's turn is gone; the second one continues from its own.
  await until(async () => (await turns()).length === 3);
  expect((await ask(`/v1/responses/${second.id}`)).status).toBe(200);
  expect((await ask(`/v1/responses/${first.id}`)).status).toBe(200);
}, 20_000);

test("G7 chats that begin alike go to another object when theirs is full, and one that continues stays in it", async () => {
  const question = script(...Array.from({ length: 4 }, (_, n) => ({ text: `answer ${n}` })));
  const [first, second] = await oncePlaces(ANNA, question);
  const turnsAt = async (place: Place | undefined) =>
    (await storedTurns(env.CONVERSATION.getByName(place?.name ?? ""))).length;
  const begun = await chat([user(question)]);
  expect(await turnsAt(first)).toBe(1);
  // The rows that the answers of a few hundred turns would have left.
  await runInDurableObject(env.CONVERSATION.getByName(first?.name ?? ""), (_, { storage }) => {
    const fill =
      "INSERT INTO entry (turn, kind, body) SELECT ?, kind, json_set(body, ?, ?) FROM entry WHERE turn = 1 AND kind = ?";
    for (let n = 2; n < 12; n += 1) {
      storage.sql.exec(fill, n, "$.id", crypto.randomUUID(), "begin");
      storage.sql.exec(fill, n, "$.answer", "x".repeat(400_000), "end");
    }
  });
  await evictDurableObject(env.CONVERSATION.getByName(first?.name ?? ""));
  await chat([user(question)]);
  expect([await turnsAt(first), await turnsAt(second)]).toEqual([11, 1]);
  const next = script({ text: "on" });
  await chat([user(question), assistant(begun.body.choices[0]?.message.content), user(next)]);
  expect([await turnsAt(first), await turnsAt(second)]).toEqual([12, 1]);
}, 20_000);

test("a link to a picture expires after a day", async () => {
  const name = "a/openai/links";
  const id = mediaId(crypto.randomUUID(), name);
  await conversationOf(env, name).keep(await newMedia(id, "image/png", new Uint8Array([1, 2, 3])));
  const status = async (madeAt: number) => {
    at(madeAt);
    const link = await mediaLink(env, "https://gateway", "a", id);
    vi.useRealTimers();
    return (await ask(new URL(link).pathname + new URL(link).search, { token: null })).status;
  };
  expect(await status(Date.now() - 23 * HOUR_MS)).toBe(200);
  expect(await status(Date.now() - 25 * HOUR_MS)).toBe(404);
});

test("a file that is no picture is a download", async () => {
  const name = "a/openai/pages";
  const id = mediaId(crypto.randomUUID(), name);
  await conversationOf(env, name).keep(await newMedia(id, "text/html", new Uint8Array([60, 62])));
  const { pathname, search } = new URL(await mediaLink(env, "https://gateway", "a", id));
  const served = await ask(pathname + search, { token: null });
  expect(served.headers.get("content-disposition")).toBe("attachment");
  expect(served.headers.get("content-type")).toBe("application/octet-stream");
});
