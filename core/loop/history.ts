/**
 * A conversation as the tool loop sees it. The transcript is the program counter: the next step is a function of these
 * entries alone (next.ts), so a turn can resume wherever its entries can be read.
 */
import type { ReportedValue } from "../protocol/devices.ts";
import type { Media, StoredMedia } from "../protocol/media.ts";
import { type Advised, forModel } from "../tools/advice.ts";
import type { ErrorType } from "../tools/errors.ts";
import type { Source } from "./taint.ts";

/** The result of a tool call. */
export type Outcome = Advised & {
  status: "success" | "error";
  /** Text for the person, when the tool has one. */
  forUser?: string;
  /** The text that the person is shown, whatever the model makes of it. @property undo the rule that was made, which a button ends */
  shown?: { text: string; undo?: string };
  errorType?: ErrorType;
  /** The device's own measurement when it sends one; otherwise the time from the call to its report. */
  elapsedMs: number;
  /** Time spent waiting besides that: for a person, other calls or the connection. Absent below a second. */
  waitedMs?: number;
  /** The arguments that the tool got, when the model's own were converted to its schema. */
  args?: Record<string, unknown>;
  /** The calls that the device's own loop made for its answer. */
  calls?: CallRecord[];
  /** The device says that its own model called no tool for its answer. Absent: it called some, or does not say. */
  asked?: false;
  /** The sources of its text. Empty: the gateway's own text. Absent: the text of the program that was called. */
  sources?: Source[];
  /** The call was only accepted; the final result arrives under this token. */
  job?: string;
  /** The gateway refused the call: no agent got it. */
  unsent?: true;
  /** It arrived after the call already had another result. */
  late?: boolean;
  /** Its pictures and files. */
  media?: Media[];
  /** Tokens that agents used for it, as they say. */
  usage?: Usage;
  /** Of a change to a device of the broker: whether its own state confirmed it. Absent: an older bridge, or something else. */
  confirmed?: boolean;
  /** What that device reported of what was to be changed. */
  reported?: ReportedValue[];
  /** The device had confirmed the change, and has taken it back: this takes the place of the outcome before. */
  corrects?: true;
  /** A person did not approve it, or nobody did in time. */
  approval?: "denied" | "expired";
  /** The person who did not approve it, by name. Absent: it is the one who asked, or it is not known. */
  deniedBy?: string;
  /** The agent that was chosen for a call that named none, and why. */
  routed?: { agent: string; why: string };
  /** The session that it began or asked. */
  session?: string;
  /** Tokens that the session may take until its end says what it took. */
  reserved?: number;
};

/** One tool invocation that a model asked for. */
export type Call = {
  /** Our UUID, which names the call in every ledger. */
  id: string;
  /** The model's id, made unique within the conversation. It pairs the call with its result. */
  modelCallId: string;
  name: string;
  args: Record<string, unknown>;
  /** Why the arguments could not be read, as a text for the model. */
  problem?: string;
  /** The id of an equal call of its reply, which runs for both (bounded-calls.ts). */
  same?: string;
  outcome?: Outcome;
};

/** The agent that a call went to: the one that was chosen, else the one that the call names. */
export function agentOfCall({ args, outcome }: Pick<Call, "args" | "outcome">): string | undefined {
  const agent = outcome?.routed?.agent ?? args.agent_id;
  return typeof agent === "string" ? agent : undefined;
}

/** A note for models and people on an outcome with `asked: false`: a model also says "Done!" without a call. */
export const NO_TOOL_CALLED =
  "the device's model called no tool for this answer; nothing was done or measured";

/** Returns an outcome's text for a model, after lines about the agent that was chosen for it and an answer without a call. */
export function outcomeForModel(outcome: Pick<Outcome, "text" | "advice" | "routed" | "asked">): string {
  const { routed, asked } = outcome;
  return `${routed ? `[${routed.agent} was ${routed.why}]\n` : ""}${asked === false ? `[${NO_TOOL_CALLED}]\n` : ""}${forModel(outcome)}`;
}

/** Why a reply is not whole, as OpenAI's `finish_reason` and `incomplete_details.reason` say it. */
export type Cut = "length" | "content_filter";

/** Members that go back with a reply to the model that gave it (replay.ts). */
export type Replay = {
  /** The address and model that gave it (`sourceOf`). */
  from: string;
  /** Members of the message, under the names under which they came. */
  message?: Record<string, unknown>;
  /** The content as it came, where the text that is shown differs from it: with thoughts, or as a list of parts. */
  content?: unknown;
  /** Members of the calls, by `modelCallId`. `id` is the endpoint's own id, where ours differs. */
  calls?: Record<string, Record<string, unknown>>;
};

export type Entry =
  /** `images`: an https address, a `data:` URL, or `media:` and the id of a stored picture. */
  | { role: "user"; text: string; images?: string[] }
  /** `cut`: the reply is not whole. `replay`: what the model's endpoint wants back with it; it is never shown. */
  | { role: "assistant"; text: string; calls: Call[]; cut?: Cut; replay?: Replay }
  | Note;

/** A message from the gateway to the model: a late result, a job's result, or a summary of turns left out. */
export type Note = {
  role: "note";
  text: string;
  /** Present when the note replaces turns that were left out (fit.ts). */
  leftOut?: LeftOut;
};

/** @property turns the number left out in total; the summary covers the oldest `summary.turns` of them */
export type LeftOut = { turns: number; summary?: Summary };
export type Summary = { text: string; turns: number };

/** A call as it is shown beside an answer, so that a person can compare the answer's claims with what happened. */
export type CallRecord = {
  id: string;
  name: string;
  agent?: string;
  action?: string;
  query?: string;
  args?: Record<string, unknown>;
  /** The id of an equal call of the same reply: that one ran, and this one did not. */
  same_as?: string;
  status: "pending" | "success" | "error";
  error_type?: ErrorType;
  error?: string;
  result?: string;
  /** The agent's own model called no tool for its answer, so nothing was done or measured. Absent: it called some, or does not say. */
  asked?: false;
  /** Text for the person when it says more than the result, such as the diff of an edit. The model does not get it. */
  for_user?: string;
  elapsed_ms?: number;
  /** Time spent waiting besides that: for a person, other calls or the connection. */
  waited_ms?: number;
  /** Each is served at `/v1/media/{id}`. */
  media?: StoredMedia[];
  calls?: CallRecord[];
};

/** JSON of the calls that go with an outcome: they have to fit a message to a device. */
const CALLS_MAX_CHARS = 64 * 1024;

/** Returns the first calls, as many as go with an outcome. */
export function fittingCalls(calls: readonly CallRecord[]): CallRecord[] {
  let chars = 0;
  return calls.filter((call) => {
    chars += JSON.stringify(call).length;
    return chars <= CALLS_MAX_CHARS;
  });
}

/** Tokens as the endpoint counts them. */
export type Usage = { input_tokens: number; output_tokens: number };

export function addUsage(a: Usage, b: Usage | undefined): Usage {
  return {
    input_tokens: a.input_tokens + (b?.input_tokens ?? 0),
    output_tokens: a.output_tokens + (b?.output_tokens ?? 0),
  };
}

export function tokensOf({ input_tokens, output_tokens }: Usage): number {
  return input_tokens + output_tokens;
}
