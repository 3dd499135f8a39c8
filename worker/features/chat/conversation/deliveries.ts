/** The platform's ids of messages, with the turns that they belong to: those of people, by which a repeat is known, and some of ours. */
import type { ConversationContext } from "../../../kernel/conversation/context.ts";

/** Platforms repeat for days, a chat has fewer messages in that time. */
const DELIVERIES_KEPT = 1_000;

type Stored = Pick<ConversationContext, "ctx" | "tables">;

export function findDelivery({ ctx, tables }: Stored, id: string): { turn: string | null } | undefined {
  if (!tables.has("delivery")) return undefined;
  return ctx.storage.sql
    .exec<{ turn: string | null }>("SELECT turn FROM delivery WHERE id = ?", id)
    .toArray()[0];
}

/** @param turn absent: it began none */
export function rememberDelivery({ ctx, tables }: Stored, id: string, turn: string | undefined): void {
  tables.need("delivery");
  const { sql } = ctx.storage;
  const [row] = sql
    .exec<{ n: number }>("INSERT INTO delivery (id, turn) VALUES (?, ?) RETURNING n", id, turn ?? null)
    .toArray();
  sql.exec("DELETE FROM delivery WHERE n <= ?", (row?.n ?? 0) - DELIVERIES_KEPT);
}

/** @returns the id of a message of ours, apart from those of people's messages */
export function idOfSent(message: string): string {
  return `sent:${message}`;
}
