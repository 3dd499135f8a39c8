/** Pictures and files of a conversation, and their ids. */
import { fromBase64, sha256Hex, toBase64Url, tryFromBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { CallRecord } from "@edgecall/core/loop/history.ts";
import { KEPT } from "@edgecall/core/loop/messages.ts";
import { isPicture, type StoredMedia } from "@edgecall/core/protocol/media.ts";
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

/** What the id of a file tells for `maySee`. @property name `channel/id` */
export function kindOfMedia(id: string): { name: string; kind: Owned["kind"] } | undefined {
  const place = conversationOfMedia(id);
  if (!place) return undefined;
  const kind = place.channel === "command" ? "result" : "conversation";
  return { name: `${place.channel}/${place.conversation}`, kind };
}

/** A person's pictures: a `data:` URL becomes a stored picture, an address stays. */
export async function separateImages(
  images: readonly string[],
  idOf: (index: number) => string,
): Promise<{ images: string[]; added: NewMedia[] }> {
  const added: NewMedia[] = [];
  const stored = await Promise.all(
    images.map(async (url, index) => {
      const match = /^data:(image\/[a-z]+);base64,(.*)$/s.exec(url);
      if (match?.[1] === undefined || match[2] === undefined) return url;
      const picture = await newMedia(idOf(index), match[1], fromBase64(match[2]));
      added.push(picture);
      return KEPT + picture.id;
    }),
  );
  return { images: stored, added };
}

export async function newMedia(id: string, mediaType: string, data: Uint8Array): Promise<NewMedia> {
  return { id, media_type: mediaType, bytes: data.length, sha256: await sha256Hex(data), data };
}

/** The text of a client's link to each picture or file of a call (frontends/openai/pictures.ts). */
export function linkNames({ agent, action, name, media = [] }: CallRecord): string[] {
  const words = oneLine([agent ?? name, action].filter(Boolean).join(" "), 80).replace(/[[\]()!\\`<>]/g, "");
  return media.map((item) => (isPicture(item) ? words : `${words}: ${item.media_type}`));
}
