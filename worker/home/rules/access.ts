/** A rule holds for as long as its maker may use this home: that is looked at when it is made and each time that it fires. */
import { logInfo } from "../../log.ts";
import { findConnection, type Role, roleInSettings } from "../../settings/channels.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import { AuthSettingsError, apiTokenRecords } from "../../settings/tokens.ts";
import type { HomeContext } from "../context.ts";
import type { Maker, RuleRow } from "./rule-store.ts";

/** Ends a rule whose maker may not have it any more. Nobody is told: the conversation is that person's. @returns false: it has ended */
export function stillHolds(home: HomeContext, row: RuleRow): boolean {
  const why = problemOf(home, row);
  if (why === undefined) return true;
  logInfo("rule.orphaned", { rule: row.id, reason: why });
  home.rules.put({ ...row, status: "orphaned", why, due: null });
  return false;
}

function problemOf(home: HomeContext, row: RuleRow): string | undefined {
  const role = roleNow(home, row.maker);
  if (role === undefined) return "whoever made it has no access any more";
  if (role === "guest") return "whoever made it is a guest now";
  const isCritical = row.kind === "watch" && row.rule.severity === "critical";
  return isCritical && role !== "owner"
    ? "whoever made it is no owner any more, and it is critical"
    : undefined;
}

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
  { env, name, connections, senders }: HomeContext,
  { channel, principal }: Pick<Maker, "channel" | "principal">,
  connection: string,
): Role | undefined {
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
export function roleOfTokens({ env, name, tokens }: HomeContext, principal: string): Role | undefined {
  const now = Date.now();
  const roles = [
    ...apiTokenRecords(env).filter((token) => token.home === name && token.name === principal),
    ...tokens.list().filter((token) => token.name === principal && (token.expires_at ?? now + 1) > now),
  ].map(({ role }) => role);
  return (["owner", "member", "guest"] as const).find((role) => roles.includes(role));
}
