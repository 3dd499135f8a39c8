/** The form in which a model is asked and answers: OpenAI's chat completions, or Anthropic's messages. */
import type { Habit } from "./habits.ts";
import type { ModelReply } from "./model-reply.ts";
import type { ModelRequest, ModelSettings, RequestBody } from "./request.ts";

export type Wire = {
  /** @returns the path of a request. @param base the path of the base address, without a slash at its end */
  path(base: string): string;
  /** @param apiKey empty = none */
  headers(apiKey: string, url: URL): Record<string, string>;
  /** @param habits what this address and model refused before */
  body(settings: ModelSettings, request: ModelRequest, habits: ReadonlySet<Habit>): RequestBody;
  /** @param names of the tools that the request offers */
  reader(names: ReadonlySet<string>): ReplyReader;
};

/** Builds a reply from the events of a stream, or from one whole answer. */
export interface ReplyReader {
  /**
   * @param event the name of a server-sent event; empty when it has none, or when the value is a whole answer
   * @returns the text that can be shown
   */
  add(value: unknown, event: string): string;
  /** Characters of text, thoughts, names and arguments so far. */
  readonly length: number;
  /** The reply is complete. Errors of the connection after that are ignored. */
  readonly finished: boolean;
  /**
   * After the last event.
   * @returns the text that was not shown yet; `isOther` when something was shown that is no part of the text, which `left` then has whole
   */
  end(): { left: string; isOther: boolean };
  /** @param fallbackModel the name for an endpoint that does not tell its model */
  build(fallbackModel: string): ModelReply;
}
