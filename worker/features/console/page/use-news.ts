/** The news of this browser: asked for again while a person looks, with the marks of what was seen in its storage. */
import { createContext } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Loaded, useLoaded } from "./load.tsx";
import {
  isUnread,
  type NewsItem,
  newestSeen,
  newsOf,
  type Rule,
  readSeen,
  type Seen,
  seenOf,
} from "./news.ts";
import { useRepeated } from "./use-repeated.ts";

/** In the browser's storage. */
const SEEN = "edgecall.seen";

export type News = {
  /** False until the gateway has answered. */
  loaded: boolean;
  rules: readonly Rule[];
  items: readonly NewsItem[];
  unread: readonly NewsItem[];
  /** Everything that is loaded is seen. */
  seeAll: () => void;
  see: (conversation: string) => void;
  reload: () => void;
};

export const NewsOfPage = createContext<News>({
  loaded: false,
  rules: [],
  items: [],
  unread: [],
  seeAll: () => {},
  see: () => {},
  reload: () => {},
});

export function useNews(): News {
  const { value, reload }: Loaded<{ rules: Rule[] }> = useLoaded("GET /v1/rules");
  const [seen, setSeen] = useState(storedSeen);
  useRepeated(reload);
  useEffect(() => {
    // Another window of this browser has seen something.
    const onStorage = ({ key }: StorageEvent) => {
      if (key === SEEN) setSeen(storedSeen());
    };
    addEventListener("storage", onStorage);
    return () => removeEventListener("storage", onStorage);
  }, []);
  const loaded = value !== undefined;
  const rules = value?.rules ?? [];
  const items = newsOf(rules);
  const mark = (conversation?: string) => {
    if (!loaded) return;
    const own = seenOf(items, conversation);
    const next = newestSeen(storedSeen() ?? own, own);
    localStorage.setItem(SEEN, JSON.stringify(next));
    setSeen(next);
  };
  // A first visit has no news: all of it happened before.
  const isFirst = loaded && seen === undefined;
  useEffect(() => {
    if (isFirst) mark();
  }, [isFirst]);
  const unread = seen ? items.filter((item) => isUnread(item, seen)) : [];
  return { loaded, rules, items, unread, seeAll: () => mark(), see: mark, reload };
}

/** Read each time: another window may have written it. */
function storedSeen(): Seen | undefined {
  return readSeen(localStorage.getItem(SEEN));
}
