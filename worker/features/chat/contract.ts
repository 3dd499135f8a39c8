/** The actions of a person in a chat app, for the conversation. */
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { Address, NewOrigin } from "../../kernel/api/turns.ts";

/**
 * A picture or voice message of a person, by the platform's name or address.
 * @property own true when the sender has just recorded the voice message; any other recording may have another person's words
 */
export type PictureRef = { ref: string; media_type?: string; voice?: true; own?: true };

/**
 * What a message replies to.
 * @property by whose words these are: the person's own, ours, or another's
 * @property text absent: the platform gives only `message`, its id of our message, or the id of the person's delivery
 */
export type Quoted = { by: "person" | "us" | "others"; text?: string; message?: string };

export const CHAT_COMMANDS = [
  "stop",
  "status",
  "agents",
  "rules",
  "ack",
  "away",
  "back",
  "new",
  "help",
  "answer",
  "approve",
] as const;

export type ChatCommand = { name: (typeof CHAT_COMMANDS)[number]; argument: string };

export type Delivery = {
  id: string;
  origin: NewOrigin & { reply?: Address };
  act:
    | {
        do: "say";
        text: string;
        pictures: PictureRef[];
        merge: boolean;
        sources?: Source[];
        quoted?: Quoted;
        /** The message stands in a thread, whose earlier messages nobody has read here. */
        thread?: true;
        /** What the chat is told before the answer. */
        notice?: string;
      }
    /** `ownRole`: in a group it is the person's, and not that of the group. */
    | { do: "command"; command: ChatCommand; ownRole?: NewOrigin["role"] }
    /** A text of the gateway to send to the chat. */
    | { do: "tell"; text: string };
};

/**
 * @property words for the waiting caller, when there is no chat
 * @property differs the id was that of another message, and nothing was done
 */
export type Accepted = { turn?: string; words?: string; differs?: true };
