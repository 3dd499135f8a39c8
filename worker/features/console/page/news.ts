/** What rules told this person, and what of it was not seen in this browser. Pure. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { say } from "./texts/say.ts";

export type Rule = AnswerOf<"GET /v1/rules">["rules"][number];

/** @property conversation of this page where it was told; undefined: it was told elsewhere */
export type NewsItem = {
  key: string;
  at: number;
  title: string;
  second: string;
  conversation: string | undefined;
};

/** The newest first. */
export function newsOf(rules: readonly Rule[]): NewsItem[] {
  return rules
    .flatMap((rule) =>
      rule.history.map(({ at, occurrence, acked_by }): NewsItem => {
        const name = visible(rule.name);
        return {
          key: `${rule.id} ${occurrence}`,
          at,
          title: rule.device === undefined ? name : say("named", { name: visible(rule.device), text: name }),
          second:
            acked_by === null ? visible(rule.condition) : say("answeredBy", { name: visible(acked_by) }),
          conversation: rule.channel === "api" && rule.conversation !== "" ? rule.conversation : undefined,
        };
      }),
    )
    .sort((a, b) => b.at - a.at);
}

/** Until when all was seen, and the conversations that were looked at since, with the time of that look. */
export type Seen = { all: number; conversations: Readonly<Record<string, number>> };

export function isUnread({ at, conversation }: NewsItem, seen: Seen): boolean {
  const looked = conversation === undefined ? 0 : (seen.conversations[conversation] ?? 0);
  return at > seen.all && at > looked;
}

/**
 * The mark is the newest time of these: what was told later, by any clock, is not seen yet.
 * @param items that are loaded @param conversation only what was told there
 */
export function seenOf(items: readonly NewsItem[], conversation?: string): Seen {
  const [newest] = items.filter((item) => conversation === undefined || item.conversation === conversation);
  const at = newest?.at ?? 0;
  return conversation === undefined
    ? { all: at, conversations: {} }
    : { all: 0, conversations: { [conversation]: at } };
}

/** Of each mark the newer one: another window has marks of its own. */
export function newestSeen(one: Seen, other: Seen): Seen {
  const all = Math.max(one.all, other.all);
  const conversations: Record<string, number> = {};
  for (const [id, at] of [one, other].flatMap((seen) => Object.entries(seen.conversations)))
    if (at > all) conversations[id] = Math.max(at, conversations[id] ?? 0);
  return { all, conversations };
}

/** @param text as it was stored @returns undefined: nothing was */
export function readSeen(text: string | null): Seen | undefined {
  try {
    const { all, conversations } = JSON.parse(text ?? "") as Partial<Seen>;
    if (typeof all === "number" && typeof conversations === "object" && conversations !== null)
      return { all, conversations };
  } catch {
    // Nothing was stored, or something else.
  }
  return undefined;
}
