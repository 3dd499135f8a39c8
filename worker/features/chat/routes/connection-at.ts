/**
 * The connection at a webhook's address. The address of one that was made in the console names its home,
 * `/webhooks/telegram/home~family`: the gateway cannot learn it otherwise.
 */

import type { Env } from "../../../kernel/env.ts";
import { CONNECTION_ID, type Connection, findConnection } from "../../../kernel/settings/chat.ts";
import { HOME_ID, isNamedHome } from "../../../kernel/settings/tokens.ts";
import { type ConsolePlatform, connectionOf, isConsolePlatform } from "../platforms/connections.ts";

/** Every request of the platform has this header: one without it wakes no home. */
const MARKS: Record<ConsolePlatform, string> = {
  telegram: "x-telegram-bot-api-secret-token",
  slack: "x-slack-signature",
  discord: "x-signature-ed25519",
};

/** @param place the last part of a webhook's address @throws SettingsError */
export async function connectionAt(
  env: Env,
  channel: string,
  place: string,
  headers: Headers,
): Promise<Connection | undefined> {
  if (CONNECTION_ID.test(place)) return findConnection(env, channel, place);
  const [home = "", name = "", ...more] = place.split("~");
  if (more.length > 0 || !HOME_ID.test(home) || !CONNECTION_ID.test(name)) return undefined;
  if (!isConsolePlatform(channel) || !headers.has(MARKS[channel])) return undefined;
  // Asking for a home that no token names would make one.
  if (!isNamedHome(env, home)) return undefined;
  return await connectionOf(env, home, channel, name);
}
