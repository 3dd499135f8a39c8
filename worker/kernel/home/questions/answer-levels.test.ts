/** What an answer needs: a press, a tap in a chat or another browser, or a passkey. */
import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { device, hosting, READ, UNLOCK } from "../../../../test/hosted-device.ts";
import { call as mcpCall } from "../../../../test/mcp-requests.ts";
import { SignIn } from "../../../../test/oauth-sign-in.ts";
import { PasskeyBrowser } from "../../../../test/passkey-browser.ts";
import { permissions } from "../../../../test/permission-home.ts";
import { script } from "../../../../test/scripted-model.ts";
import { CHANNEL_SECRETS, TOKENS } from "../../../../test/tokens.ts";
import { AGENTS, gatewayAsks, openQuestions } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, TestBridge } from "../../../../test/workerd.ts";
import type { Button, Line } from "../../../features/chat/platforms/chat-platform.ts";
import { type Content, isPlain } from "../../../features/chat/platforms/format/blocks.ts";
import { telegramHtml } from "../../../features/chat/platforms/format/telegram-html.ts";
import { telegram } from "../../../features/chat/platforms/telegram.ts";

const OWNER = 1;
const LOCK = device("front-door", { line: "lock", tools: [READ, UNLOCK] });
const LAMP = device("kitchen-lamp");
const YES = { answer: "approve" };

let sent: Array<{ chat: number; text: string; buttons: readonly Button[] }> = [];
let updates = 0;
let anna: PasskeyBrowser;

beforeEach(async () => {
  sent = [];
  const note = (line: Line, content: Content, buttons: readonly Button[]) => {
    const text = isPlain(content)
      ? content.blocks.map((block) => (block.kind === "plain" ? block.text : "")).join("\n")
      : telegramHtml(content.blocks);
    sent.push({ chat: Number(line.address.chat), text, buttons });
    return String(sent.length);
  };
  vi.spyOn(telegram, "text").mockImplementation(async (line, content) => note(line, content, []));
  vi.spyOn(telegram, "question").mockImplementation(async (line, content, buttons) =>
    note(line, content, buttons),
  );
  vi.spyOn(telegram, "typing").mockImplementation(async () => undefined);
  vi.spyOn(telegram, "close").mockImplementation(async () => undefined);
  anna = await PasskeyBrowser.signIn(TOKENS.owner);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await reset();
});

function update(body: Record<string, unknown>) {
  updates += 1;
  return ask("/webhooks/telegram/family", {
    method: "POST",
    token: null,
    headers: { "x-telegram-bot-api-secret-token": CHANNEL_SECRETS.telegram },
    body: JSON.stringify({ update_id: updates, ...body }),
  });
}
const privateChat = (id: number) => ({ message_id: 1, chat: { id, type: "private" } });
const writes = (from: number) =>
  update({
    message: {
      ...privateChat(from),
      from: { id: from, first_name: "Anna" },
      text: script({ text: "hello" }),
    },
  });
const presses = async (from: number, data: string | undefined) =>
  await (
    await update({ callback_query: { id: "q", from: { id: from }, message: privateChat(from), data } })
  ).text();
/** The owner has written to the bot, so there is another place where it can be decided. */
const withChat = async () => {
  await writes(OWNER);
  await until(() => sent.some(({ text }) => text.includes("hello")));
};

async function hosted(): Promise<void> {
  const bridge = await hosting([LAMP, LOCK]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "done", tainted: false });
}

const newest = (before: Set<string>) =>
  until(async () => ((await openQuestions()) as Array<{ id: string }>).find(({ id }) => !before.has(id)), {
    what: "a question",
  });
const known = async () => new Set(((await openQuestions()) as Array<{ id: string }>).map(({ id }) => id));

/** @returns the route of its question */
async function commandAsked(agent: string, tool: string): Promise<string> {
  const before = await known();
  void ask(`/v1/agents/${agent}/commands`, {
    method: "POST",
    body: JSON.stringify({ command: "tool", payload: { tool, parameters: { on: true } } }),
  });
  return `POST /v1/questions/${(await newest(before)).id}`;
}

