/** `GET /v1/responses/{id}/input_items`: what the client sent for a response, as OpenAI lists it. */
import { KEPT } from "@edgecall/core/loop/messages.ts";
import type { Context } from "hono";
import type { TurnInput } from "../../kernel/api/turns.ts";
import type { App } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { mediaLink } from "../../kernel/http/media-links.ts";
import { clientCallId, type ResponseRef } from "./conversation-key.ts";
import type { Linker } from "./pictures.ts";

/** OpenAI's. */
const LIMIT = 20;
const LIMIT_MAX = 100;

type Page = { after: string | undefined; limit: number; order: "asc" | "desc" };
type Listed = { id: string };

/** @throws HttpError 400 naming the parameter */
export function readPage(c: Context<App>): Page {
  const { after, limit = String(LIMIT), order = "desc" } = c.req.query();
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > LIMIT_MAX)
    throw refused("limit", `expected a whole number from 1 to ${LIMIT_MAX}`);
  if (order !== "asc" && order !== "desc") throw refused("order", "expected 'asc' or 'desc'");
  return { after: after === "" ? undefined : after, limit: Number(limit), order };
}

/** @param items the oldest first @throws HttpError 400 when `after` is none of them */
export function pageOf<T extends Listed>(items: readonly T[], { after, limit, order }: Page) {
  const all = order === "asc" ? items : items.toReversed();
  const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && from === 0) throw refused("after", "expected the id of an item of this list");
  const data = all.slice(from, from + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + data.length < all.length,
  };
}

/** An item's id is its place, so it is the same each time. */
export async function inputItems(ref: ResponseRef, input: readonly TurnInput[], linker: Linker) {
  return await Promise.all(input.map((item, at) => itemOf(item, `${ref.turn}_in_${at}`, ref, linker)));
}

async function itemOf(item: TurnInput, id: string, ref: ResponseRef, linker: Linker) {
  const status = "completed" as const;
  if (item.role === "call") {
    const { name, arguments: text } = item;
    return {
      id: `fc_${id}`,
      type: "function_call",
      status,
      call_id: callIdOf(item, ref),
      name,
      arguments: text,
    };
  }
  if (item.role === "result")
    return {
      id: `fco_${id}`,
      type: "function_call_output",
      status,
      call_id: callIdOf(item, ref),
      output: item.text,
    };
  const { role, text, images = [] } = item;
  const words =
    role === "assistant" ? { type: "output_text", text, annotations: [] } : { type: "input_text", text };
  const pictures = images.map(async (image) => ({
    type: "input_image",
    detail: "auto",
    image_url: await addressOf(image, linker),
  }));
  const content = [...(text === "" ? [] : [words]), ...(await Promise.all(pictures))];
  return { id: `msg_${id}`, type: "message", role, status, content };
}

/** The id under which the client knows the call. */
function callIdOf({ id, own }: { id: string; own?: true }, { place }: ResponseRef): string {
  return own ? clientCallId(place, id) : id;
}

/** A stored picture has a link, as those in answers. */
async function addressOf(image: string, { env, origin, home }: Linker): Promise<string> {
  return image.startsWith(KEPT) ? await mediaLink(env, origin, home, image.slice(KEPT.length)) : image;
}

function refused(param: string, message: string): HttpError {
  return new HttpError(400, "invalid_query", `${param}: ${message}`, param);
}
