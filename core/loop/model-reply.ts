/** A reply of a model, whatever the wire by which it came. */
import type { Replay, Usage } from "./history.ts";

export type RequestedCall = {
  id: string | undefined;
  name: string;
  rawArguments: string;
  /** What it carried beside that (replay.ts). */
  extra?: Record<string, unknown>;
};

/**
 * Why a reply ended: `length` and `content_filter` cut it. Endpoints have names of their own (`toFinish`); one that is not known
 * here stays as it is.
 */
export type Finish = "stop" | "tool_calls" | "length" | "content_filter" | "error" | (string & {});

export type ModelReply = {
  /** Without thoughts and tokens of the model's own format. */
  text: string;
  calls: RequestedCall[];
  /** The model that answered, as the endpoint names it. */
  model: string;
  usage: Usage | undefined;
  finish: Finish | undefined;
  /** The address and model that gave it (replay.ts). */
  from?: string;
  /** What goes back there with the reply. */
  replay?: Pick<Replay, "message" | "content">;
  /** It has thoughts, whether they are sent back or not. */
  isThoughtful?: boolean;
};
