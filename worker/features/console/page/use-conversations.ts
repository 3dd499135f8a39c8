/** The conversations of the signed-in person, as the gateway lists them, page by page. */
import type { ListedConversation } from "@edgecall/client/routes.ts";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { type Row, withFirstPage, withMessage, withNextPage } from "./conversation-rows.ts";
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

type Change = (rows: readonly Row[]) => Row[];

export function useConversations(): Conversations {
  const [list, setList] = useState<Row[]>();
  const [next, setNext] = useState<string | null>(null);
  const [problem, setProblem] = useState<string>();

  const words = useRef("");
  /** Counts the loads of a first page, and which of them is shown. */
  const loads = useRef(0);
  const shown = useRef(0);
  /** Changes that were made here. An answer that was asked for before one does not know of it. */
  const changes = useRef<Change[]>([]);
  const load = useCallback(async (after?: string) => {
    const asked = words.current;
    if (after === undefined) loads.current += 1;
    const nth = loads.current;
    const since = changes.current.length;
    // A later one is shown by now, or the search text has changed.
    const isOld = () => asked !== words.current || (after === undefined && nth < shown.current);
    try {
      const page = await client.json("GET /v1/conversations", { query: { after, q: asked || undefined } });
      if (isOld()) return;
      if (after === undefined) shown.current = nth;
      const meanwhile = changes.current.slice(since);
      setList((all = []) => {
        // A search lists what has its words, and nothing of before.
        const known = asked === "" ? all : [];
        const rows = after === undefined ? withFirstPage(known, page) : withNextPage(all, page);
        return meanwhile.reduce((before, change) => change(before), rows);
      });
      setNext(page.next);
      setProblem(undefined);
    } catch (error) {
      if (isOld()) return;
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

  const change = (made: Change, none?: Row[]) => {
    changes.current.push(made);
    setList((rows = none) => rows && made(rows));
  };

  return {
    list,
    problem,
    ...(next !== null && { more: () => void load(next) }),
    note: (id, title) => {
      const now = Date.now();
      change((rows) => withMessage(rows, id, title, now), []);
    },
    search,
    rename: (id, title) => change((rows) => rows.map((row) => (row.id === id ? { ...row, title } : row))),
    drop: (id) => change((rows) => rows.filter((row) => row.id !== id)),
  };
}
