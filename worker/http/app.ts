/** What the app and each of its routers have in common. */
import { HonoBase } from "hono/hono-base";
import { TrieRouter } from "hono/router/trie-router";
import type { Env } from "../env.ts";
import type { ApiToken } from "../settings/tokens.ts";

/** `token`: the caller's, set by `requireToken` or by the front door itself. */
export type App = { Bindings: Env; Variables: { token: ApiToken } };

/** The one router that takes every pattern: Hono's usual choice between two is 2 KiB of gzip more. */
export function newRoutes(): HonoBase<App> {
  return new HonoBase<App>({ router: new TrieRouter() });
}
