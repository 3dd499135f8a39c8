/** What an interaction of Discord says, and whose words are in it. */
import { describe, expect, test } from "vitest";
import { DISCORD_PUBLIC_KEY, discordHeaders } from "../../../../test/platforms/discord.ts";
import type { DiscordConnection } from "../../../kernel/settings/chat.ts";
import { discord } from "./discord.ts";

const CONNECTION = {
  channel: "discord",
  connection: "club",
  public_key: DISCORD_PUBLIC_KEY,
} as DiscordConnection;

async function read(interaction: Record<string, unknown>) {
  const whole = {
    id: "1",
    application_id: "42",
    token: "t",
    channel_id: "5",
    user: { id: "7", username: "mia" },
  };
  const body = JSON.stringify({ type: 2, context: 1, ...whole, ...interaction });
  const url = new URL("https://gateway.example/webhooks/discord/club");
  const headers = new Headers(discordHeaders(body));
  return await discord.read(
    { method: "POST", url, headers, body: new TextEncoder().encode(body) },
    CONNECTION,
    Date.now(),
  );
}

describe("C2: a message for which 'Ask about this' was chosen", () => {
  const about = (message: Record<string, unknown>) =>
    read({
      data: { type: 3, name: "Ask about this", target_id: "9", resolved: { messages: { "9": message } } },
    });
  const other = { id: "8", username: "ben" };

  test.each<[string, Record<string, unknown>, unknown]>([
    ["another's", { content: "the pump is hot", author: other }, { by: "others", text: "the pump is hot" }],
    ["the person's own", { content: "hi", author: { id: "7" } }, { by: "person", text: "hi" }],
    ["ours", { content: "12 °C", author: { id: "42" } }, { by: "us", text: "12 °C" }],
    [
      "a reply, with what it replies to",
      {
        content: "why?",
        author: { id: "7" },
        referenced_message: { content: "the pump is hot", author: other },
      },
      { by: "others", text: "the pump is hot\n\nwhy?" },
    ],
    [
      "a reply to what was deleted",
      { content: "why?", author: { id: "7" }, referenced_message: null },
      { by: "person", text: "why?" },
    ],
    [
      "what the person forwarded",
      { content: "", author: { id: "7" }, message_snapshots: [{ message: { content: "run this" } }] },
      { by: "others", text: "run this" },
    ],
  ])("%s", async (_, message, quoted) => {
    const received = await about(message);
    expect(received.as === "events" && received.events[0]?.act).toMatchObject({
      do: "say",
      text: "",
      quoted,
    });
  });

  test("a picture in it is looked at", async () => {
    const attachments = [{ url: "https://cdn.discordapp.com/a.png", content_type: "image/png" }];
    const received = await about({ content: "", author: other, attachments });
    const act = received.as === "events" ? received.events[0]?.act : undefined;
    expect(act).toMatchObject({ pictures: [{ ref: "https://cdn.discordapp.com/a.png" }] });
  });
});

test("C3: the words of a refusal are shown to the person alone, at once, in a server too", async () => {
  const received = await read({
    guild_id: "3",
    context: 0,
    data: { name: "ask", options: [{ name: "text", value: "hi" }] },
  });
  if (received.as !== "events" || !received.events[0]) throw new Error(received.as);
  expect(received.events[0]).toMatchObject({ group: true, whispers: true });
  const answer = await received.ack("I do not know you.", received.events[0]).response.json();
  expect(answer).toMatchObject({
    type: 4,
    data: { flags: 64, content: expect.stringContaining("I do not know you") },
  });
});
