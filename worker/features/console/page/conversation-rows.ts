/** The list of conversations: what the gateway answers, and what happened here that its answers do not say yet. Pure. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { ListedConversation } from "@edgecall/client/routes.ts";

/** @property noted a message was sent here, and no answer has listed the conversation since: the gateway lists a new one at its first step */
export type Row = ListedConversation & { noted?: true };
type Page = AnswerOf<"GET /v1/conversations">;

/**
 * Rows of the pages below stay. Within this page the gateway is right: a row that it does not list is gone, unless a message was just sent
 * there.
 * @param page the first one
 */
export function withFirstPage(known: readonly Row[], { conversations, next }: Page): Row[] {
  const last = next === null ? undefined : conversations.at(-1);
  const others = unlisted(known, conversations);
  return [
    ...others.filter(({ noted }) => noted),
    ...conversations,
    ...others.filter((row) => !row.noted && last !== undefined && isBelow(row, last)),
  ];
}

/** @param page a later one */
export function withNextPage(known: readonly Row[], { conversations }: Page): Row[] {
  return [...known, ...unlisted(conversations, known)];
}

/** A message was sent in a conversation, which is the first one now. @param title of a new one */
export function withMessage(known: readonly Row[], id: string, title: string, now: number): Row[] {
  const before = known.find((row) => row.id === id);
  return [
    { ...before, id, title: before?.title ?? title, last_at: now, noted: true },
    ...known.filter((row) => row !== before),
  ];
}

function unlisted(rows: readonly Row[], listed: readonly Row[]): Row[] {
  const ids = new Set(listed.map(({ id }) => id));
  return rows.filter(({ id }) => !ids.has(id));
}

/** In the gateway's order: the last used first, then by name. */
function isBelow(row: Row, last: Row): boolean {
  return row.last_at < last.last_at || (row.last_at === last.last_at && row.id < last.id);
}
