/** A person on any platform, with the actions and messages that a person has there. `on-*.ts` send it in each platform's form. */
import type { ChatMessage, PlatformServer } from "./server.ts";

/** Ids that are valid on every platform. */
export const OWNER = "1001";
export const MEMBER = "1002";
export const GUEST = "1003";

export type SentMessage = {
  status: number;
  /** Milliseconds until the acknowledgement. */
  ms: number;
  /** The text that the acknowledgement shows to the person, if any. */
  words: string | undefined;
  /** Returns the present messages of the chat. */
  messages(): ChatMessage[];
};

/** @property thread digits: a topic, a thread, or a separate conversation */
export type MessageOptions = {
  delivery?: string;
  picture?: boolean;
  group?: boolean;
  thread?: string;
  /** Instead of a text: these fields of the platform's own message. */
  fields?: Record<string, unknown>;
};

export type Person = {
  channel: string;
  /** The platform's entry in CHANNELS. */
  settings: Record<string, unknown>;
  server: PlatformServer;
  /** The greatest length of one message, in characters. */
  textMax: number;
  buttons: boolean;
  say(text: string, from: string, how?: MessageOptions): Promise<SentMessage>;
  /** @param chat the chat of the button; by default the owner's @param how `group`: it is the group of this number */
  press(data: string, from: string, chat?: string, how?: { group?: boolean }): Promise<SentMessage>;
  /** Sends the platform's request with an invalid signature, or an old one. */
  forged(): Promise<number>;
  old?(): Promise<number>;
  limit(seconds: number): void;
  /** Changes an earlier message, where the platform reports that. */
  edit?(text: string, from: string): Promise<SentMessage>;
};

export type Post = (path: string, init: RequestInit) => Promise<Response>;

/** Returns a source of unique message ids. */
export function numbers(): () => number {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}

export const common = (channel: string) => ({
  connection: "family",
  channel,
  home: "a",
  role_of: { [OWNER]: "owner", [MEMBER]: "member", [GUEST]: "guest" },
});

export async function timed(
  post: Post,
  path: string,
  body: string,
  headers: Record<string, string>,
  read: (body: Record<string, unknown>) => unknown,
  messages: () => ChatMessage[],
): Promise<SentMessage> {
  const began = performance.now();
  const response = await post(`/webhooks/${path}/family`, { method: "POST", headers, body });
  const text = await response.text();
  const ms = performance.now() - began;
  const words = text.startsWith("{") ? read(JSON.parse(text) as Record<string, unknown>) : undefined;
  return {
    status: response.status,
    ms,
    words: typeof words === "string" ? words : undefined,
    messages: messages,
  };
}
