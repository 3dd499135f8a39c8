/** A list that the gateway sends page by page. One page is held at a time. */
import { useEffect, useState } from "preact/hooks";
import { type Loaded, useLoaded } from "./load.tsx";
import type { Paging } from "./pager.tsx";

type Page = { next: string | null; total: number };

export type Pages<P> = Loaded<P> & { paging: (shown: number) => Paging };

/** @param path without `limit` and `after`; another path begins with its first page @param size of a page */
export function usePages<P extends Page>(path: string, size: number): Pages<P> {
  /** The path, and the cursors of the pages up to this one. */
  const [place, setPlace] = useState<{ path: string; cursors: readonly string[] }>({ path, cursors: [] });
  const cursors = place.path === path ? place.cursors : [];
  const after = cursors.at(-1);
  const query = new URLSearchParams({ limit: String(size), ...(after !== undefined && { after }) });
  const loaded = useLoaded<P>(`${path}${path.includes("?") ? "&" : "?"}${query}`);
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