async function programAsked(): Promise<string> {
  const signIn = new SignIn((path, init = {}) => ask(path, { token: null, ...init }), "https://gateway");
  const { access_token } = await signIn.connect(TOKENS.owner, { command: "yes" });
  const before = await known();
  const args = { agent_id: "kitchen-lamp", action: "set", params: { on: true } };
  void mcpCall("edge_call", args, { token: access_token });
  return `POST /v1/questions/${(await newest(before)).id}`;
}

describe("a press in the console", () => {
  test("decides what is harmless and one's own, also where there is a chat", async () => {
    await withChat();
    await hosted();
    expect(await anna.send(await commandAsked("kitchen-lamp", "set"), YES)).toMatchObject({
      status: 200,
      body: { answered_how: "press" },
    });
  });

  test("decides all where nobody has a chat or a passkey, as before", async () => {
    setVariables({ CHANNELS: "[]" });
    await hosted();
    expect((await anna.send(await commandAsked("front-door", "unlock"), YES)).body).toMatchObject({
      answered_how: "press",
    });
    expect((await anna.send(await programAsked(), YES)).body).toMatchObject({ answered_how: "press" });
  });

  test.each([
    ["a program's call", () => hosted().then(programAsked)],
    ["a dangerous one", () => hosted().then(() => commandAsked("front-door", "unlock"))],
    [
      "a call for which a text of others is in the conversation",
      async () =>
        `POST /v1/questions/${(await gatewayAsks("tainted", await TestBridge.connect(AGENTS))).question.id}`,
    ],
  ])("is not enough for %s where somebody has a chat; a second browser is", async (_, asked) => {
    await withChat();
    const route = await asked();
    const answer = await anna.send(route, YES);
    expect(answer).toMatchObject({ status: 403, body: { error: { code: "needs_other_device" } } });
    expect(answer.body.error?.message).toContain("answer in Telegram");
    expect((await anna.send(route, YES)).status).toBe(403);
    const phone = await PasskeyBrowser.signIn(TOKENS.owner);
    expect((await phone.send(route, YES)).body).toMatchObject({ answered_how: "tap on another device" });
  });

  test("of a browser that signs in anew is one of the same browser", async () => {
    await withChat();
    await hosted();
    const route = await programAsked();
    expect((await anna.send(route, YES)).status).toBe(403);
    const again = await anna.signInAgain(TOKENS.owner);
    expect((await again.send(route, YES)).status).toBe(403);
  });

  test("that asks elsewhere reaches the owner's chat, and the tap there decides", async () => {
    await withChat();
    await hosted();
    const route = await programAsked();
    expect((await anna.send(`${route}/elsewhere`)).body).toMatchObject({
      asked: expect.arrayContaining([expect.stringContaining("telegram:1")]),
    });
    const { buttons } = await until(() => sent.find((one) => one.buttons[0]?.data.startsWith("q:")), {
      what: "the chat",
    });
    await presses(OWNER, buttons[0]?.data);
    await until(async () => (await openQuestions()).length === 0);
    const how = await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
      storage.sql.exec("SELECT answered_how FROM question WHERE answer IS NOT NULL").toArray(),
    );
    expect(how).toEqual([{ answered_how: "tap in Telegram" }]);
  });

  test("never accepts a text for good once there is a passkey", async () => {
    await anna.register({ token: TOKENS.owner });
    const bridge = await TestBridge.connectUnread(AGENTS);
    const { question } = await gatewayAsks("accepts", bridge);
    const route = `POST /v1/questions/${question.id}`;
    expect((await anna.send(route, { answer: "accept" })).status).toBe(403);
    const confirmed = await anna.confirmed(route, YES);
    expect(confirmed.body).toMatchObject({ answered_how: "passkey" });
  });
});

