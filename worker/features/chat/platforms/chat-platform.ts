/**
 * The contract of a chat platform. One file for each platform implements `ChatPlatform`, and only that file knows the platform's API.
 *
 * `read` runs in the Worker and verifies on the raw body that the platform sent the request. The rest runs in the conversation,
 * which sends answers from its rows.
 */

import type { MediaContent } from "../../../kernel/api/media.ts";
import type { RuleButton } from "../../../kernel/api/notices.ts";
import type { Address } from "../../../kernel/api/turns.ts";
import type { Connection } from "../../../kernel/settings/chat.ts";
import type { PictureRef, Quoted } from "../contract.ts";
import type { Content } from "./format/blocks.ts";
import type { Format } from "./format/split.ts";

export type Act =
  /**
   * `unread`: a part of the message that cannot be read here, in the person's words ("a sticker"). `forwarded`: another person's
   * text in the message; `text` is the sender's own.
   */
  | {
      do: "say";
      text: string;
      pictures: PictureRef[];
      unread?: string;
      forwarded?: string;
      quoted?: Quoted;
      /** It answers in a thread: what was said there before is read with `ChatPlatform.thread`. */
      thread?: true;
    }
  /** A button below a question. `choice`: the button's index, or the answer itself. */
  | { do: "press"; question: string; choice: number | string }
  /** A button below what a rule says. */
  | { do: "press"; rule: PressedRule }
  /** The platform's own button to stop an answer. */
  | { do: "stop" };

export type PressedRule = Pick<RuleButton, "do" | "rule" | "occurrence">;

/** One thing that a person did. */
export type Incoming = {
  /** The platform's id; a repeat has the same one. */
  delivery: string;
  /** `id` is one that `idPart` accepts: letters, digits and `._@-`, at most 64. `name` is for people. */
  sender: { id: string; name: string };
  /** The conversation's id within the channel, which begins with the connection: letters, digits and `._:@-`. */
  conversation: string;
  /** True when other people read the chat. Refused unless the connection has `groups: "reads"` (routes/admission.ts). */
  group: boolean;
  /** The words of `ack` are shown to the sender alone, in a group too: then a refusal is said there. */
  whispers?: true;
  address: Address;
  act: Act;
};

/** The immediate response to the platform. `later` sends words that cannot be in the response. */
export type Ack = { response: Response; later?: () => Promise<void> };

export type Received =
  /** The request is not from the platform, or malformed. */
  | { as: "refused"; status: 400 | 401 | 403; message: string }
  /** A challenge, a ping, or an event that the gateway does not need. */
  | { as: "handled"; response: Response; notice?: string | undefined }
  | {
      as: "events";
      /** A text for the owners, sent once an hour at most. */
      notice?: string | undefined;
      events: Incoming[];
      /** @param words for the person of the event `to` alone: why a button did not work, or how a stranger gets in */
      ack(words: string | undefined, to: Incoming): Ack;
    };

/** An unparsed request, since signatures are over the raw bytes. */
export type RawRequest = { method: string; url: URL; headers: Headers; body: Uint8Array };

/** @property answer the answer that the button gives */
export type Button = { label: string; data: string; answer: string };

/** The bytes of a picture or file, with a name for it. */
export type Attachment = MediaContent & { name: string };

/** A place in a chat app where messages can be sent. */
export type Line<C extends Connection = Connection> = { connection: C; address: Address };

/** @property nonce identifies the message, so that a platform can drop a repeat */
type Sending = { nonce: string };

/**
 * How a text is sent.
 * @property edit the message that the text replaces
 * @property live the turn still runs: the text may be lost, and is repeated nowhere; a list of calls makes no sound
 */
export type TextSending = Sending & { edit?: string | undefined; live?: "list" | "words" };

