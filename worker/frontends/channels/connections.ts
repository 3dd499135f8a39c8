/**
 * Where a connection is found: in the setting CHANNELS, or among those that a home made in its console. The setting wins.
 *
 * A webhook of the console's has its home in its address, `/webhooks/telegram/home~family`: the gateway has nowhere else to
 * learn it from.
 */
import { homeOf } from "../../api/stubs.ts";
import type { Env } from "../../env.ts";
import { isNamedHome } from "../../http/tokens.ts";
import { CONNECTION_ID, type Connection, findConnection } from "../../settings/channels.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import { HOME_ID } from "../../settings/tokens.ts";

/** Platforms that the console connects. */
export const CONSOLE_CHANNELS = ["telegram", "slack", "discord"] as const;
export type ConsoleChannel = (typeof CONSOLE_CHANNELS)[number];

/** What each platform's webhook brings in any case: a request without it wakes no home. */
const MARKS: Record<ConsoleChannel, string> = {
  telegram: "x-telegram-bot-api-secret-token",
  slack: "x-slack-signature",
  discord: "x-signature-ed25519",
};

export function isConsoleChannel(channel: string): channel is ConsoleChannel {
  return (CONSOLE_CHANNELS as readonly string[]).includes(channel);
}

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
  if (!isConsoleChannel(channel) || !headers.has(MARKS[channel])) return undefined;
  // A home that nobody has a token of is not there, and is not made by asking for it.
  if (!isNamedHome(env, home)) return undefined;
  return await connectionOf(env, home, channel, name);
}

/** @throws SettingsError */
export async function connectionOf(
  env: Env,
  home: string,
  channel: string,
  name: string,
): Promise<Connection | undefined> {
  const set = findConnection(env, channel, name);
  if (set?.home === home) return set;
  if (!isConsoleChannel(channel)) return undefined;
  const kept = await homeOf(env, home).connection(channel, name);
  if (kept?.ok === false) throw new SettingsError(kept.error);
  return kept?.value;
}

type Place = { channel: string; connection: string; home: string };

export function webhookPath({ channel, connection, home }: Place, isKept: boolean): string {
  return `/webhooks/${channel}/${isKept ? `${home}~${connection}` : connection}`;
}
