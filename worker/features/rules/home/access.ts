/** The role that the maker of a rule has now: a rule holds for as long as they may use this home. */

import type { HomeContext } from "../../../kernel/home/context.ts";
import { tokensOf } from "../../../kernel/home/people/tokens.ts";
import { SettingsError } from "../../../kernel/settings/settings-error.ts";
import { AuthSettingsError, apiTokenRecords } from "../../../kernel/settings/tokens.ts";
import { chatConnectionsOf } from "../../chat/home/channel-connections.ts";
import { sendersOf } from "../../chat/home/senders.ts";
import { findConnection, type Role, roleInSettings } from "../../chat/settings.ts";
import type { Maker } from "./rule-store.ts";

/** @returns undefined: none */
export function roleNow(home: HomeContext, maker: Maker): Role | undefined {
  try {
    return maker.reply
      ? roleInChat(home, maker, maker.reply.connection)
      : roleOfTokens(home, maker.principal);
  } catch (error) {
    // A typing mistake in the settings takes nobody's access away.
    if (error instanceof SettingsError || error instanceof AuthSettingsError) return maker.role;
    throw error;
  }
}

/** @throws SettingsError */
export function roleInChat(
  context: HomeContext,
  { channel, principal }: Pick<Maker, "channel" | "principal">,
  connection: string,
): Role | undefined {
  const connections = chatConnectionsOf(context);
  const senders = sendersOf(context);
  const { env, name } = context;
  const inSettings = findConnection(env, channel, connection);
  const settings =
    inSettings?.home === name
      ? inSettings
      : connections.admitting().find((one) => one.channel === channel && one.connection === connection);
  if (!settings) return undefined;
  const sender = principal.slice(channel.length + 1);
  return roleInSettings(settings, sender) ?? senders.roleOf({ channel, connection, sender });
}

/** The highest role of the tokens of this name. @throws AuthSettingsError */
export function roleOfTokens(context: HomeContext, principal: string): Role | undefined {
  const tokens = tokensOf(context);
  const { env, name } = context;
  const now = Date.now();
  const roles = [
    ...apiTokenRecords(env).filter((token) => token.home === name && token.name === principal),
    ...tokens.list().filter((token) => token.name === principal && (token.expires_at ?? now + 1) > now),
  ].map(({ role }) => role);
  return (["owner", "member", "guest"] as const).find((role) => roles.includes(role));
}
