/** The role that a person has now: what they made or turned on holds for as long as they may use this home. */

import type { Address, Origin } from "../../api/turns.ts";
import { findConnection, type Role, roleInSettings } from "../../settings/chat.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import { AuthSettingsError, apiTokenRecords } from "../../settings/tokens.ts";
import type { HomeContext } from "../context.ts";
import { chatConnectionsOf } from "./chat-connections.ts";
import { sendersOf } from "./senders.ts";
import { tokensOf } from "./tokens.ts";

/** @property role when they were here last @property reply absent: they do not write in a chat app */
export type KnownPerson = Pick<Origin, "principal" | "role" | "channel"> & { reply?: Address };

/** @returns undefined: none */
export function roleNow(home: HomeContext, person: KnownPerson): Role | undefined {
  try {
    return person.reply
      ? roleInChat(home, person, person.reply.connection)
      : roleOfTokens(home, person.principal);
  } catch (error) {
    // A typing mistake in the settings takes nobody's access away.
    if (error instanceof SettingsError || error instanceof AuthSettingsError) return person.role;
    throw error;
  }
}

/** @throws SettingsError */
export function roleInChat(
  context: HomeContext,
  { channel, principal }: Pick<KnownPerson, "channel" | "principal">,
  connection: string,
): Role | undefined {
  const { env, name } = context;
  const inSettings = findConnection(env, channel, connection);
  const settings =
    inSettings?.home === name
      ? inSettings
      : chatConnectionsOf(context)
          .admitting()
          .find((one) => one.channel === channel && one.connection === connection);
  if (!settings) return undefined;
  const sender = principal.slice(channel.length + 1);
  return roleInSettings(settings, sender) ?? sendersOf(context).roleOf({ channel, connection, sender });
}

/** The highest role of the tokens of this name. @throws AuthSettingsError */
export function roleOfTokens(context: HomeContext, principal: string): Role | undefined {
  const { env, name } = context;
  const now = Date.now();
  const roles = [
    ...apiTokenRecords(env).filter((token) => token.home === name && token.name === principal),
    ...tokensOf(context)
      .list()
      .filter((token) => token.name === principal && (token.expires_at ?? now + 1) > now),
  ].map(({ role }) => role);
  return (["owner", "member", "guest"] as const).find((role) => roles.includes(role));
}
