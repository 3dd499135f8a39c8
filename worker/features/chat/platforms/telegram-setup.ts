/** Connects Telegram with getMe, setWebhook, getWebhookInfo and deleteWebhook. */
import { check, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import type { Deliveries } from "../../../kernel/api/answers.ts";
import type { TelegramConnection } from "../../../kernel/settings/chat.ts";
import { postJson } from "./platform-request.ts";
import type { Setup } from "./platform-setup.ts";

/** The updates that `telegram.ts` reads; Telegram does not deliver others. */
export const ALLOWED_UPDATES = ["message", "callback_query"];

const Me = z.looseObject({ id: z.int(), first_name: z.string(), username: z.optional(z.string()) });
const WebhookInfo = z.looseObject({
  url: z.string(),
  pending_update_count: z.optional(z.int()),
  last_error_date: z.optional(z.int()),
  last_error_message: z.optional(z.string()),
});

export const telegramSetup: Setup<TelegramConnection> = {
  async account(connection) {
    const me = await ask(connection, "getMe", Me);
    if (!me.ok) return me;
    const { first_name, username } = me.value;
    if (username === undefined) return { ok: true, value: { name: first_name } };
    return { ok: true, value: { name: `@${username}`, link: `https://t.me/${username}` } };
  },

  async install(connection, address) {
    const done = await ask(connection, "setWebhook", z.literal(true), {
      url: address,
      secret_token: connection.secret,
      allowed_updates: ALLOWED_UPDATES,
    });
    return done.ok ? { ok: true, value: [] } : done;
  },

  async poll(connection, mayEndWebhook) {
    const info = await ask(connection, "getWebhookInfo", WebhookInfo);
    if (!info.ok) return info;
    const { url } = info.value;
    if (url === "") return { ok: true, value: [] };
    if (!mayEndWebhook)
      return {
        ok: true,
        value: [
          `This bot's messages go to ${url}, so they cannot be fetched from here. "Deliver here" ends that.`,
        ],
      };
    // Messages that wait there are kept, and fetched.
    const done = await ask(connection, "deleteWebhook", z.literal(true));
    return done.ok ? { ok: true, value: [] } : done;
  },

  async deliveries(connection): Promise<Parsed<Deliveries>> {
    const info = await ask(connection, "getWebhookInfo", WebhookInfo);
    if (!info.ok) return info;
    const { url, pending_update_count, last_error_date, last_error_message } = info.value;
    return {
      ok: true,
      value: {
        webhook: url === "" ? null : url,
        ...(pending_update_count !== undefined && { waiting: pending_update_count }),
        ...(last_error_message !== undefined && { last_error: last_error_message }),
        ...(last_error_date !== undefined && { last_error_at: last_error_date * 1_000 }),
      },
    };
  },

  async uninstall(connection) {
    await ask(connection, "deleteWebhook", z.literal(true));
  },
};

async function ask<T>(
  { base_url, token }: TelegramConnection,
  method: string,
  result: z.ZodMiniType<T>,
  body: Record<string, unknown> = {},
): Promise<Parsed<T>> {
  const reply = await postJson(`telegram ${method}`, `${base_url}/bot${token}/${method}`, body);
  if (reply.status === 200 && reply.body.ok === true) return check(result, reply.body.result);
  if (reply.status === 401 || reply.status === 404)
    return { ok: false, error: "Telegram does not know this token. @BotFather shows it under /mybots." };
  return {
    ok: false,
    error: `Telegram refused ${method}: ${String(reply.body.description ?? reply.status)}`,
  };
}
