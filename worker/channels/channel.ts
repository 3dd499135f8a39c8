/**
 * What a chat platform is to the gateway. One file each implements `Channel`; nothing else knows a platform's wire.
 *
 * `read` runs in the Worker and decides, on the raw body, whether the platform sent it; the rest runs in the
 * Conversation, where answers go out from rows.
 */

import type { Address, PictureRef } from "../api/chat.ts";
import type { MediaContent } from "../api/media.ts";
import type { Connection } from "../settings/channels.ts";

export type Act =
  /**
   * `unread`: something that came along and cannot be read here, as the person would call it: "a sticker". `forwarded`:
   * text of somebody else's that came along; `text` is the person's own.
   */
  | { do: "say"; text: string; pictures: PictureRef[]; unread?: string; forwarded?: string }
  /** A button below a question. `choice`: its place among them, or what it answers. */
  | { do: "press"; question: string; choice: number | string }
  /** The platform's own button to stop an answer. */
  | { do: "stop" };

/** One thing that a person did. */
export type Incoming = {
  /** The platform's id of it: a repeat has the same. */
  delivery: string;
  sender: { id: string; name: string };
  /** Within the channel and the connection: letters, digits and `._:@-`. */
  conversation: string;
  /** Others read along. */
  group: boolean;
  address: Address;
  act: Act;
};

/** What the platform is answered at once. `later` is for words that cannot stand in the response. */
export type Ack = { response: Response; later?: () => Promise<void> };

export type Received =
  /** Not the platform, or nothing that it sends. */
  | { as: "refused"; status: 400 | 401 | 403; message: string }
  /** A challenge, a ping, or news that nobody here needs. */
  | { as: "handled"; response: Response; notice?: string | undefined }
  | {
      as: "events";
      /** What the owners are to hear, once in an hour. */
      notice?: string | undefined;
      events: Incoming[];
      /** @param words for one person alone: why a button did not work, or how a stranger gets in; `to`: by this event */
      ack(words: string | undefined, to: Incoming): Ack;
    };

/** A request as it came: signatures are over the raw bytes. */
export type RawRequest = { method: string; url: URL; headers: Headers; body: Uint8Array };

/** @property answer what it answers the question with */
export type Button = { label: string; data: string; answer: string };

/** The bytes of a picture or file, with a name for it. */
export type Attachment = MediaContent & { name: string };

/** One way to say something: a connection and a place there. */
export type Line<C extends Connection = Connection> = { connection: C; address: Address };

/** @property nonce names this very message: a platform that knows it drops the repeat */
export type Sending = { nonce: string };

/**
 * A text's way to be said.
 * @property edit the message whose place it takes, where there is one
 * @property live the turn goes on: it may be lost, and is said nowhere else; a list of calls makes no sound
 */
export type TextSending = Sending & { edit?: string | undefined; live?: "list" | "words" };

export type Channel<C extends Connection = Connection> = {
  /** Of one message, in UTF-16 units. */
  textMax: number;
  /** Of a question with buttons. */
  questionMax: number;
  /** ms after a person's last message in which something is delivered to them. Absent: always. */
  windowMs?: number;
  /** Several messages in one breath become one turn. */
  merges: boolean;
  /** The message that stands already and waits to be edited into the first answer. */
  opening?(line: Line<C>): string | undefined;
  /** Where a person is reached without having written just now; undefined: their id is none. Absent: nowhere. */
  privateChat?(connection: C, id: string): { conversation: string; address: Address } | undefined;
  read(request: RawRequest, connection: C, now: number): Promise<Received>;
  /**
   * Says something in Markdown, within `textMax`.
   * @returns the platform's id of the message, for those that can be edited
   */
  text(line: Line<C>, markdown: string, sending: TextSending): Promise<string | undefined>;
  /** Asks with buttons. @returns the message's id */
  question(
    line: Line<C>,
    markdown: string,
    buttons: readonly Button[],
    sending: Sending,
  ): Promise<string | undefined>;
  /** Takes the buttons of a question away and says what was decided. Absent: messages stay as they are. */
  close?(line: Line<C>, message: string, markdown: string): Promise<void>;
  attachment(line: Line<C>, attachment: Attachment, sending: Sending): Promise<void>;
  /** Shows for some seconds that an answer is being made. */
  typing?(line: Line<C>): Promise<void>;
  /** ms between two edits while a turn runs: what the platform allows in the long run. Absent: nothing can be edited. */
  editEveryMs?(address: Address): number;
  /** The bytes of a picture that a person sent. */
  picture(line: Line<C>, picture: PictureRef): Promise<{ mediaType: string; data: Uint8Array }>;
};

/** `q:{question}:{choice}`: 40 bytes, where Telegram takes 64. */
export function buttonData(question: string, choice: number): string {
  return `q:${question}:${choice}`;
}

/** What a button says; undefined when it is none of ours. */
export function readButton(data: unknown): (Act & { do: "press" }) | undefined {
  const match =
    typeof data === "string"
      ? /^q:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(\d{1,2})$/.exec(data)
      : null;
  return match?.[1] === undefined ? undefined : { do: "press", question: match[1], choice: Number(match[2]) };
}

/** An id of a platform as a part of a conversation's name; undefined: it cannot be one. */
export function idPart(id: unknown): string | undefined {
  const text = typeof id === "number" ? String(id) : id;
  return typeof text === "string" && /^[A-Za-z0-9._@-]{1,64}$/.test(text) ? text : undefined;
}
