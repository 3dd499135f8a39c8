/** The conversations of the signed-in person, as the gateway lists them, page by page. */
import type { ListedConversation } from "@edgecall/client/routes.ts";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";

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
        const before = after === undefined && asked !== "" ? [] : all;
        const known = new Set(before.map(({ id }) => id));
        return [...before, ...page.conversations.filter(({ id }) => !known.has(id))];
      });
      setNext(page.next);
      setProblem(undefined);
    } catch (error) {
      setProblem(errorText(error));
      setList((before = []) => before);
    }
  }, []);
  useEffect(() => void load(), [load]);
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
