/** A list that the gateway sends page by page. One page is held at a time. */
import { type AnswerOf, type Arguments, addressOf } from "@edgecall/client/client.ts";
import type { Routes } from "@edgecall/client/routes.ts";
import { useEffect, useState } from "preact/hooks";
import { type Loaded, useLoaded } from "./load.tsx";
import type { Paging } from "./pager.tsx";

type Listing = "GET /v1/agents" | "GET /v1/keys";
type Filter<R extends Listing> = Omit<NonNullable<Routes[R]["query"]>, "limit" | "after">;

export type Pages<R extends Listing> = Loaded<AnswerOf<R>> & { paging: (shown: number) => Paging };

/** @param filter another one begins with its first page @param size of a page */
export function usePages<R extends Listing>(route: R, filter: Filter<R>, size: number): Pages<R> {
  const path = addressOf(route, { query: filter });
  /** The path, and the cursors of the pages up to this one. */
  const [place, setPlace] = useState<{ path: string; cursors: readonly string[] }>({ path, cursors: [] });
  const cursors = place.path === path ? place.cursors : [];
  const after = cursors.at(-1);
  const query = { ...filter, limit: size, after };
  const loaded = useLoaded(route, ...([{ query }] as unknown as Arguments<R>));
  const { value, stale, problem } = loaded;
  // A search that comes back to an earlier one begins with the first page too.
  useEffect(() => setPlace({ path, cursors: [] }), [path]);
  useEffect(() => {
    // The list has changed, and this page with it.
    if (problem !== undefined && after !== undefined) setPlace({ path, cursors: [] });
  }, [problem]);
  // A page that is on its way is not turned again.
  const next = stale ? null : (value?.next ?? null);
  return {
    ...loaded,
    paging: (shown) => ({
      from: cursors.length * size,
      shown,
      total: value?.total ?? 0,
      ...(cursors.length > 0 && !stale && { back: () => setPlace({ path, cursors: cursors.slice(0, -1) }) }),
      ...(next !== null && { forward: () => setPlace({ path, cursors: [...cursors, next] }) }),
    }),
  };
}
