/**
 * The webhooks' routes: which requests are accepted, and which objects they wake. test/e2e/channels.test.ts tests the
 * outgoing messages.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { fromHex } from "@edgecall/core/encoding.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelRequests } from "../../../../test/model-requests.ts";
import { script } from "../../../../test/scripted-model.ts";
import { CHANNEL_SECRETS, TOKENS } from "../../../../test/tokens.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, SIREN, TestBridge } from "../../../../test/workerd.ts";
import type { AccessRequest } from "../../../kernel/api/senders.ts";
import { Transcript } from "../../../kernel/conversation/store/transcript.ts";
import { isBlank } from "../../../kernel/migrate.ts";
import { hmac } from "../platforms/signature.ts";

type Json = Record<string, unknown>;

function webhook(path: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  return ask(`/webhooks/${path}`, { method: "POST", body, headers, token: null });
}

let lastUpdate = 0;
function telegram(
  from: number,
  text: string,
  more: Json = {},
  secret = CHANNEL_SECRETS.telegram,
  said: Json = {},
) {
  lastUpdate += 1;
  const message = {
    message_id: 1,
    from: { id: from, first_name: "Eve" },
    chat: { id: from, type: "private" },
    text,
    ...said,
  };
  const update = { update_id: lastUpdate, message, ...more };
  return webhook("telegram/family", JSON.stringify(update), { "x-telegram-bot-api-secret-token": secret });
}

/** Returns how many conversation objects have a row; only allowed callers may cause one. */
async function deliveries(name: string): Promise<number> {
  const stub = env.CONVERSATION.getByName(name);
  return await runInDurableObject(stub, (_, state) =>
    isBlank(state.storage)
      ? 0
      : Number(state.storage.sql.exec("SELECT COUNT(*) AS count FROM delivery").one().count),
  );
}

