/** The conversations of the signed-in person, as the gateway lists them, page by page. */
import type { ListedConversation } from "@edgecall/client/routes.ts";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { NewsOfPage } from "./use-news.ts";

export type Conversations = {
  /** Undefined until the gateway has answered. */
  list: ListedConversation[] | undefined;
  problem: string | undefined;
  /** Loads more; absent when all are listed. */
  more?: () => void;
  /** Moves a conversation with a new message to the top. */
  note(id: string, title: string): void;
  /** Lists conversations whose titles contain these words; empty = all. */
  search(words: string): void;
  rename(id: string, title: string): void;
  drop(id: string): void;
};

export function useConversations(): Conversations {
  const [list, setList] = useState<ListedConversation[]>();
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<string>();

  const words = useRef("");
  const load = useCallback(async (after?: string) => {
    const asked = words.current;
    try {
      const page = await client.json("GET /v1/conversations", { query: { after, q: asked || undefined } });
      // The search text has changed meanwhile.
      if (asked !== words.current) return;
      setList((all = []) => {
        if (after === undefined && asked !== "") return page.conversations;
        // Those of the answer are newer than what was listed before.
        const [first, rest] = after === undefined ? [page.conversations, all] : [all, page.conversations];
        const known = new Set(first.map(({ id }) => id));
        return [...first, ...rest.filter(({ id }) => !known.has(id))];
      });
      setNext(page.next);
      setProblem(undefined);
    } catch (error) {
      setProblem(errorText(error));
      setList((before = []) => before);
    }
  }, []);
  // A conversation in which something was told comes to the top.
  const newest = useContext(NewsOfPage).items[0]?.key;
  useEffect(() => {
    setNext(null);
    void load();
  }, [load, newest]);
  const search = (text: string) => {
    words.current = text.trim();
    setList(undefined);
    void load();
  };

  return {
    list,
    problem,
    ...(next !== null && { more: () => void load(next) }),
    note: (id, title) =>
      setList((before = []) => {
        const known = before.find((one) => one.id === id);
        return [
          { id, title: known?.title ?? title, last_at: Date.now() },
          ...before.filter((one) => one !== known),
        ];
      }),
    search,
    rename: (id, title) =>
      setList((before) => before?.map((one) => (one.id === id ? { ...one, title } : one))),
    drop: (id) => setList((before) => before?.filter((one) => one.id !== id)),
  };
}