export type ChatPlatform<C extends Connection = Connection> = {
  /** How the platform counts what it shows. */
  format: Format;
  /** The longest message, as `format` counts. */
  textMax: number;
  /** The longest question with buttons, as `format` counts. */
  questionMax: number;
  /** The platform delivers messages only for so many ms after the person's last message. Absent: always. */
  windowMs?: number;
  /** How a short text is sent after that time, in a form that the platform approved. Undefined: there is none. */
  alert?(line: Line<C>): ((text: string) => Promise<void>) | undefined;
  /** Our words after "by" may have an id of the platform: it is shown as the person's name. */
  showsIdsAsNames?: true;
  /** Several messages in quick succession become one turn. */
  merges: boolean;
  /** The id of a placeholder message that the first answer replaces. */
  opening?(line: Line<C>): string | undefined;
  /** The private chat with a person; undefined for an invalid id. Absent: the platform needs a message of the person first. */
  privateChat?(connection: C, id: string): { conversation: string; address: Address } | undefined;
  /** A message is delivered only where the person has written before. */
  needsWord?: true;
  read(request: RawRequest, connection: C, now: number): Promise<Received>;
  /**
   * Sends a text, at most `textMax` long.
   * @returns the message's id on platforms where messages can be edited
   */
  text(line: Line<C>, content: Content, sending: TextSending): Promise<string | undefined>;
  /**
   * Asks with buttons. A platform without them sends the content as a text, which says how to answer by `/answer`; an approval is
   * then decided in the console.
   * @returns the message's id
   */
  question(
    line: Line<C>,
    content: Content,
    buttons: readonly Button[],
    sending: Sending,
  ): Promise<string | undefined>;
  /** Removes a question's buttons and shows the decision. Absent: messages cannot be changed. */
  close?(line: Line<C>, message: string, content: Content): Promise<void>;
  /** Sends a picture or file. A platform without files throws `PlatformError` "never": the person reads that it could not be delivered. */
  attachment(line: Line<C>, attachment: Attachment, sending: Sending): Promise<void>;
  /** Shows for some seconds that an answer is being written. */
  typing?(line: Line<C>): Promise<void>;
  /** ms between two edits while a turn runs, by the platform's limits. Absent: messages cannot be edited. */
  editEveryMs?(address: Address): number;
  /** Messages that people reply to are named by their ids alone: those of ours are remembered. */
  quotesById?: true;
  /**
   * What was said in the thread of an address before the message that it names.
   * @returns undefined: nothing
   */
  thread?(line: Line<C>): Promise<string | undefined>;
  /** The bytes of a picture that a person sent. A platform without pictures throws `PlatformError` "never". */
  picture(line: Line<C>, picture: PictureRef): Promise<{ mediaType: string; data: Uint8Array }>;
};

/** `q:{question}:{choice}`: 40 bytes, where Telegram takes 64. */
export function buttonData(question: string, choice: number): string {
  return `q:${question}:${choice}`;
}

/** @returns the press that a button's data mean; undefined when the button is not ours */
export function readButton(data: unknown): (Act & { do: "press" }) | undefined {
  if (typeof data !== "string") return undefined;
  const rule = readRuleButton(data);
  if (rule) return { do: "press", rule };
  const match = /^q:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(\d{1,2})$/.exec(data);
  return match?.[1] === undefined ? undefined : { do: "press", question: match[1], choice: Number(match[2]) };
}

/** The button of a rule. `r:{do}:{rule}:{occurrence}`: 41 bytes at most. */
export function ruleButton(button: RuleButton): Button {
  const data = `r:${button.do}:${button.rule}:${button.occurrence}`;
  return { label: button.label, data, answer: data };
}

/** @returns undefined: it is no button of a rule */
export function readRuleButton(data: string): PressedRule | undefined {
  const [, act, rule, occurrence] =
    /^r:(ack|snooze|stop|undo):([wrpga]-[0-9a-f]{4,12}):(\d{1,16})$/.exec(data) ?? [];
  if (rule === undefined) return undefined;
  return { do: act as PressedRule["do"], rule, occurrence: Number(occurrence) };
}

/** @returns a platform's id as part of a conversation's name; undefined when it contains other characters */
export function idPart(id: unknown): string | undefined {
  const text = typeof id === "number" ? String(id) : id;
  return typeof text === "string" && /^[A-Za-z0-9._@-]{1,64}$/.test(text) ? text : undefined;
}
