/**
 * A conversation as the tool loop sees it. The transcript is the program counter: what happens next is a
 * function of these entries alone (next.ts), so a turn resumes anywhere its entries can be read.
 */
import type { Media, StoredMedia } from "../protocol/media.ts";
import type { Advised } from "../tools/advice.ts";
import type { ErrorType } from "../tools/errors.ts";
import type { Source } from "./taint.ts";

/** What a call of a tool came to. */
export type Outcome = Advised & {
  status: "success" | "error";
  /** What the person reads, when the tool has something for them. */
  forUser?: string;
  errorType?: ErrorType;
  /** The device's own time where it tells one; else from the call to its report. */
  elapsedMs: number;
  /** Time beside that: for a person, for other calls, for the line. Absent below a second. */
  waitedMs?: number;
  /** The arguments as they ran, where the model's own words were brought into the tool's form. */
  args?: Record<string, unknown>;
  /** The calls that a device's own loop made to answer. */
  calls?: CallRecord[];
  /** The sources of its text. None: only the gateway's own words. Absent: the words of whoever was called. */
  sources?: Source[];
  /** Only accepted; the real result comes under this token. */
  job?: string;
  /** It came after the call had been answered otherwise. */
  late?: boolean;
  /** Pictures and files that it brought. */
  media?: Media[];
};

/** One tool invocation that a model asked for. */
export type Call = {
  /** Ours, a UUID: names the call in every ledger. */
  id: string;
  /** The model's id, made unique within the conversation; pairs the call with its result. */
  modelCallId: string;
  name: string;
  args: Record<string, unknown>;
  /** The arguments could not be read; in words, for the model. */
  problem?: string;
  outcome?: Outcome;
};

export type Entry =
  /** `images`: an https address, a `data:` URL, or `media:` and the id of a kept one. */
  | { role: "user"; text: string; images?: string[] }
  | { role: "assistant"; text: string; calls: Call[] }
  | Note;

/** The gateway's own word to the model: a late result, a job's result, a summary of what was left out. */
export type Note = {
  role: "note";
  text: string;
  /** It stands where turns were left out (fit.ts). */
  leftOut?: LeftOut;
};

/** @property turns how many were left out in all; the summary tells of the oldest `summary.turns` of them */
export type LeftOut = { turns: number; summary?: Summary };
export type Summary = { text: string; turns: number };

/** A call as it is shown beside an answer: what was claimed can be held against what happened. */
export type CallRecord = {
  id: string;
  name: string;
  agent?: string;
  action?: string;
  query?: string;
  args?: Record<string, unknown>;
  status: "pending" | "success" | "error";
  error_type?: ErrorType;
  error?: string;
  result?: string;
  /** For the person, where it is more than the result: the diff of an edit. The model does not read it. */
  for_user?: string;
  elapsed_ms?: number;
  /** Time beside it: for a person, for other calls, for the line. */
  waited_ms?: number;
  /** At `/v1/media/{id}`. */
  media?: StoredMedia[];
  calls?: CallRecord[];
};

/** Tokens, by the endpoint's own count. */
export type Usage = { input_tokens: number; output_tokens: number };

export function addUsage(a: Usage, b: Usage | undefined): Usage {
  return {
    input_tokens: a.input_tokens + (b?.input_tokens ?? 0),
    output_tokens: a.output_tokens + (b?.output_tokens ?? 0),
  };
}
