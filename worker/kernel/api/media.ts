/** Pictures and files of a conversation, and their ids. */
import { fromBase64, sha256Hex, toBase64Url, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { KEPT } from "@edgecall/core/loop/messages.ts";
import { isPicture, registeredType, type StoredMedia } from "@edgecall/core/protocol/media.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import type { Owned } from "./may-see.ts";

export type MediaContent = { mediaType: string; sha256: string; data: Uint8Array };

export type NewMedia = StoredMedia & { data: Uint8Array };

/** `uuid[-n].` and the conversation that stores it: the id is enough to find it. @param name `home/channel/id` */
export function mediaId(uuid: string, name: string): string {
  const [, ...rest] = name.split("/");
  return `${uuid}.${toBase64Url(utf8(rest.join("/")))}`;
}

/** The conversation of an id, without its home: `channel/id`; undefined when it names none. */
export function conversationOfMedia(id: string): { channel: string; conversation: string } | undefined {
  const text = new TextDecoder().decode(tryFromBase64Url(id.slice(id.indexOf(".") + 1)));
  const match = /^([a-z]{1,32})\/([A-Za-z0-9._:@-]{1,128})$/.exec(text);
  return match?.[1] !== undefined && match[2] !== undefined
    ? { channel: match[1], conversation: match[2] }
    : undefined;
}

/** Reads from a file's id what `maySee` needs. @property name `channel/id` */
export function kindOfMedia(id: string): { name: string; kind: Owned["kind"] } | undefined {
  const place = conversationOfMedia(id);
  if (!place) return undefined;
  const kind = place.channel === "command" ? "result" : "conversation";
  return { name: `${place.channel}/${place.conversation}`, kind };
}

/** The beginning of a `data:` URL with base64 (RFC 2397), whose letters may be of either case. */
const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]{1,40})(?:;[a-z0-9-]{1,20}=[^;,]{0,60}){0,4};base64,/i;
const HEAD_CHARS_MAX = 400;

/** @returns the picture of a `data:` URL; undefined: it holds none of a type that a model and a browser can show */
export function pictureOfUrl(url: string): { mediaType: string; base64: string } | undefined {
  const [head, type = ""] = DATA_URL.exec(url.slice(0, HEAD_CHARS_MAX)) ?? [];
  const mediaType = registeredType(type);
  if (head === undefined || !isPicture({ media_type: mediaType })) return undefined;
  // Some encoders break the lines.
  const base64 = url.slice(head.length).replace(/\s+/g, "");
  return /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? { mediaType, base64 } : undefined;
}

export const PICTURE_URL = "expected an https address, or a data address of a PNG, JPEG, WebP or GIF";

/** An address of a picture that a person sends. */
export function isPictureUrl(url: string): boolean {
  return /^https:\/\/\S+$/i.test(url) || pictureOfUrl(url) !== undefined;
}

/** A person's pictures: a `data:` URL becomes a stored picture, an address stays. */
export async function separateImages(
  images: readonly string[],
  idOf: (index: number) => string,
): Promise<{ images: string[]; added: NewMedia[] }> {
  const added: NewMedia[] = [];
  const stored = await Promise.all(
    images.map(async (url, index) => {
      const found = pictureOfUrl(url);
      if (!found) return url;
      const picture = await newMedia(idOf(index), found.mediaType, fromBase64(found.base64));
      added.push(picture);
      return KEPT + picture.id;
    }),
  );
  return { images: stored, added };
}

export async function newMedia(id: string, mediaType: string, data: Uint8Array): Promise<NewMedia> {
  return { id, media_type: mediaType, bytes: data.length, sha256: await sha256Hex(data), data };
}

/** The text of a client's link to each picture or file of a call (features/openai/pictures.ts). */
export function linkNames({ agent, action, name, media = [] }: CallRecord): string[] {
  const words = oneLine([agent ?? name, action].filter(Boolean).join(" "), 80).replace(/[[\]()!\\`<>]/g, "");
  return media.map((item) => (isPicture(item) ? words : `${words}: ${item.media_type}`));
}
