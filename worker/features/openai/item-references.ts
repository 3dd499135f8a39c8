/**
 * Items that a client names by their ids alone, since it knows that they are stored: the AI SDK does so with all that a response had.
 * Without them a question that was answered would stand beside the new one, and be answered once more.
 */
import type { Context } from "hono";
import type { TurnResult } from "../../kernel/api/answers.ts";
import { conversationOf, withRetry } from "../../kernel/api/stubs.ts";
import type { App } from "../../kernel/http/app.ts";
import { linkerOf } from "./caller.ts";
import { finalText } from "./chat-reply.ts";
import { type Place, placeOfCall, readItemId } from "./conversation-key.ts";
import { functionItem } from "./response-object.ts";
import type { ResponseItem, ResponseRequest } from "./response-request.ts";

type Named = { turn: string; object: string | undefined };
/** The key is the turn's id. */
type Known = Map<string, { place: Place; result: TurnResult }>;

/** The newest so many turns are looked up. More would not fit the history. */
const TURNS_MAX = 1_000;
const GONE = "[an earlier answer that is not kept any more]";

/** @param named the conversation that the request names @returns the input with the items themselves in place of their ids */
export async function withReferenced(
  c: Context<App>,
  input: ResponseRequest["input"],
  named: () => Promise<Place | undefined>,
): Promise<ResponseRequest["input"]> {
  if (typeof input === "string" || !input.some(isReference)) return input;
  const known = await turnsOf(c, input.filter(isReference), named);
  const said = new Set<string>();
  const items: ResponseItem[] = [];
  for (const item of input) {
    if (!isReference(item)) items.push(item);
    else items.push(...(await itemsOf(c, item.id ?? "", known, said)));
  }
  return items;
}

/** OpenAI's clients may leave out its type. */
function isReference({ type, role, id }: ResponseItem): boolean {
  return type === "item_reference" || (!type && !role && typeof id === "string");
}

async function turnsOf(
  c: Context<App>,
  references: readonly ResponseItem[],
  named: () => Promise<Place | undefined>,
): Promise<Known> {
  const turns = new Map<string, Named>();
  for (const { id } of references) {
    const one = readItemId(id ?? "");
    if (one) turns.set(one.turn, one);
  }
  const byObject = Map.groupBy([...turns.values()].slice(-TURNS_MAX), ({ object }) => object);
  const known: Known = new Map();
  for (const [object, ones] of byObject) {
    const place = object === undefined ? await named() : await placeOfCall(c.get("token"), object);
    if (!place) continue;
    const ids = ones.map(({ turn }) => turn);
    const results = await withRetry(() => conversationOf(c.env, place.name).answersOf(ids));
    for (const [at, result] of results.entries()) if (result) known.set(ids[at] ?? "", { place, result });
  }
  return known;
}

/** @param said the turns whose answers are among the items by now: a streamed one has an item for each of its texts */
async function itemsOf(
  c: Context<App>,
  id: string,
  known: Known,
  said: Set<string>,
): Promise<ResponseItem[]> {
  const { turn } = readItemId(id) ?? {};
  const found = known.get(turn ?? "");
  if (id.startsWith("msg_")) {
    if (turn !== undefined && said.has(turn)) return [];
    if (turn !== undefined) said.add(turn);
    const content = found ? await finalText(found.result, linkerOf(c)) : GONE;
    return content === "" ? [] : [{ type: "message", role: "assistant", content }];
  }
  if (!found || turn === undefined) return [];
  const ref = { turn, place: found.place, createdAt: 0 };
  return (found.result.requested ?? [])
    .map((call) => functionItem(ref, call))
    .filter((call) => call.id === id);
}
