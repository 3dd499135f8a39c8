/** The news of this browser: asked for again while a person looks, with the marks of what was seen in its storage. */
import { createContext } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { type Loaded, useLoaded } from "./load.tsx";
import { isUnread, type NewsItem, newsOf, type Rule, readSeen, type Seen } from "./news.ts";
import { useRepeated } from "./use-repeated.ts";

/** In the browser's storage. */
const SEEN = "edgecall.seen";

export type News = {
  /** False until the gateway has answered. */
  loaded: boolean;
  rules: readonly Rule[];
  items: readonly NewsItem[];
  unread: readonly NewsItem[];
  /** Everything that there is now is seen. */
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
  const [seen, setSeen] = useState<Seen>(() => readSeen(localStorage.getItem(SEEN), Date.now()));
  useRepeated(reload);
  useEffect(() => {
    // Another window of this browser has seen something.
    const onStorage = ({ key, newValue }: StorageEvent) => {
      if (key === SEEN) setSeen(readSeen(newValue, Date.now()));
    };
    addEventListener("storage", onStorage);
    return () => removeEventListener("storage", onStorage);
  }, []);
  useEffect(() => localStorage.setItem(SEEN, JSON.stringify(seen)), [seen]);
  const seeAll = useCallback(() => setSeen({ all: Date.now(), conversations: {} }), []);
  const see = useCallback(
    (conversation: string) =>
      setSeen(({ all, conversations }) => ({
        all,
        conversations: { ...conversations, [conversation]: Date.now() },
      })),
    [],
  );
  const rules = value?.rules ?? [];
  const items = newsOf(rules);
  const unread = items.filter((item) => isUnread(item, seen));
  return { loaded: value !== undefined, rules, items, unread, seeAll, see, reload };
}
