/**
 * The pictures and files that devices sent, as resources. A caller is shown what `GET /v1/media/{id}` shows it, and the URI is that address, which
 * links in results have too. A connected program is shown what is its person's own or shared with them: an owner's right to
 * look at everybody's is for the owner.
 */
import { toBase64, toBase64Url, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { isPicture, MEDIA_ID } from "@edgecall/core/protocol/media.ts";
import type { FilePlace, ListedFile } from "../../kernel/api/files.ts";
import { kindOfMedia } from "../../kernel/api/media.ts";
import { conversationOf, homeOf } from "../../kernel/api/stubs.ts";
import { seenAs } from "../../kernel/http/conversation-access.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";
import type { McpCaller } from "./caller.ts";
import {
  INVALID_PARAMS,
  McpError,
  type McpResource,
  type ResourceContents,
  type ResourcePage,
} from "./protocol.ts";

const PAGE = 50;
/** The URI may have any address by which this gateway was reached when it was listed. */
const URI = /^https?:\/\/[^/?#]{1,300}\/v1\/media\/([^/?#]{1,400})$/;
const CURSOR = /^(\d{1,15}) (\S{1,400})$/;
/** Given as text where the bytes are UTF-8. */
const TEXT_TYPE = /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson)$|\+(?:json|xml)$/;

/** @throws McpError for a cursor of no list */
export async function listResources(caller: McpCaller, cursor: string | undefined): Promise<ResourcePage> {
  const viewer = viewerOf(caller.token);
  // One more than the page has, to know whether another page follows.
  const query = { after: placeOf(cursor), limit: PAGE + 1 };
  const found = await homeOf(caller.env, viewer.home).files.files(viewer, query);
  const files = found.slice(0, PAGE);
  const last = found.length > PAGE ? files.at(-1) : undefined;
  return {
    resources: files.map((file) => resourceOf(file, caller.origin)),
    ...(last && { nextCursor: toBase64Url(utf8(`${last.at} ${last.id}`)) }),
  };
}

/** @throws McpError when there is no such file that the caller may see */
export async function readResource(caller: McpCaller, uri: string): Promise<ResourceContents> {
  const { env } = caller;
  const viewer = viewerOf(caller.token);
  const id = URI.exec(uri)?.[1] ?? "";
  const place = MEDIA_ID.test(id) ? kindOfMedia(id) : undefined;
  const name = place && `${viewer.home}/${place.name}`;
  if (!name || !(await seenAs(env, viewer, name, place.kind))) throw notThere(uri);
  const file = await conversationOf(env, name).media(id);
  if (!file) {
    caller.waitUntil(homeOf(env, viewer.home).files.removeFile(id));
    throw notThere(uri);
  }
  const { mediaType: mimeType, data } = file;
  const text = TEXT_TYPE.test(mimeType) ? textOf(data) : undefined;
  return { uri, mimeType, ...(text === undefined ? { blob: toBase64(data) } : { text }) };
}

function viewerOf(token: ApiToken): ApiToken {
  return token.grant
    ? { ...token, role: "guest", scopes: token.scopes.filter((scope) => scope !== "admin") }
    : token;
}

function resourceOf({ id, agent, action, media_type, bytes, at }: ListedFile, origin: string): McpResource {
  const time = new Date(at).toISOString();
  const what = isPicture({ media_type }) ? "Picture" : "File";
  return {
    uri: `${origin}/v1/media/${id}`,
    name: [agent, action, time.replace(/\.\d+Z$/, "Z")].filter((part) => part !== null).join(" "),
    description: `${what} that edge agent '${agent}' sent${action === null ? "" : ` for '${action}'`}.`,
    mimeType: media_type,
    size: bytes,
    annotations: { lastModified: time },
  };
}

function placeOf(cursor: string | undefined): FilePlace | undefined {
  // Some clients send an empty text for the first page.
  if (cursor === undefined || cursor === "") return undefined;
  const [, at, id] = CURSOR.exec(new TextDecoder().decode(tryFromBase64Url(cursor))) ?? [];
  if (at === undefined || id === undefined)
    throw new McpError(INVALID_PARAMS, "cursor: expected 'nextCursor' of an earlier answer");
  return { at: Number(at), id };
}

function textOf(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return undefined;
  }
}

function notThere(uri: string): McpError {
  return new McpError(
    INVALID_PARAMS,
    "Resource not found: it may have expired; resources/list has what there is",
    {
      data: { uri },
    },
  );
}
