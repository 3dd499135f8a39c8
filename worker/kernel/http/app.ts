/** The app and each of its routers are made here, so that they have the same bindings, variables and router. */
import type { SpanContext } from "@edgecall/core/trace/context.ts";
import { HonoBase } from "hono/hono-base";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import type { Env } from "../env.ts";
import type { ApiToken } from "../settings/tokens.ts";

/** The span of a request that begins a turn or a call (trace.ts). @property parentId the caller's own span */
type RequestSpan = { context: SpanContext; parentId: string | undefined; route: string };

/**
 * `token`: the caller's, set by `requireToken` or by the front door itself. `session`: the caller brought a session of the console in
 * place of a token; its id tells one browser from another, where that is known. `confirmed`: a passkey confirmed exactly this request.
 */
export type App = {
  Bindings: Env;
  Variables: { token: ApiToken; span?: RequestSpan; session?: { id: string | undefined }; confirmed?: true };
};

/** `TrieRouter` takes every pattern. `SmartRouter` builds it at the first request, and only that of the app itself: not those of its parts. */
export function newRoutes(): HonoBase<App> {
  return new HonoBase<App>({ router: new SmartRouter({ routers: [new TrieRouter()] }) });
}
