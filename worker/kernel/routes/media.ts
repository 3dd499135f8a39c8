/** `PUT` and `GET /v1/media/{id}`: files of devices and people, for callers who may see the conversation. */
import { isPicture, MEDIA_ID } from "@edgecall/core/protocol/media.ts";
import { kindOfMedia, newMedia } from "../api/media.ts";
import { conversationOf } from "../api/stubs.ts";
import { readGrant } from "../api/uploads.ts";
import { newRoutes } from "../http/app.ts";
import { checkCredential, requireScope } from "../http/auth.ts";
import { isSeen } from "../http/conversation-access.ts";
import { HttpError } from "../http/errors.ts";
import { text } from "../http/fields.ts";
import { readBytes } from "../http/request.ts";
import { nothing, route, typedAnswer } from "../http/route.ts";

/** The route needs the token of one upload. */
export const uploads = newRoutes();

const FILE = { id: text(MEDIA_ID, "the id of a picture or file, as a call's `media` names it") };

/** Stores a device's upload. Sending the same bytes again is no error. */
route(uploads, "PUT /v1/media/:id", { path: FILE, raw: "application/octet-stream" }, async (c, { path }) => {
  const { id } = path;
  const grant = await checkCredential(c, () => readGrant(c.env, c.req.header("authorization"), id));
  if (!grant)
    throw new HttpError(401, "unauthorized", "the token of this upload is needed; it holds for 5 minutes");
  const file = await newMedia(id, grant.media_type, await readBytes(c, grant.bytes));
  if (file.bytes !== grant.bytes || file.sha256 !== grant.sha256)
    throw new HttpError(
      400,
      "invalid_body",
      `expected the ${grant.bytes} bytes with SHA-256 ${grant.sha256}, got ${file.bytes} with ${file.sha256}`,
    );
  if (!(await conversationOf(c.env, grant.conversation).keep(file, grant.principal)))
    throw new HttpError(409, "conflict", "something else is kept under this id");
  return nothing(c);
});

export const media = newRoutes();

/**
 * Shows a picture or file of a conversation that the caller may see, or of a command's report. It is served with `CSP:
 * sandbox` and `nosniff`; anything but a picture, plain text or HTML is a download. What a command brought needs `command`,
 * what belongs to other channels `admin`. A link that the gateway gave out (`home`, `until`, `mac`) needs no token, for 24
 * hours.
 */
route(media, "GET /v1/media/:id", { path: FILE }, async (c, { path: { id } }) => {
  const place = kindOfMedia(id);
  if (!place) throw notStored();
  const token = requireScope(c, place.kind === "result" ? "command" : "ask");
  // The home comes from the token, so an id of another home leads to a conversation without this file.
  const name = `${token.home}/${place.name}`;
  if (!(await isSeen(c, name, place.kind))) throw notStored();
  const file = await conversationOf(c.env, name).media(id);
  if (!file) throw notStored();
  const etag = `"${file.sha256}"`;
  const headers = { ...SAFE, ...typeHeaders(file.mediaType), etag };
  if (c.req.header("if-none-match") === etag)
    return typedAnswer<undefined, 304, "application/json">(c.body(null, 304, headers));
  return typedAnswer<Blob, 200, "*/*">(c.body(file.data.buffer as ArrayBuffer, 200, headers));
});

/** A file that a device or a model made gets no rights on this origin, whatever type it has. */
const SAFE = {
  "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "private, max-age=3600",
};

/** Pictures and pages are shown in place (pages without scripts, see SAFE); any other type is a download. */
function typeHeaders(mediaType: string): Record<string, string> {
  if (isPicture({ media_type: mediaType })) return { "content-type": mediaType };
  if (mediaType === "text/html" || mediaType === "text/plain")
    return { "content-type": `${mediaType}; charset=utf-8` };
  return { "content-type": "application/octet-stream", "content-disposition": "attachment" };
}

function notStored(): HttpError {
  return new HttpError(404, "not_found", "no such picture or file; it may have expired");
}