describe("a tap in a chat", () => {
  async function unlockInChat() {
    await commandAsked("front-door", "unlock");
    const [question] = (await openQuestions()) as Array<{ id: string }>;
    await anna.send(`POST /v1/questions/${question?.id}/elsewhere`);
    const { buttons } = await until(() => sent.find((one) => one.buttons[0]?.data.startsWith("q:")), {
      what: "the chat",
    });
    return buttons;
  }

  test("confirms a dangerous call until there is a passkey, then only where an owner said so", async () => {
    await withChat();
    await hosted();
    await anna.register({ token: TOKENS.owner });
    sent = [];
    const buttons = await unlockInChat();
    expect(await presses(OWNER, buttons[0]?.data)).toContain("needs a passkey");
    expect(await openQuestions()).toHaveLength(1);
    expect((await anna.send("PUT /v1/passkeys/taps/telegram:1")).status).toBe(403);
    expect((await anna.confirmed("PUT /v1/passkeys/taps/telegram:9")).status).toBe(404);
    expect((await anna.confirmed("PUT /v1/passkeys/taps/telegram:1")).status).toBe(204);
    await presses(OWNER, buttons[0]?.data);
    await until(async () => (await openQuestions()).length === 0);
  });

  const turnsOn = (on: boolean) =>
    update({
      message: {
        ...privateChat(OWNER),
        from: { id: OWNER, first_name: "Anna" },
        text: script(
          { calls: [{ arguments: { agent_id: "kitchen-lamp", action: "set", params: { on } } }] },
          { text: `${on} $results` },
        ),
      },
    });
  const asked = () =>
    until(() => sent.find((one) => one.buttons[0]?.data.startsWith("q:")), { what: "the chat is asked" });

  test("keeps what the card offers, for the person who asked; the next call asks nobody", async () => {
    await withChat();
    await hosted();
    await turnsOn(true);
    const { text, buttons } = await asked();
    expect(buttons.map(({ label }) => label)).toEqual(["Switch on", "No", "Switch on, always"]);
    expect(text).toMatch(
      /“Switch on, always” also allows it .* until .*: on and off, brightness 1–100\. Anything else asks\./,
    );
    // Not of somebody who may not decide it.
    await presses(7, buttons[2]?.data);
    expect(await permissions()).toEqual([]);
    await presses(OWNER, buttons[2]?.data);
    await until(async () => (await permissions()).length === 1, { what: "it is kept" });
    expect(await permissions()).toMatchObject([
      {
        device: "kitchen-lamp",
        actions: { set: { on: { oneOf: [true, false] } } },
        who: { person: "telegram:1" },
        by: "telegram:1",
        how: "tap",
        tainted: false,
      },
    ]);
    await until(() => sent.find((one) => one.text.includes("true done")), { what: "it ran" });
    sent = [];
    await turnsOn(false);
    await until(() => sent.find((one) => one.text.includes("false done")), { what: "it ran by the row" });
    expect(sent.filter((one) => one.buttons[0]?.data.startsWith("q:"))).toEqual([]);
  });

  test("keeps nothing of what is dangerous", async () => {
    await withChat();
    await hosted();
    const buttons = await unlockInChat();
    expect(buttons.map(({ label }) => label)).toEqual(["Run", "No"]);
    const forged = buttons[0]?.data.replace(/:0$/, ":2");
    expect(await presses(OWNER, forged)).toContain("not open any more");
    expect(await permissions()).toEqual([]);
  });
});

