/** What a person does in a chat app, as its conversation is told. */
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { NewOrigin } from "./turns.ts";

/** Where an answer goes. JSON, kept in rows; `connection` names the settings' entry, never a secret. */
export type Address = { connection: string; [field: string]: string | number | boolean | undefined };

/**
 * A picture or voice message that a person sent, by the platform's own name or address.
 * @property own of a voice: the sender has just recorded it. Any other recording is somebody else's words
 */
export type PictureRef = { ref: string; media_type?: string; voice?: true; own?: true };

export const CHAT_COMMANDS = ["stop", "status", "agents", "new", "help", "answer", "approve"] as const;

export type ChatCommand = { name: (typeof CHAT_COMMANDS)[number]; argument: string };

export type Delivery = {
  id: string;
  origin: NewOrigin & { reply?: Address };
  act:
    | { do: "say"; text: string; pictures: PictureRef[]; merge: boolean; sources?: Source[] }
    | { do: "command"; command: ChatCommand }
    /** Something that was done elsewhere, to be said here. */
    | { do: "tell"; text: string };
};

/** @property words for who waits, where there is no chat to say them in */
export type Accepted = { turn?: string; words?: string };
