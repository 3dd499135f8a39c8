/** `GET /v1/media/{id}?home=…&until=…&mac=…`: serves the file of a link, without a token (http/media-links.ts). */
import { isPicture, MEDIA_ID } from "@edgecall/core/protocol/media.ts";
import type { Context, Next } from "hono";
import { conversationOfMedia } from "../api/media.ts";
import { conversationOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";
import { isValidLink } from "../http/media-links.ts";
import { countAddress, countGuess } from "../http/rate-limits.ts";

export const linkedMedia = newRoutes();

linkedMedia.get("/v1/media/:id", getLinkedMedia);

/** A request without a link's query continues to the route that requires a token. */
async function getLinkedMedia(c: Context<App>, next: Next): Promise<Response | undefined> {
  const { home = "", until = "", mac } = c.req.query();
  if (mac === undefined) {
    await next();
    return undefined;
  }
  const id = c.req.param("id") ?? "";
  await countAddress(c);
  const place = MEDIA_ID.test(id) ? conversationOfMedia(id) : undefined;
  if (!place || !(await isValidLink(c.env, id, home, until, mac))) {
    await countGuess(c);
    throw notOpened();
  }
  const name = `${home}/${place.channel}/${place.conversation}`;
  const file = await conversationOf(c.env, name).media(id);
  if (!file) throw notOpened();
  return c.body(file.data.buffer as ArrayBuffer, 200, { ...SAFE, ...typeHeaders(file.mediaType) });
}

/** Pages of other sites may embed the file. It has no other rights on this origin. */
const SAFE = {
  "content-security-policy": "sandbox; default-src 'none'",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "private, max-age=3600",
};

/** Only pictures are shown in place: a person who follows a link does not expect a page that a device made. */
function typeHeaders(mediaType: string): Record<string, string> {
  if (isPicture({ media_type: mediaType })) return { "content-type": mediaType };
  return { "content-type": "application/octet-stream", "content-disposition": "attachment" };
}

function notOpened(): HttpError {
  return new HttpError(404, "not_found", "no such picture or file, or its link has ended");
}