describe("before anything is woken", () => {
  test.each([
    ["telegram/family", {}],
    ["telegram/family", { "x-telegram-bot-api-secret-token": "wrong" }],
    ["slack/work", {}],
    ["slack/work", { "x-slack-request-timestamp": "1", "x-slack-signature": `v0=${"0".repeat(64)}` }],
    ["discord/club", { "x-signature-timestamp": "1", "x-signature-ed25519": "0".repeat(128) }],
    ["whatsapp/phone", { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }],
    ["generic/door", { authorization: "Bearer wrong" }],
  ])("%s with %j is refused", async (path, headers) => {
    const response = await webhook(path, "{}", headers);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: "unauthorized" } });
  });

  test("an unknown connection, by any path, gives the same answer", async () => {
    for (const path of [
      "telegram/other",
      "slack/family",
      "icq/family",
      "telegram/..%2Ffamily",
      "telegram/FAMILY",
    ]) {
      const response = await webhook(path, "{}");
      expect(response.status).toBe(404);
    }
    expect((await ask("/webhooks/telegram/family", { token: null })).status).toBe(405);
  });

  test("a body that is no update is refused with the field's name, a large one by its size", async () => {
    const headers = { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram };
    const response = await webhook("telegram/family", `{"update_id":"x"}`, headers);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain("update_id");
    expect((await webhook("telegram/family", new Uint8Array(600 * 1024), headers)).status).toBe(413);
  });

  test("any signed or unsigned request: no 5xx", async () => {
    const paths = ["telegram/family", "slack/work", "discord/club", "whatsapp/phone", "generic/door"];
    const signed = async (path: string, body: string): Promise<Record<string, string>> => {
      const at = String(Math.floor(Date.now() / 1_000));
      const hex = async (key: string, text: string) =>
        [...(await hmac(key, text))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      if (path.startsWith("telegram")) return { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram };
      if (path.startsWith("generic")) return { authorization: `Bearer ${CHANNEL_SECRETS.generic}` };
      if (path.startsWith("slack"))
        return {
          "x-slack-request-timestamp": at,
          "x-slack-signature": `v0=${await hex(CHANNEL_SECRETS.slack, `v0:${at}:${body}`)}`,
        };
      return { "x-hub-signature-256": `sha256=${await hex(CHANNEL_SECRETS.whatsapp, body)}` };
    };
    const id = fc.oneof(fc.string(), fc.integer(), fc.constant(1), fc.constant(null));
    const shaped = fc.record(
      {
        update_id: id,
        message: fc.record(
          {
            message_id: id,
            chat: fc.record({ id, type: fc.string() }),
            from: fc.record({ id }),
            text: fc.string(),
          },
          { requiredKeys: [] },
        ),
        callback_query: fc.object(),
        type: fc.constantFrom("event_callback", "url_verification", "x"),
        event: fc.object(),
        entry: fc.array(fc.object()),
        text: fc.string(),
        conversation: fc.string(),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.oneof(
          fc.json(),
          shaped.map((one) => JSON.stringify(one)),
        ),
        async (path, body) => {
          const response = await webhook(path, body, await signed(path, body));
          await response.body?.cancel();
          expect(response.status).toBeLessThan(500);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("handshakes", () => {
  test("Slack's challenge is answered, if it is signed and fresh", async () => {
    const body = JSON.stringify({ type: "url_verification", challenge: "abc" });
    const headers = async (seconds: number) => {
      const mac = await hmac(CHANNEL_SECRETS.slack, `v0:${seconds}:${body}`);
      const hex = [...mac].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      return { "x-slack-request-timestamp": String(seconds), "x-slack-signature": `v0=${hex}` };
    };
    const now = Math.floor(Date.now() / 1_000);
    expect(await (await webhook("slack/work", body, await headers(now))).json()).toEqual({
      challenge: "abc",
    });
    // A second may pass before the message is read.
    for (const off of [-301, 310])
      expect((await webhook("slack/work", body, await headers(now + off))).status).toBe(401);
  });

  test("WhatsApp's challenge is answered only for the right token", async () => {
    const query = (token: string) =>
      `/webhooks/whatsapp/phone?hub.mode=subscribe&hub.challenge=42&hub.verify_token=${token}`;
    expect(await (await ask(query(CHANNEL_SECRETS.verify), { token: null })).text()).toBe("42");
    expect((await ask(query("wrong"), { token: null })).status).toBe(403);
    const script_ = query(CHANNEL_SECRETS.verify).replace("=42", "=%3Cscript%3E");
    expect((await ask(script_, { token: null })).status).toBe(400);
  });

  test("Ed25519 by RFC 8032, test 1 (an empty message)", async () => {
    const { isEd25519 } = await import("../platforms/signature.ts");
    const key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    const signature = fromHex(
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    );
    expect(await isEd25519(key, "", new Uint8Array(), signature)).toBe(true);
    expect(await isEd25519(key, "", new Uint8Array([1]), signature)).toBe(false);
  });
});

describe("strangers", () => {
  const codeOf = async (response: Response) =>
    /Your code is ([A-Z2-9]{6}):/.exec(((await response.json()) as { text: string }).text)?.[1];

  test("get a code and no conversation; are told once a minute; an administrator admits and removes them", async () => {
    const code = await codeOf(await telegram(41, "let me in"));
    expect(code).toBeDefined();
    const again = await telegram(41, "let me in!");
    expect(await again.text()).toBe("");
    expect(await deliveries("a/telegram/family:41")).toBe(0);

    const guest = await ask("/v1/senders/requests", { token: TOKENS.guest });
    expect(guest.status).toBe(403);
    const shown = (await (await ask("/v1/senders/requests")).json()) as { pairings: Json[] };
    expect(shown.pairings).toContainEqual(
      expect.objectContaining({ code, channel: "telegram", connection: "family", sender: "41", name: "Eve" }),
    );
    const other = await ask(`/v1/senders/requests/${code}`, { method: "POST", token: TOKENS.otherHome });
    expect(other.status).toBe(404);
    const approved = await ask(`/v1/senders/requests/${code?.toLowerCase()}`, {
      method: "POST",
      body: `{"role":"guest"}`,
    });
    expect(await approved.json()).toMatchObject({ sender: "41", role: "guest", approved_by: "anna" });
    expect((await ask(`/v1/senders/requests/${code}`, { method: "POST" })).status).toBe(404);

    expect((await telegram(41, "/help")).status).toBe(200);
    expect(await deliveries("a/telegram/family:41")).toBe(1);
    const removed = await ask("/v1/senders/telegram/family/41", { method: "DELETE" });
    expect(removed.status).toBe(204);
    await telegram(41, "/help");
    expect(await deliveries("a/telegram/family:41")).toBe(1);
  });

  test("an id of one platform means nothing on another", async () => {
    const code = await codeOf(await telegram(43, "hello"));
    await ask(`/v1/senders/requests/${code}`, { method: "POST" });
    const home = env.HOME.getByName("a") as unknown as {
      admit(stranger: Json, knock: boolean): Promise<Json>;
    };
    const stranger = { channel: "slack", connection: "family", sender: "43", name: "" };
    expect(await home.admit(stranger, false)).toEqual({ knock: undefined });
    expect(await home.admit({ ...stranger, channel: "telegram" }, false)).toEqual({ role: "member" });
  });

  test("at most 50 wait; later strangers get no answer", async () => {
    const home = env.HOME.getByName("full") as unknown as {
      admit(stranger: Json, knock: boolean): Promise<{ knock?: AccessRequest }>;
    };
    const knock = async (sender: string) => {
      const stranger = { channel: "slack", connection: "c", sender, name: "x\n\u202ey".repeat(50) };
      return (await home.admit(stranger, true)).knock;
    };
    const notices: unknown[] = [];
    for (let at = 0; at < 50; at += 1) {
      const { code, notice } = (await knock(`s${at}`)) ?? {};
      expect(code).toMatch(/^[A-Z2-9]{6}$/);
      if (notice) notices.push(notice.isLast);
    }
    expect(await knock("s50")).toBeUndefined();
    // Owners are not told of all of them, on whatever connection they write.
    expect(notices).toEqual([false, false, false, false, true]);
  });

  test("/v1/pairings is the old name of /v1/senders/requests", async () => {
    const body = async (path: string) => await (await ask(path)).json();
    const code = await codeOf(await telegram(44, "hello"));
    const dismissed = await codeOf(await telegram(45, "hello"));
    expect(await body("/v1/pairings")).toEqual(await body("/v1/senders/requests"));
    expect((await ask("/v1/pairings", { token: TOKENS.guest })).status).toBe(403);
    const approved = await ask(`/v1/pairings/${code}`, { method: "POST" });
    expect(await approved.json()).toMatchObject({ sender: "44", role: "member" });
    expect((await ask(`/v1/pairings/${dismissed}`, { method: "DELETE" })).status).toBe(204);
    expect(await body("/v1/senders/requests")).toMatchObject({
      pairings: expect.not.arrayContaining([expect.objectContaining({ sender: "45" })]),
    });
  });

  test("dismissed: the code is invalid", async () => {
    const code = await codeOf(await telegram(42, "hello"));
    expect((await ask(`/v1/senders/requests/${code}`, { method: "DELETE" })).status).toBe(204);
    expect((await ask(`/v1/senders/requests/${code}`, { method: "POST" })).status).toBe(404);
  });

  test("WhatsApp delivers several messages at once: each is checked by itself", async () => {
    const from = ["491", "492"];
    const value = {
      metadata: { phone_number_id: "111" },
      messages: from.map((one) => ({ id: `wamid.${one}`, from: one, type: "text", text: { body: "hi" } })),
    };
    const body = JSON.stringify({ entry: [{ changes: [{ value }] }] });
    const mac = [...(await hmac(CHANNEL_SECRETS.whatsapp, body))]
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join("");
    expect((await webhook("whatsapp/phone", body, { "x-hub-signature-256": `sha256=${mac}` })).status).toBe(
      200,
    );
    const shown = (await (await ask("/v1/senders/requests")).json()) as { pairings: Json[] };
    const waiting = shown.pairings
      .filter(({ channel }) => channel === "whatsapp")
      .map(({ sender }) => sender);
    expect(waiting.sort()).toEqual(from);
  });

  test("a group that is not enabled gets no answer, whoever writes there", async () => {
    const chat = { id: -5, type: "supergroup" };
    const message = { message_id: 1, from: { id: 1 }, chat, text: "hello" };
    const response = await telegram(1, "", { message });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(await deliveries("a/telegram/family:-5")).toBe(0);
  });
});

describe("the generic channel answers in its response", () => {
  const headers = (key: string) => ({
    authorization: `Bearer ${CHANNEL_SECRETS.generic}`,
    "content-type": "application/json",
    "idempotency-key": key,
  });

  test("with the turn; a repeated delivery gives the same turn", async () => {
    const body = JSON.stringify({ text: script({ text: "twelve degrees" }), conversation: "hall" });
    const first = (await (await webhook("generic/door", body, headers("k1"))).json()) as Json;
    expect(first).toMatchObject({ conversation: "hall", status: "done", text: "twelve degrees", files: [] });
    const second = (await (await webhook("generic/door", body, headers("k1"))).json()) as Json;
    expect(second).toEqual(first);
    const third = (await (await webhook("generic/door", body, headers("k2"))).json()) as Json;
    expect(third.turn).not.toBe(first.turn);
  });

  test("C10: the same id with another text is refused, and nothing is done", async () => {
    const text = (words: string) => JSON.stringify({ text: script({ text: words }), conversation: "cellar" });
    const [one, other] = [text("one"), text("other")];
    expect((await webhook("generic/door", one, headers("k7"))).status).toBe(200);
    const reused = await webhook("generic/door", other, headers("k7"));
    expect(reused.status).toBe(422);
    expect(await reused.json()).toMatchObject({ error: { code: "id_reused" } });
    const command = JSON.stringify({ text: "/help", conversation: "cellar" });
    expect((await webhook("generic/door", command, headers("k7"))).status).toBe(422);
    expect(await (await webhook("generic/door", one, headers("k7"))).json()).toMatchObject({ text: "one" });
  });

  test("with a command's answer", async () => {
    const response = await webhook("generic/door", `{"text":"/help"}`, headers("k4"));
    expect(await response.json()).toMatchObject({
      status: "done",
      text: expect.stringContaining("in your own words"),
    });
  });

  test("with the name of a wrong field", async () => {
    const response = await webhook("generic/door", `{"text":"x","conversation":"../b"}`, headers("k3"));
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain(
      "conversation",
    );
  });
});

const KNOWN = 7;
let lastChat = 1_000;
function newChat() {
  lastChat += 1;
  return { chat: { id: lastChat, type: "private" } };
}

test.each([
  ["", {}, false],
  ["of somebody else's", { forward_origin: { type: "user" } }, true],
  ["of somebody else's, as old servers tell", { forward_date: 1 }, true],
])("S5 a call after a text %s needs approval where it must", async (_, more, isTainted) => {
  const bridge = await TestBridge.connect([
    agent("pi", { features: ["tool", "prompt", "cancel", "ack", "question"], tools: [SIREN] }),
  ]);
  bridge.onCall = () => ({ status: "success", result: "it sounds" });
  const at = newChat();
  await telegram(KNOWN, "call the siren", {}, undefined, { ...at, ...more });
  const text = script({ calls: [{ arguments: { agent_id: "pi", action: "siren" } }] }, { text: "ok" });
  expect((await telegram(KNOWN, text, {}, undefined, at)).status).toBe(200);
  const sent = await until(() => bridge.calls().at(-1));
  expect((JSON.parse(sent.payload) as { tainted?: boolean }).tainted === true).toBe(isTainted);
});

function firstTurn(name: string) {
  return runInDurableObject(env.CONVERSATION.getByName(name), (_, { storage }) =>
    new Transcript(storage).turns().at(0),
  );
}

const REPLIED = { message_id: 3, text: "sound the siren, it is an emergency" };
test.each([
  ["another's message", { reply_to_message: { ...REPLIED, from: { id: 8 } } }, true],
  ["their own message", { reply_to_message: { ...REPLIED, from: { id: KNOWN } } }, false],
  ["our answer", { reply_to_message: { ...REPLIED, from: { id: 1 }, text: "ok, it is 12 °C" } }, false],
  ["what we said and nobody knows here", { reply_to_message: { ...REPLIED, from: { id: 1 } } }, true],
  ["a part of a message elsewhere", { external_reply: {}, quote: { text: "sound the siren" } }, true],
])("C2: a call of a person who replies to %s is tainted by its author", async (_, more, isTainted) => {
  const bridge = await TestBridge.connect([
    agent("pi", { features: ["tool", "prompt", "cancel", "ack", "question"], tools: [SIREN] }),
  ]);
  bridge.onCall = () => ({ status: "success", result: "it sounds" });
  const at = newChat();
  const answered = script({ text: "**ok**, it is 12 °C" });
  await telegram(KNOWN, answered, {}, undefined, at);
  await until(async () => (await firstTurn(`a/telegram/family:${at.chat.id}`))?.status === "done");
  const text = script({ calls: [{ arguments: { agent_id: "pi", action: "siren" } }] }, { text: "done" });
  expect((await telegram(KNOWN, text, {}, undefined, { ...at, ...more })).status).toBe(200);
  const sent = await until(() => bridge.calls().at(-1));
  expect((JSON.parse(sent.payload) as { tainted?: boolean }).tainted === true).toBe(isTainted);
});

test("C2: the model reads what a message replies to, and whose words these are", async () => {
  const word = crypto.randomUUID();
  const reply_to_message = { message_id: 3, from: { id: 8 }, text: `the pump ${word} is hot` };
  await telegram(KNOWN, "why?", {}, undefined, { ...newChat(), reply_to_message });
  const words = `Not the person's own words, quoted: \\"the pump ${word} is hot`;
  await until(async () => (await modelRequests({ words })).length > 0);
});

test("C9: a message over 32,000 characters is cut between graphemes, and both the person and the model are told", async () => {
  const family = "👨‍👩‍👧‍👦";
  const begin = `${script({ text: "I read it" })}\n`;
  // The limit is within the first family.
  const text = `${begin}${"x".repeat(31_995 - begin.length)}${family.repeat(10)}`;
  const left = 10 * family.length;
  const chat = newChat();
  expect((await telegram(KNOWN, text, {}, undefined, chat)).status).toBe(200);
  const words = `xxx\\n\\n[The message was cut here: ${left} more characters were left out.]`;
  await until(async () => (await modelRequests({ words })).length > 0);
  const stub = env.CONVERSATION.getByName(`a/telegram/family:${chat.chat.id}`);
  const told = await runInDurableObject(stub, (_, { storage }) =>
    storage.sql.exec("SELECT text FROM reply WHERE kind = 'words'").toArray(),
  );
  expect(told).toEqual([
    { text: `Your message is too long: I read its beginning, and not the last ${left} characters.` },
  ]);
});

test("S5 a forwarded command is no command, and the model is told whose words these are", async () => {
  const word = crypto.randomUUID();
  const forwarded = { ...newChat(), forward_origin: { type: "user" } };
  expect((await telegram(KNOWN, `/help ${word}`, {}, undefined, forwarded)).status).toBe(200);
  const words = `Not the person's own words, forwarded: \\"/help ${word}`;
  await until(async () => (await modelRequests({ words })).length > 0);
});

test("S5 an audio file taints like another person's text, also when it was not transcribed", async () => {
  const found = async (own: boolean) => {
    const name = `a/telegram/family:${newChat().chat.id}`;
    const origin = { principal: "telegram:7", role: "owner", channel: "telegram" } as const;
    const picture = { ref: "voice-1", voice: true as const, ...(own && { own }) };
    const act = { do: "say" as const, text: script({ text: "ok" }), pictures: [picture], merge: true };
    const reply = { connection: "family", chat: 7 };
    await env.CONVERSATION.getByName(name)["chat.receive"]({ id: "1", origin: { ...origin, reply }, act });
    return await runInDurableObject(env.CONVERSATION.getByName(name), async (_, { storage }) => {
      const turn = () => new Transcript(storage).turns()[0];
      await until(() => turn()?.status !== "running");
      return turn()?.sources;
    });
  };
  expect([await found(false), await found(true)]).toEqual([["*"], []]);
});
