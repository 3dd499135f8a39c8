/** A browser or topic is told, and its buttons count, for as long as whoever turned it on may use this home. */
import { apiTokenRecords } from "../../../kernel/settings/tokens.ts";
import type { HomeStores } from "../../../kernel/home/context.ts";
import type { Outlet } from "./outlet-store.ts";

/** Its token may be revoked since. */
export function hasAccess(
  { tokens, env, name }: HomeStores,
  { principal, token }: Outlet,
  now: number,
): boolean {
  return token === null
    ? apiTokenRecords(env).some((record) => record.home === name && record.name === principal)
    : tokens.get(token, name, now) !== undefined;
}
