/** What a person on any platform can do and see; `on-*.ts` speak as each platform passes it on. */
import type { PlatformServer, Shown } from "./server.ts";

/** Ids that every platform takes. */
export const OWNER = "1001";
export const MEMBER = "1002";
export const GUEST = "1003";

export type Said = {
  status: number;
  /** Until it was acknowledged. */
  ms: number;
  /** What the acknowledgement says to the person, if anything. */
  words: string | undefined;
  /** What stands in the chat now. */
  shown(): Shown[];
};

/** @property thread digits: a topic, a thread, a conversation of its own */
export type Saying = {
  delivery?: string;
  picture?: boolean;
  group?: boolean;
  thread?: string;
  /** In place of a text: these fields of the platform's own message. */
  fields?: Record<string, unknown>;
};

export type Person = {
  channel: string;
  /** Its entry in CHANNELS. */
  settings: Record<string, unknown>;
  server: PlatformServer;
  /** Of one message. */
  textMax: number;
  buttons: boolean;
  say(text: string, from: string, how?: Saying): Promise<Said>;
  /** @param chat whose; the owner's own without */
  press(data: string, from: string, chat?: string): Promise<Said>;
  /** The platform's request with a signature that is wrong, or one that is old. */
  forged(): Promise<number>;
  old?(): Promise<number>;
  limit(seconds: number): void;
  /** Changes what was said before, where the platform passes that on. */
  edit?(text: string, from: string): Promise<Said>;
};

export type Post = (path: string, init: RequestInit) => Promise<Response>;

/** Ids of what is said: each its own. */
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
  shown: () => Shown[],
): Promise<Said> {
  const began = performance.now();
  const response = await post(`/webhooks/${path}/family`, { method: "POST", headers, body });
  const text = await response.text();
  const ms = performance.now() - began;
  const words = text.startsWith("{") ? read(JSON.parse(text) as Record<string, unknown>) : undefined;
  return { status: response.status, ms, words: typeof words === "string" ? words : undefined, shown };
}
