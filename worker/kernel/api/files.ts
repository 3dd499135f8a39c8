/** The pictures and files that devices sent, as Home lists them. Their conversations have the bytes. */
import type { StoredMedia } from "@edgecall/core/protocol/media.ts";
import type { NewMedia } from "./media.ts";

/** A file as a conversation has it. @property at epoch ms of its arrival @property endsAt epoch ms: it is deleted then, if not before */
export type KeptFile = Pick<StoredMedia, "id" | "media_type" | "bytes"> & { at: number; endsAt: number };

/** @property agent the id of the device that sent it, with the `action` that was called; null: a question in words */
export type ListedFile = KeptFile & { agent: string; action: string | null };

/** @property by the principal that began the conversation, whose files they are */
export type NewFiles = { files: ListedFile[]; by: string | undefined };

/** Files of a call that belongs to no turn. @property ids of its pictures and of what its device uploaded before */
export type BroughtFiles = { pictures: NewMedia[]; ids: string[]; principal: string };

/** The place of a file in the list, the newest first. */
export type FilePlace = Pick<KeptFile, "at" | "id">;

/** @property after the last file of the page before */
export type FileQuery = { after?: FilePlace | undefined; limit: number };
