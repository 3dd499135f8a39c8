/** The rights that a person of the home has now, by their principal: the name of a token, or the sender of a chat app. */
import { type Role, readConnections, roleInSettings } from "../../settings/chat.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import { AuthSettingsError, apiTokenRecords } from "../../settings/tokens.ts";
import type { HomeContext } from "../context.ts";
import { roleOfTokens } from "../people/roles.ts";
import { sendersOf } from "../people/senders.ts";
import { tokensOf } from "../people/tokens.ts";
import { connectionsOf } from "./reach.ts";

const HIGHEST_FIRST = ["owner", "member", "guest"] as const;

/** @returns undefined: the settings cannot be read; without a role the person is gone */
export function rightsOf(
  home: HomeContext,
  principal: string,
): { role: Role | undefined; approves: boolean } | undefined {
  const [channel = ""] = principal.split(":", 1);
  try {
    // `connectionsOf` goes on without those of settings that cannot be read: its people would be gone.
    readConnections(home.env);
    if (channel === principal || connectionsOf(home).every((one) => one.channel !== channel))
      return { role: roleOfTokens(home, principal), approves: mayTokenApprove(home, principal) };
    const roles = rolesInChat(home, principal, channel);
    return {
      role: HIGHEST_FIRST.find((role) => roles.some((one) => one.role === role)),
      approves: roles.some(({ approves }) => approves),
    };
  } catch (error) {
    if (error instanceof AuthSettingsError || error instanceof SettingsError) return undefined;
    throw error;
  }
}

/** @param channel by which the person came */
export function mayApprove(
  home: HomeContext,
  { principal, channel }: { principal: string; channel: string },
): boolean {
  const isChat = connectionsOf(home).some((one) => one.channel === channel);
  if (!isChat) return mayTokenApprove(home, principal);
  return rolesInChat(home, principal, channel).some(({ approves }) => approves);
}

function rolesInChat(
  home: HomeContext,
  principal: string,
  channel: string,
): { role: Role; approves: boolean }[] {
  const sender = principal.slice(channel.length + 1);
  return connectionsOf(home)
    .filter((one) => one.channel === channel)
    .flatMap((one) => {
      const role =
        roleInSettings(one, sender) ??
        sendersOf(home).roleOf({ channel, connection: one.connection, sender });
      return role === undefined ? [] : [{ role, approves: one.approve.includes(role) }];
    });
}

function mayTokenApprove(context: HomeContext, principal: string): boolean {
  const { env, name } = context;
  const now = Date.now();
  try {
    return [
      ...apiTokenRecords(env).filter((token) => token.home === name),
      ...tokensOf(context)
        .list()
        .filter((token) => (token.expires_at ?? now + 1) > now),
    ].some((token) => token.name === principal && token.scopes.includes("approve"));
  } catch (error) {
    if (error instanceof AuthSettingsError) return false;
    throw error;
  }
}
