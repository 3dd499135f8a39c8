/** A person on Telegram. */

import { common, numbers, OWNER, type Person, type Post, timed } from "./person.ts";
import { BOT_NAME, BOT_TOKEN, FakeTelegram } from "./telegram.ts";

const TELEGRAM_SECRET = "test-webhook-secret-of-telegram";

/** In a group a person mentions the bot, or gives a command. */
function toTheBot(text: string): Record<string, unknown> {
  if (text.startsWith("/")) {
    const length = text.search(/\s|$/);
    return { text, entities: [{ type: "bot_command", offset: 0, length }] };
  }
  const mention = `@${BOT_NAME}`;
  return { text: `${mention} ${text}`, entities: [{ type: "mention", offset: 0, length: mention.length }] };
}

const personOf = (id: string) => ({ id: Number(id), is_bot: false, first_name: "P", username: `p${id}` });

export async function onTelegram(post: Post): Promise<Person & { fake: FakeTelegram }> {
  const next = numbers();
  const fake = await FakeTelegram.start();
  const headers = { "x-telegram-bot-api-secret-token": TELEGRAM_SECRET, "content-type": "application/json" };
  const send = (update: Record<string, unknown>, chat: number) =>
    timed(
      post,
      "telegram",
      JSON.stringify(update),
      headers,
      ({ text }) => text,
      () => fake.chat(chat),
    );
  return {
    fake,
    channel: "telegram",
    server: fake.server,
    settings: {
      ...common("telegram"),
      token: BOT_TOKEN,
      secret: TELEGRAM_SECRET,
      base_url: fake.server.url,
      groups: "reads",
    },
    textMax: 4_096,
    buttons: true,
    say(text, from, { delivery, picture, group, thread, fields } = {}) {
      const chat = group ? -Number(from) : Number(from);
      const content = picture
        ? {
            caption: text,
            photo: [
              { file_id: "photo-0", file_size: 90e6 },
              { file_id: "photo-1", file_size: 70 },
            ].reverse(),
          }
        : (fields ?? (group ? toTheBot(text) : { text }));
      const message = {
        message_id: next(),
        from: personOf(from),
        chat: { id: chat, type: group ? "supergroup" : "private" },
        ...(thread !== undefined && { message_thread_id: Number(thread), is_topic_message: true }),
        ...content,
      };
      return send({ update_id: Number(delivery ?? 10_000 + next()), message }, chat);
    },
    edit(text, from) {
      const edited_message = {
        message_id: 1,
        from: { id: Number(from), is_bot: false },
        chat: { id: Number(from), type: "private" },
        edit_date: 1,
        text,
      };
      return send({ update_id: 10_000 + next(), edited_message }, Number(from));
    },
    press(data, from, chat = OWNER, { group = false } = {}) {
      const id = group ? -Number(chat) : Number(chat);
      const message = { message_id: 1, chat: { id, type: group ? "supergroup" : "private" } };
      const callback_query = { id: `q${next()}`, from: personOf(from), message, data };
      return send({ update_id: 10_000 + next(), callback_query }, id);
    },
    async forged() {
      const wrong = { ...headers, "x-telegram-bot-api-secret-token": `${TELEGRAM_SECRET}x` };
      return (await post("/webhooks/telegram/family", { method: "POST", headers: wrong, body: "{}" })).status;
    },
    limit: (seconds) => fake.limit(seconds),
  };
}
