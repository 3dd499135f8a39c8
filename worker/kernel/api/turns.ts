/** A new turn, and the context that its client sends with it. */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { ToolDefinition } from "@edgecall/core/tools/registry.ts";
import type { PastTurn } from "./answers.ts";
import type { NewMedia } from "./media.ts";
import type { Notice } from "./notices.ts";

/** The client wants any tool called, or this one. Absent: the model decides. */
export type WantedCall = "required" | { name: string };

export type ClientContext = {
  /** Added below the gateway's system prompt, for this turn. */
  instructions?: string;
  /** Those of the instructions that came as messages. */
  developer?: string[];
  /** The model gets no tools. */
  tools?: false;
  /** The client's own tools (client-tools.ts). */
  clientTools?: ToolDefinition[];
  wants?: WantedCall;
  /** The client's tools are called one at a time. */
  oneCall?: true;
  /** Results of the client's tools called in earlier turns, by `callRef`. */
  results?: Record<string, string>;
  /** The history before the turn, used in place of our rows. Empty: there is none. */
  history?: ClientHistoryItem[];
  /** In place of a history: the id of the turn from which this one continues, whatever other turns say. */
  after?: string;
  /** The id of the turn that gave the last answer in `history`, as far as its text tells. */
  follows?: string;
};

/** The part that is stored in the turn's row. It has no long texts, since the rows of all turns are held in memory. */
export type ClientContextOutline = Pick<
  ClientContext,
  "tools" | "wants" | "oneCall" | "after" | "follows"
> & {
  /** The tools' names. */
  clientTools?: string[];
  /** The `callRef`s. */
  results?: string[];
  /** The ids of our turns in the history. Absent: there is no history. */
  history?: string[];
  /** The number of answers in the history. */
  answers?: number;
};

/** `turn`: one of our turns that is also in the client's history; our rows have the devices' texts. */
export type ClientHistoryItem = ClientHistoryEntry | { turn: string };

/** Items that a client sent with its request, in this order. `own` calls as in `ClientHistoryCall`. */
export type TurnInput =
  | { role: "system" | "user" | "assistant"; text: string; images?: string[] }
  | ({ role: "call" } & Omit<ClientHistoryCall, "result">)
  | { role: "result"; id: string; own?: true; text: string };

export type ClientHistoryEntry = {
  role: "user" | "assistant";
  text: string;
  images?: string[];
  calls?: ClientHistoryCall[];
};

/** A call of a client's tool in a reply that is not ours, or without rows here. */
export type ClientHistoryCall = {
  id: string;
  /** `id` is the `callRef` of a call that one of our turns gave to the client. */
  own?: true;
  name: string;
  arguments: string;
  result?: string;
};

/** The origin of a turn: the principal, the channel, and where the answer goes. */
export type Origin = {
  principal: string;
  role: "owner" | "member" | "guest";
  channel: string;
  /** In a private chat the conversation in which rules tell this person, where that is another one. */
  privateChat?: string | undefined;
  reply?: Record<string, unknown>;
  /** In which the person reads what is said here. Absent: English. */
  language?: Language;
  /** The model's name; absent: the first model. */
  model?: string;
  /** Another model may answer when that one is down. */
  replaceable?: true;
  /** The client wants no response that can be fetched later (OpenAI's `store: false`). */
  unstored?: true;
  /** A job's result began the turn, or a rule: what it says, or a briefing that it asks for. */
  event?: "job" | "rule";
  /** What a rule says: the turn's answer, with these buttons. Absent in a briefing. */
  notice?: Pick<Notice, "rules" | "buttons" | "critical" | "next">;
  /** Ids of the pictures and files that the job returned. */
  files?: string[];
  brought?: ClientContextOutline;
  /** The client waits for the answer to this request, and may repeat the request after a lost connection. */
  client?: {
    request: string;
    lost?: boolean;
    /** It goes after so many seconds, and the turn runs on without it. */
    waits?: number;
  };
  limits?: Limits;
  session?: SessionOrigin;
  /** The `traceparent` of the span that began it, which also says whether the turn is recorded. Absent: nothing is traced. */
  trace?: string;
};

/** A turn that a tool began, in a session of its own or in another conversation. */
type SessionOrigin = {
  /** The conversation that gets its end; null: none. */
  parent: string | null;
  /** The call of that conversation. */
  call: string;
  /** The number of sessions above it. */
  depth: number;
  /** Tokens of all turns that the call began, or that followed from those. */
  budget?: number;
  /** Its title in the list. */
  label?: string;
  /** The device that began it. */
  agent?: string;
};

/** A conversation as `session_status` shows it. Tokens and turns are those of its whole life; `lastAt` in epoch ms. */
export type SessionInfo = {
  principal: string;
  status: "running" | "idle" | "waiting";
  turns: number;
  tokens: number;
  /** True if others than the person of that turn wrote in it. */
  others: boolean;
  /** Of the turn that runs, or of the last one. */
  session?: SessionOrigin;
  /** The conversation whose call began this one. */
  parent?: string | null;
  /** Of the session's budget. */
  tokensLeft?: number;
  lastAt: number;
  waitsFor?: string;
  /** The turn that runs. */
  turn?: string;
};

/** A turn that a tool began, for whoever waits for it. @property at epoch ms of its beginning @property budget tokens @property outcome absent: it runs */
export type SessionTurn = { at: number; budget?: number | undefined; outcome?: Outcome };

/** The origin of a new turn, with the client's whole context. */
export type NewOrigin = Omit<Origin, "brought"> & { brought?: ClientContext };

/** Limits of a caller's calls, beside the devices' own policies. */
export type Limits = {
  /** Only actions that change nothing. */
  readsOnly?: boolean;
  /** Ids of the agents in reach; absent = all. */
  agents?: string[];
};

export type NewTurn = {
  id: string;
  idempotency: string | undefined;
  /** Joins the same person's previous message, if the model has not answered since. */
  merge?: boolean;
  /** Empty, without images: no new message; the turn continues from the client's history. */
  text: string;
  /** The text that the model gets when there is no new message. */
  note?: string;
  /** The sources of texts in the message beside the person's own. */
  sources?: Source[];
  /** Addresses, or `media:` with the id of a stored picture. */
  images: string[];
  /** The pictures to store. */
  media?: NewMedia[];
  origin: NewOrigin;
};

/** @property before a turn's number; `limit` at most that many of those before it */
export type HistoryPlace = { before: number; limit: number };

/** @property before where the next page goes on; null: there is nothing older */
export type HistoryPage = { turns: PastTurn[]; before: number | null };

/** So many characters of a call's UUID identify it in a conversation. */
const REF_CHARS = 12;

/** @returns the part of the id by which a client knows a call of its own tool */
export function callRef(id: string): string {
  return id.replaceAll("-", "").slice(0, REF_CHARS);
}

/** The place for an answer, as JSON in rows. `connection` is the connection's name; no field is a secret. */
export type Address = { connection: string; [field: string]: string | number | boolean | undefined };