describe("a first passkey of a session alone", () => {
  const HOUR = 3_600_000;
  const passkeys = async () =>
    (await anna.send("GET /v1/passkeys")).body.passkeys as Array<{ counts_at: number; harm_at: number }>;
  const toldButtons = async (words = "counts only from") =>
    (await until(() => sent.find(({ text }) => text.includes(words)), { what: "the owners are told" }))
      .buttons;
  const anHourLater = () =>
    runInDurableObject(env.HOME.getByName("a"), (_, { storage }) =>
      storage.sql
        .exec("UPDATE passkey SET counts_at = counts_at - ?, harm_at = harm_at - ?", HOUR, HOUR)
        .toArray(),
    );

  test("needs an owner's chat that could stop it", async () => {
    setVariables({ CHANNELS: "[]" });
    expect(await anna.register({ wait: true })).toMatchObject({
      status: 409,
      body: { error: { code: "nobody_hears" } },
    });
  });

  test("waits an hour: until then it confirms nothing, and a press is what it was", async () => {
    await withChat();
    await hosted();
    const added = await anna.register({ wait: true });
    expect(added).toMatchObject({ status: 201, body: { by: "wait" } });
    expect(Math.abs(Number(added.body.counts_at) - Date.now() - HOUR)).toBeLessThan(60_000);
    const route = await commandAsked("front-door", "unlock");
    expect(
      (await anna.send("POST /v1/passkeys/challenges", { method: "POST", path: "/v1/tokens" })).status,
    ).toBe(403);
    const token = { name: "x", role: "guest", scopes: ["ask"] };
    expect((await anna.send("POST /v1/tokens", token)).status).toBe(201);
    expect((await anna.register({ wait: true })).body.error?.message).toContain("only a first passkey waits");
    await anHourLater();
    expect((await anna.confirmed(route, YES)).body).toMatchObject({ answered_how: "passkey" });
    expect((await anna.send("POST /v1/tokens", token)).status).toBe(403);
  });

  test("counts when an owner lets it in a chat: at once, and an hour later for what may do harm", async () => {
    await withChat();
    await hosted();
    await anna.register({ wait: true });
    const [letIt] = await toldButtons();
    expect(letIt?.label).toBe("Let it count");
    await presses(7, letIt?.data);
    expect((await passkeys())[0]?.counts_at).toBeGreaterThan(Date.now());
    await presses(OWNER, letIt?.data);
    await until(async () => ((await passkeys())[0]?.counts_at ?? 0) <= Date.now());
    expect((await anna.confirmed(await programAsked(), YES)).body).toMatchObject({ answered_how: "passkey" });
    const route = await commandAsked("front-door", "unlock");
    const refused = await anna.confirmed(route, YES);
    expect(refused).toMatchObject({ status: 403, body: { error: { code: "not_confirmed" } } });
    expect(refused.body.error?.message).toContain("is new and confirms what may do harm");
    await anHourLater();
    expect((await anna.confirmed(route, YES)).body).toMatchObject({ answered_how: "passkey" });
  });

  test("counts for everything at once where the owner's chat is one that was named", async () => {
    await withChat();
    await hosted();
    expect((await anna.send("PUT /v1/passkeys/taps/telegram:1")).status).toBe(204);
    await anna.register({ wait: true });
    const [letIt] = await toldButtons();
    await presses(OWNER, letIt?.data);
    await until(async () => ((await passkeys())[0]?.harm_at ?? Number.POSITIVE_INFINITY) <= Date.now());
    const route = await commandAsked("front-door", "unlock");
    expect((await anna.confirmed(route, YES)).body).toMatchObject({ answered_how: "passkey" });
  });

  test("is stopped by an owner, and then none waits for a day", async () => {
    await withChat();
    await anna.register({ wait: true });
    const [letIt, stop] = await toldButtons();
    await presses(OWNER, stop?.data);
    await until(async () => (await passkeys()).length === 0);
    expect(await anna.register({ wait: true })).toMatchObject({
      status: 409,
      body: { error: { code: "stopped" } },
    });
    await presses(OWNER, letIt?.data);
    expect(await passkeys()).toEqual([]);
  });

  test("is not let by a press in the browser, and its session may end it while it waits", async () => {
    await withChat();
    const { body } = await anna.register({ wait: true });
    const [letIt] = await toldButtons();
    const rule = /r:ack:(p-[0-9a-f]{12}):0/.exec(letIt?.data ?? "")?.[1];
    expect((await anna.send(`POST /v1/rules/${rule}/press`, { do: "ack" })).status).toBe(400);
    expect((await passkeys())[0]?.counts_at).toBeGreaterThan(Date.now());
    expect((await anna.send(`DELETE /v1/passkeys/${body.id}`)).status).toBe(204);
  });
});

