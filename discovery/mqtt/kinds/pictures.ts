/** `camera` and `image`: the last picture. The message is its bytes, its base64, or an address, which is only told. */
import { tryFromBase64 } from "@edgecall/core/encoding.ts";
import { plain } from "../../model/entity/words.ts";
import { type Config, textField } from "../config/fields.ts";
import type { Message } from "../states/message.ts";
import type { MqttDraft } from "./draft.ts";
import { anyText } from "./values.ts";

export type Picture = { mediaType: string; bytes: Uint8Array };

/** Slot of the entities that bring a picture. */
export const PICTURE_SLOT = "picture";

export const camera = (draft: MqttDraft): void => picture(draft, "topic");

export function image(draft: MqttDraft): void {
  picture(draft, "image_topic");
  draft.slot("address", "url_topic", ["url_template"], (text) => anyText(text) || undefined);
  draft.reading("address", plain, { label: "address", free: true });
}

function picture(draft: MqttDraft, key: string): void {
  const isBase64 = isBase64Picture(draft.config);
  draft.hasPicture = draft.slotOf(PICTURE_SLOT, key, (message) => {
    const found = pictureOf(message, isBase64);
    return found && `${found.mediaType}, ${found.bytes.length} bytes`;
  });
  draft.reading(PICTURE_SLOT, plain, { free: true });
}

/** Its messages are base64 and not bytes. */
export function isBase64Picture(config: Config): boolean {
  return ["image_encoding", "encoding"].some((key) => textField(config, key) === "b64");
}

/** @returns undefined when it is no picture that a model can see */
export function pictureOf({ bytes, text }: Message, isBase64: boolean): Picture | undefined {
  const found = isBase64 ? tryFromBase64(text.trim()) : bytes;
  const mediaType = found && typeOf(found);
  return mediaType === undefined || found === undefined ? undefined : { mediaType, bytes: found };
}

/** First bytes of what a model can see. */
const TYPES: ReadonlyArray<[mediaType: string, at: number, begin: string]> = [
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/png", 0, "\x89PNG"],
  ["image/gif", 0, "GIF8"],
  ["image/webp", 8, "WEBP"],
];

function typeOf(bytes: Uint8Array): string | undefined {
  return TYPES.find(([, at, begin]) =>
    [...begin].every((char, index) => bytes[at + index] === char.charCodeAt(0)),
  )?.[0];
}
