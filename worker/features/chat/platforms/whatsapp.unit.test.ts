/** What people send on WhatsApp: each message is read by itself, and each has an answer. */
import { describe, expect, test } from "vitest";
import { whatsappHeaders } from "../../../../test/platforms/whatsapp.ts";
import type { WhatsAppConnection } from "../../../kernel/settings/chat.ts";
import { whatsapp } from "./whatsapp.ts";

const CONNECTION = {
  channel: "whatsapp",
  connection: "phone",
  secret: "an app secret",
  phone_number_id: "111",
} as WhatsAppConnection;
const OUR_NUMBER = "49301234";

async function read(messages: unknown, more: Record<string, unknown> = {}) {
  const metadata = { phone_number_id: "111", display_phone_number: "+49 30 1234" };
  const value = { metadata, contacts: [{ wa_id: "491", profile: { name: "Mia" } }], messages, ...more };
  const body = JSON.stringify({ entry: [{ changes: [{ value }] }] });
  const headers = new Headers(whatsappHeaders(body, CONNECTION.secret));
  const url = new URL("https://gateway.example/webhooks/whatsapp/phone");
  return await whatsapp.read(
    { method: "POST", url, headers, body: new TextEncoder().encode(body) },
    CONNECTION,
    Date.now(),
  );
}

async function events(messages: unknown, more?: Record<string, unknown>) {
  const received = await read(messages, more);
  return received.as === "events" ? received.events : received.as;
}

async function act(message: Record<string, unknown>) {
  const found = await events([{ id: "wamid.1", from: "491", ...message }]);
  return typeof found === "string" ? found : found[0]?.act;
}

describe("C10: each message has an answer", () => {
  const QUESTION = "0b0e2a1c-0000-4000-8000-000000000001";
  test.each<[string, Record<string, unknown>, unknown]>([
    ["unsupported", { type: "unsupported", errors: [{ code: 131_051 }] }, { unread: "this kind of message" }],
    ["an order", { type: "order", order: { product_items: [] } }, { unread: "an order" }],
    ["a type of tomorrow", { type: "hologram" }, { unread: "this kind of message" }],
    ["an empty text", { type: "text", text: { body: " " } }, { unread: "this kind of message" }],
    [
      "a choice of a list of ours",
      {
        type: "interactive",
        interactive: { type: "list_reply", list_reply: { id: `q:${QUESTION}:1`, title: "b" } },
      },
      { do: "press", question: QUESTION, choice: 1 },
    ],
    [
      "another choice of a list",
      {
        type: "interactive",
        interactive: { type: "list_reply", list_reply: { id: "x", title: "The second" } },
      },
      { do: "say", text: "The second" },
    ],
    [
      "a quick reply below a template",
      { type: "button", button: { text: "Yes", payload: "yes" } },
      { do: "say", text: "Yes" },
    ],
    ["a text of an odd form", { type: "text", text: "hi" }, { unread: "this kind of message" }],
  ])("%s", async (_, message, wanted) => {
    expect(await act(message)).toMatchObject(wanted as object);
  });

  test.each(["reaction", "system"])("%s is nothing that a person says", async (type) => {
    expect(await act({ type })).toBe("handled");
  });

  test("an odd message does not lose the others of its request", async () => {
    const hi = { id: "wamid.3", from: "491", type: "text", text: { body: "hi" } };
    const odd = [null, 5, { id: 7 }, { id: "wamid.2", from: "491", type: "image", image: "x" }];
    const more = { contacts: [null, { wa_id: 5 }], statuses: [null, { status: 3 }] };
    const found = await events([...odd, hi], more);
    expect(found).toMatchObject([
      { delivery: "wwamid.2", act: { unread: "this kind of message" } },
      { delivery: "wwamid.3", act: { text: "hi" } },
    ]);
  });
});

describe("C10: a group is not private", () => {
  const group = "Y2FwaV9ncm91cDox/NT=";
  const inGroup = (more: Record<string, unknown>) =>
    events([{ id: "wamid.1", from: "491", type: "text", group_id: group, ...more }]);

  test("it is its own conversation, and the answer goes there", async () => {
    const found = await inGroup({ text: { body: `@${OUR_NUMBER} is it cold?` } });
    expect(found).toMatchObject([
      { group: true, sender: { id: "491" }, address: { to: group, group: true } },
    ]);
    expect(found[0]).toHaveProperty("conversation", "phone:group-Y2FwaV9ncm91cDox-NT-");
  });

  test("no person's private chat has its name", async () => {
    const connection = { connection: "phone" } as Parameters<NonNullable<typeof whatsapp.privateChat>>[0];
    expect(whatsapp.privateChat?.(connection, "group-Y2FwaV9ncm91cDox-NT-")).toBeUndefined();
    expect(whatsapp.privateChat?.(connection, "491")).toMatchObject({ conversation: "phone:491" });
    expect(
      await events([
        { id: "wamid.1", from: "group-Y2FwaV9ncm91cDox-NT-", type: "text", text: { body: "hi" } },
      ]),
    ).toBe("handled");
  });

  test.each<[string, Record<string, unknown>, boolean]>([
    ["a sentence", { text: { body: "hi all" } }, false],
    ["a command", { text: { body: "/status" } }, true],
    ["a reply to us", { text: { body: "why?" }, context: { from: OUR_NUMBER, id: "wamid.0" } }, true],
    ["a reply to another", { text: { body: "why?" }, context: { from: "492", id: "wamid.0" } }, false],
  ])("%s", async (_, message, isForUs) => {
    expect((await inGroup(message)) !== "handled").toBe(isForUs);
  });
});

describe("C2: what a message replies to", () => {
  test.each([
    ["us", OUR_NUMBER, { by: "us", message: "wamid.0" }],
    ["the person's own message", "491", { by: "person", message: "wwamid.0" }],
  ])("%s", async (_, from, quoted) => {
    expect(
      await act({ type: "text", text: { body: "why?" }, context: { from, id: "wamid.0" } }),
    ).toMatchObject({
      text: "why?",
      quoted,
    });
  });
});
