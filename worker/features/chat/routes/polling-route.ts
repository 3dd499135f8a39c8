/**
 * `/v1/polling`: the bots whose updates a program on the gateway's machine fetches (local/polling.ts), with what it needs to
 * fetch them and to hand them over. Only where POLLING_TOKEN is set.
 */

import type { PolledBot, PolledBots } from "../../../kernel/api/answers.ts";
import type { Env } from "../../../kernel/env.ts";
import { newRoutes } from "../../../kernel/http/app.ts";
import { checkCredential } from "../../../kernel/http/auth.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { json, route } from "../../../kernel/http/route.ts";
import { readConnections, type TelegramConnection } from "../../../kernel/settings/chat.ts";
import { namedHomes } from "../../../kernel/settings/tokens.ts";
import { chatAt } from "../chat-api.ts";
import { webhookPath } from "../platforms/connections.ts";
import { isSame } from "../platforms/signature.ts";
import { ALLOWED_UPDATES } from "../platforms/telegram-setup.ts";
import { pollingToken } from "../polling.ts";

export const polling = newRoutes();

/**
 * The bots whose updates the program beside the Worker fetches, for that program alone: it shows POLLING_TOKEN. 404 where nothing
 * is fetched.
 */
route(polling, "GET /v1/polling", {}, async (c) => {
  const token = pollingToken(c.env);
  if (token === undefined) throw new HttpError(404, "not_found", "no updates are fetched for this gateway");
  const shown = c.req.header("authorization") ?? "";
  const isPoller = await checkCredential(
    c,
    async () => (await isSame(shown, `Bearer ${token}`)) || undefined,
  );
  if (!isPoller) throw new HttpError(401, "unauthorized", "the polling token is wrong");
  return json<PolledBots>(c, { bots: await polledBots(c.env) });
});

async function polledBots(env: Env): Promise<PolledBot[]> {
  const set = readConnections(env).filter((one) => one.channel === "telegram");
  const isSet = (home: string, name: string) =>
    set.some((one) => one.home === home && one.connection === name);
  const stored = await Promise.all(
    namedHomes(env).map(async (home) => {
      const names = (await chatAt(env, home).connections())
        .filter(({ channel, connection }) => channel === "telegram" && !isSet(home, connection))
        .map(({ connection }) => chatAt(env, home).connection("telegram", connection));
      // One that cannot be decrypted is no reason to leave the others alone; its Check says so.
      return (await Promise.all(names)).flatMap((one) => (one?.ok ? [one.value as TelegramConnection] : []));
    }),
  );
  return [...set.map((one) => polledBot(one, false)), ...stored.flat().map((one) => polledBot(one, true))];
}

function polledBot(connection: TelegramConnection, isStored: boolean): PolledBot {
  const { home, connection: name, token, secret, base_url } = connection;
  const path = webhookPath(connection, isStored);
  return { home, connection: name, token, secret, base_url, path, allowed_updates: [...ALLOWED_UPDATES] };
}
