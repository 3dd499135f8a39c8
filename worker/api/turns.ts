/** A turn as it begins, and what its caller brings along. */

import type { Source } from "@edgecall/core/loop/taint.ts";
import type { ToolDefinition } from "@edgecall/core/tools/registry.ts";
import type { PastTurn } from "./answers.ts";
import type { NewMedia } from "./media.ts";

/** The tool that the caller wants called: any one, or this one; absent: the model decides. */
export type WantedCall = "required" | { name: string };

export type ClientContext = {
  /** Stands below the gateway's own system prompt, for this turn. */
  instructions?: string;
  /** No tools are offered. */
  tools?: false;
  /** The caller's own (client-tools.ts). */
  clientTools?: ToolDefinition[];
  wants?: WantedCall;
  /** One call at a time, of the caller's tools. */
  oneCall?: true;
  /** Results of the caller's calls in earlier turns, by their `callRef`. */
  results?: Record<string, string>;
  /** What was said before the turn, in place of our rows. Empty: nothing was. */
  history?: ClientHistoryItem[];
  /** Instead: the id of the turn that this one goes on from, whatever was said in others. */
  after?: string;
  /** The id of the turn that said the last answer in `history`, as far as the words tell. */
  follows?: string;
};

/** What of it the turn's row says: without long texts, since the rows of all turns are held in memory. */
export type ClientContextOutline = Pick<
  ClientContext,
  "tools" | "wants" | "oneCall" | "after" | "follows"
> & {
  /** Their names. */
  clientTools?: string[];
  /** The `callRef`s. */
  results?: string[];
  /** The ids of the turns of ours in it. Absent: there is no history. */
  history?: string[];
  /** The number of answers in the history. */
  answers?: number;
};

/** A turn of ours that the caller has in its history as well: our rows know what the devices said. */
export type ClientHistoryItem = ClientHistoryEntry | { turn: string };

export type ClientHistoryEntry = {
  role: "user" | "assistant";
  text: string;
  images?: string[];
  calls?: ClientHistoryCall[];
};

/** A call of a caller's tool, in a reply that was not ours, or of which we have no rows. */
export type ClientHistoryCall = {
  id: string;
  /** `id` is the `callRef` of a call that a turn of ours handed over. */
  own?: true;
  name: string;
  arguments: string;
  result?: string;
};

/** Who asked, over which channel, and where the answer goes if not to the waiting caller. */
export type Origin = {
  principal: string;
  role: "owner" | "member" | "guest";
  channel: string;
  reply?: Record<string, unknown>;
  /** By name; absent = the first. */
  model?: string;
  /** Another model may answer when that one is down. */
  replaceable?: true;
  /** Nobody asked: a job's result set the turn off. */
  event?: "job";
  /** Ids of the pictures and files that it brought. */
  files?: string[];
  brought?: ClientContextOutline;
  /** Its client waits for the answer on this request, and may ask the same again when it was lost. */
  client?: { request: string; lost?: boolean };
  limits?: Limits;
};

/** … as a turn begins: what the caller brought is whole. */
export type NewOrigin = Omit<Origin, "brought"> & { brought?: ClientContext };

/** What a caller's calls are held to, beside what the devices' own policies say. */
export type Limits = {
  /** Only what changes nothing. */
  readsOnly?: boolean;
  /** Ids of the agents in reach; absent = all. */
  agents?: string[];
};

export type NewTurn = {
  id: string;
  idempotency: string | undefined;
  /** It belongs to what the same person has just said, if the model has said nothing since. */
  merge?: boolean;
  /** Empty, without images: nothing new is said; the caller brought what the turn goes on from. */
  text: string;
  /** … and this is what the model is told of it. */
  note?: string;
  /** Whose words are in the text beside the person's. */
  sources?: Source[];
  /** Addresses, and `media:` with the ids of kept ones. */
  images: string[];
  /** Those kept ones. */
  media?: NewMedia[];
  origin: NewOrigin;
};

/** @property before a turn's number; `limit` at most that many of those before it */
export type HistoryPlace = { before: number; limit: number };

/** @property before where the next page goes on; null: there is nothing older */
export type HistoryPage = { turns: PastTurn[]; before: number | null };
