/** The conversations of the signed-in person, as the gateway lists them, page by page. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { json, wordsOf } from "./api.ts";

export type Listed = { id: string; title: string; last_at: number };
type Page = { conversations: Listed[]; next: string | null };

export type Conversations = {
  /** Undefined until the gateway has answered. */
  list: Listed[] | undefined;
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
  const [list, setList] = useState<Listed[]>();
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<string>();

  const words = useRef("");
  const load = useCallback(async (after: string | null) => {
    const asked = words.current;
    const query = new URLSearchParams({
      ...(after !== null && { after }),
      ...(asked !== "" && { q: asked }),
    });
    try {
      const page = await json<Page>(`/v1/conversations?${query}`);
      // The search text has changed meanwhile.
      if (asked !== words.current) return;
      setList((all = []) => {
        const before = after === null && asked !== "" ? [] : all;
        const known = new Set(before.map(({ id }) => id));
        return [...before, ...page.conversations.filter(({ id }) => !known.has(id))];
      });
      setNext(page.next);
      setProblem(undefined);
    } catch (error) {
      setProblem(wordsOf(error));
      setList((before = []) => before);
    }
  }, []);
  useEffect(() => void load(null), [load]);
  const search = (text: string) => {
    words.current = text.trim();
    setList(undefined);
    void load(null);
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
