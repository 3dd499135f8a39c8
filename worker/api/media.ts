/** Pictures and files as a conversation takes and gives them. */
import type { StoredMedia } from "@edgecall/core/protocol/media.ts";

export type MediaContent = { mediaType: string; sha256: string; data: Uint8Array };

export type NewMedia = StoredMedia & { data: Uint8Array };
