/** A browser or topic is told, and its buttons count, for as long as whoever turned it on may use this home. */

import type { HomeContext } from "../../../kernel/home/context.ts";
import { tokensOf } from "../../../kernel/home/people/tokens.ts";
import { apiTokenRecords } from "../../../kernel/settings/tokens.ts";
import type { Subscription } from "./subscription-store.ts";

/** Its token may be revoked since. */
export function hasAccess(context: HomeContext, { principal, token }: Subscription, now: number): boolean {
  const { env, name } = context;
  return token === null
    ? apiTokenRecords(env).some((record) => record.home === name && record.name === principal)
    : tokensOf(context).get(token, name, now) !== undefined;
}
