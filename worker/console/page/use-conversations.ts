/** The conversations of who is signed in, as the gateway lists them; a page of them at a time. */
import { useCallback, useEffect, useState } from "preact/hooks";
import { json, wordsOf } from "./api.ts";

export type Listed = { id: string; title: string; last_at: number };
type Page = { conversations: Listed[]; next: string | null; listed_at_most: number };

export type Conversations = {
  /** Undefined until the gateway has answered. */
  list: Listed[] | undefined;
  problem: string | undefined;
  /** Absent: these are all. */
  more?: () => void;
  /** So many are listed and no more: older ones are there, by their id. */
  full: number | undefined;
  /** What was just asked in one stands above the others. */
  note(id: string, title: string): void;
  drop(id: string): void;
};

export function useConversations(): Conversations {
  const [list, setList] = useState<Listed[]>();
  const [next, setNext] = useState<string | null>(null);
  const [most, setMost] = useState(Number.POSITIVE_INFINITY);
  const [problem, setProblem] = useState<string>();

  const load = useCallback(async (after: string | null) => {
    try {
      const page = await json<Page>(`/v1/conversations${after === null ? "" : `?after=${after}`}`);
      setList((before = []) => {
        const known = new Set(before.map(({ id }) => id));
        return [...before, ...page.conversations.filter(({ id }) => !known.has(id))];
      });
      setNext(page.next);
      setMost(page.listed_at_most);
      setProblem(undefined);
    } catch (error) {
      setProblem(wordsOf(error));
      setList((before = []) => before);
    }
  }, []);
  useEffect(() => void load(null), [load]);

  return {
    list,
    problem,
    full: next === null && (list?.length ?? 0) >= most ? most : undefined,
    ...(next !== null && { more: () => void load(next) }),
    note: (id, title) =>
      setList((before = []) => {
        const known = before.find((one) => one.id === id);
        return [
          { id, title: known?.title ?? title, last_at: Date.now() },
          ...before.filter((one) => one !== known),
        ];
      }),
    drop: (id) => setList((before) => before?.filter((one) => one.id !== id)),
  };
}
