/** Calls to devices, as Home takes them and answers. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { AgentCommand, EdgeCallArgs } from "./edge-call.ts";
import type { AskedQuestion } from "./questions.ts";
import type { Limits } from "./turns.ts";

/** An outcome; for a command from the API with the report as it came. */
export type SettledOutcome = Outcome & {
  report?: { report_type: string; payload: Record<string, unknown> };
  /** The agent is busy; it may be asked again after so many seconds. */
  retryAfterS?: number;
};

export type SubmitRequest = {
  /** The call's UUID. */
  id: string;
  /** Null: the call belongs to no turn; its outcome comes over `/wait?call=`. */
  conversation: string | null;
  args: EdgeCallArgs;
  caller: Caller;
  /** The grant of the connected program that calls. Absent: none does. */
  program?: string;
  /** A client watches the turn, so the device's output is sent while it comes. */
  watched: boolean;
  /** Whatever agent it goes to, texts in the conversation taint it (core/loop/taint.ts). */
  tainted: boolean;
  /** The texts in the conversation that taint it. First words of unpaired agents do only if its agent is not open. Absent: not known. */
  sources?: readonly Source[];
  /** Absent: none. */
  limits?: Limits;
  /** An earlier life of Home may have sent the call: a try failed, or the conversation cannot know. Absent: certainly not. */
  sentBefore?: boolean;
  /** When its turn was asked, epoch ms. Absent: just now. */
  askedAt?: number;
  /** Calls whose outcomes came with the reply to `submit`, and are in the transcript now: Home acknowledges their reports. */
  confirmed?: readonly string[];
  /** The `traceparent` of the span that makes the call. Absent: it is not traced. */
  trace?: string | undefined;
  /** When the turn that makes the call began, epoch ms. Absent: no turn does. */
  turn?: number | undefined;
  /** Of the conversation, in which a person is asked about the call. Absent: English. */
  language?: Language | undefined;
  /** The reply of the model that asked for this call and for others. Absent: it asked for this one alone. */
  reply?: ReplyOfCalls;
};

/**
 * @property calls how many calls of the reply are given to Home before any of them has ended
 * @property asks why a person is asked about each change of it, whatever the devices' settings say
 */
export type ReplyOfCalls = { id: string; calls: number; asks?: string };

/** @property sentTo the agent to which an earlier life of Home may have sent the call; absent: it certainly was not sent */
export type CancelledCall = { id: string; sentTo?: string };

export type SubmitReply = (
  | /**
   * The call was accepted and ends by `deadline` (epoch ms) in any case. An outcome that came at once is in the reply, and the
   * conversation confirms it with its next request; otherwise Home has stored the call.
   */ { accepted: true; deadline: number; outcome?: SettledOutcome }
  | { accepted: false; outcome: SettledOutcome }
) & {
  /** Home's at this moment, as with a result. */
  rosterVersion?: number;
};

export type CommandRequest = {
  id: string;
  agent: string;
  order: AgentCommand;
  caller: Caller;
  /** An owner pressed it in the console, which approves a harmless change of a hosted device. */
  pressed?: true;
  trace?: string;
};

/** A message to whoever waits for a call that belongs to no conversation. The outcome comes last and has a `status`. */
export type CallNews =
  /** A device's output as it comes. */
  | { news: "progress"; text: string }
  /** A person has to answer before the call goes on. */
  | { news: "question"; question: AskedQuestion };
