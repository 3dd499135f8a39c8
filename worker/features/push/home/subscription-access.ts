/** A browser or topic is told, and its buttons count, for as long as the token that turned it on. */

import type { Viewer } from "../../../kernel/api/may-see.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { tokensOf } from "../../../kernel/home/people/tokens.ts";
import { type ApiToken, apiTokenRecords } from "../../../kernel/settings/tokens.ts";
import type { Subscription } from "./subscription-store.ts";

/** From many rights to few. */
const ROLES = ["owner", "member", "guest"] as const;

/**
 * Returns what its buttons may do. Of one that was turned on with a token of the settings only the name is known: it may do what each
 * token of that name may.
 * @returns undefined: its token was revoked or has ended @throws AuthSettingsError
 */
export function viewerOf(
  context: HomeContext,
  { principal, token }: Pick<Subscription, "principal" | "token">,
  now: number,
): Viewer | undefined {
  const { env, name } = context;
  const tokens: readonly ApiToken[] =
    token === null
      ? apiTokenRecords(env).filter((record) => record.home === name && record.name === principal)
      : [tokensOf(context).get(token, name, now) ?? []].flat();
  const [first, ...others] = tokens;
  if (!first) return undefined;
  const role = ROLES[Math.max(...tokens.map((one) => ROLES.indexOf(one.role)))] ?? "guest";
  const scopes = first.scopes.filter((scope) => others.every((one) => one.scopes.includes(scope)));
  return { name: principal, role, scopes };
}
