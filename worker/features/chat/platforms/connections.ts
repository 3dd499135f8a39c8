/** A connection is found in the setting CHANNELS, or among those that a home made in its console. The setting wins. */

import type { Env } from "../../../kernel/env.ts";
import { type Connection, findConnection } from "../../../kernel/settings/chat.ts";
import { SettingsError } from "../../../kernel/settings/settings-error.ts";
import { chatAt } from "../chat-api.ts";

/** Platforms that the console can connect. */
export const CONSOLE_PLATFORMS = ["telegram", "slack", "discord"] as const;
export type ConsolePlatform = (typeof CONSOLE_PLATFORMS)[number];

export function isConsolePlatform(channel: string): channel is ConsolePlatform {
  return (CONSOLE_PLATFORMS as readonly string[]).includes(channel);
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
  if (!isConsolePlatform(channel)) return undefined;
  const stored = await chatAt(env, home).connection(channel, name);
  if (stored?.ok === false) throw new SettingsError(stored.error);
  return stored?.value;
}

type Place = { channel: string; connection: string; home: string };

export function webhookPath({ channel, connection, home }: Place, isStored: boolean): string {
  return `/webhooks/${channel}/${isStored ? `${home}~${connection}` : connection}`;
}