describe("a new passkey", () => {
  test("is told to owners, and an owner ends it in a chat; nobody else, and no press in a browser", async () => {
    await withChat();
    const added = await anna.register({ token: TOKENS.owner });
    expect(added.status).toBe(201);
    const told = await until(() => sent.find(({ text }) => text.includes("added the passkey")), {
      what: "the owners are told",
    });
    const [button] = told.buttons;
    expect(button?.label).toBe("It wasn't me");
    const rule = /r:stop:(p-[0-9a-f]{12}):0/.exec(button?.data ?? "")?.[1];
    expect((await anna.send(`POST /v1/rules/${rule}/press`, { do: "stop" })).status).toBe(400);
    await presses(7, button?.data);
    expect((await anna.send("GET /v1/passkeys")).body.passkeys).toHaveLength(1);
    await presses(OWNER, button?.data);
    await until(async () => ((await anna.send("GET /v1/passkeys")).body.passkeys as []).length === 0);
    await until(() => sent.find(({ text }) => text.includes("was removed")));
  });

  test("ends with what its holder allowed since, and with nothing from before", async () => {
    await withChat();
    await hosted();
    const allow = async (device: string, parameters: object, bounds?: object) => {
      const before = await known();
      void ask(`/v1/agents/${device}/commands`, {
        method: "POST",
        body: JSON.stringify({ command: "tool", payload: { tool: "set", parameters } }),
      });
      const route = `POST /v1/questions/${(await newest(before)).id}`;
      return await anna.send(route, { answer: "approve", keep: { offer: "always", bounds } });
    };
    expect((await allow("kitchen-lamp", { on: true }, { on: { is: true } })).status).toBe(200);
    await anna.register({ token: TOKENS.owner });
    expect((await allow("kitchen-lamp", { brightness_pct: 10 })).status).toBe(200);
    const told = await until(() => sent.find(({ text }) => text.includes("added the passkey")));
    await presses(OWNER, told.buttons[0]?.data);
    const permissions = async () =>
      (await anna.send("GET /v1/permissions?ended=yes")).body.permissions as Array<{
        actions: object;
        ended: { why: string; by: string } | null;
      }>;
    await until(async () => (await permissions()).some(({ ended }) => ended !== null));
    expect(await permissions()).toMatchObject([
      { actions: { set: { brightness_pct: {} } }, ended: { why: "not_me", by: "telegram:1" } },
      { actions: { set: { on: {} } }, ended: null },
    ]);
  });
});

describe("a permission's message", () => {
  test("has a button that ends all that this yes made, for its people and owners", async () => {
    await withChat();
    await hosted();
    const asked = async (text: string) => {
      const before = await known();
      await update({ message: { ...privateChat(OWNER), from: { id: OWNER, first_name: "Anna" }, text } });
      return (await newest(before)).id;
    };
    const set = (params: object) => ({ arguments: { agent_id: "kitchen-lamp", action: "set", params } });
    const both = { calls: [set({ on: true }), set({ brightness_pct: 10 })] };
    const keep = async (id: string, body: object = {}) => {
      const question = (
        (await openQuestions()) as Array<{ id: string; members?: Array<{ id: string }> }>
      ).find((one) => one.id === id);
      const questions = question?.members?.map((one) => one.id);
      const kept = { offer: "always", ...(questions && { questions }), ...body };
      return await ask(`/v1/questions/${id}`, {
        method: "POST",
        body: JSON.stringify({ answer: "approve", keep: kept }),
      });
    };
    // Another yes, which stays.
    const route = await commandAsked("kitchen-lamp", "set");
    expect((await keep(route.split("/").at(-1) ?? "")).status).toBe(200);
    const answered = await keep(await asked(script(both, { text: "done" })), { who: "everybody" });
    expect([answered.status, await answered.text()]).toEqual([200, expect.anything()]);
    const list = async () =>
      (
        (await (await ask("/v1/permissions?ended=yes")).json()) as {
          permissions: Array<{ who: unknown; ended: { why: string } | null }>;
        }
      ).permissions;
    expect((await list()).map(({ who }) => who)).toEqual(["everybody", "everybody", { person: "anna" }]);
    // Anna's token has no chat: the message is for those of her chat account.
    const rows = (await list()) as unknown as Array<{ id: string }>;
    const mark = `g-${rows.map(({ id }) => id.replaceAll("-", "").slice(0, 12))[0]}`;
    const press = (token: string, rule = mark) =>
      ask(`/v1/rules/${rule}/press`, { method: "POST", token, body: JSON.stringify({ do: "stop" }) });
    expect(await (await press(TOKENS.member)).json()).toMatchObject({ done: false });
    expect(await (await press(TOKENS.owner, "g-000000000000")).json()).toMatchObject({ done: false });
    expect((await list()).every(({ ended }) => ended === null)).toBe(true);
    expect(await (await press(TOKENS.owner)).json()).toMatchObject({
      done: true,
      text: expect.stringContaining("2 permissions have ended"),
    });
    expect((await list()).map(({ ended }) => ended?.why)).toEqual(["not_me", "not_me", undefined]);
    expect(await (await press(TOKENS.owner)).json()).toMatchObject({ text: "It has ended already." });
  });
});
