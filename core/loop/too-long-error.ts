/** The error of a request that is still too long after it was shortened, with what a person can do about it. */
import { ModelError } from "./retry.ts";
import type { TooLong } from "./too-long.ts";
import type { LocalServer } from "./window.ts";

/** All in tokens of our own estimate. */
type Sent = {
  sent: number;
  maxReply: number;
  /** Of system text and tools. */
  beside: number;
  server: LocalServer | undefined;
};

/** The names of the settings of the program that asks. @property history absent: it has no such setting */
export type SettingNames = { reply: string; history?: string };

export class TooLongError extends ModelError {
  readonly #words: TooLong;
  readonly #sent: Sent;

  constructor(error: ModelError, words: TooLong, sent: Sent) {
    // The same request would be refused again, and it says nothing of the model's health.
    super("never", error.message, { status: error.status ?? 400, cause: error });
    this.#words = words;
    this.#sent = sent;
  }

  /** Says what to set, with the numbers. */
  advice({ reply, history }: SettingNames): string {
    const { kind, limit, sent: told } = this.#words;
    const { sent, maxReply, beside, server } = this.#sent;
    if (kind === "output") {
      return limit === undefined
        ? `Set ${reply} lower: it asks for ${tokens(maxReply)}.`
        : `The model gives at most ${tokens(limit)} in a reply: set ${reply} to ${limit} or less.`;
    }
    const numbers =
      limit === undefined
        ? `About ${tokens(told ?? sent)} were sent.`
        : `About ${tokens(told ?? sent)} were sent, and the model takes ${tokens(limit)}.`;
    const fixed =
      beside * 2 > sent
        ? ` ${tokens(beside)} of them are instructions and tools, which every question needs.`
        : "";
    const larger = server === undefined ? "a model with a larger window" : LARGER[server];
    const less =
      history === undefined || beside * 2 > sent
        ? ""
        : ` ${history} bounds what is sent: set it to ${Math.floor((limit ?? sent) / 2)} or less.`;
    return `${numbers}${fixed}${less} What helps most is ${larger}, or a question with less text.`;
  }
}

const LARGER: Record<LocalServer, string> = {
  Ollama: "a larger window (OLLAMA_CONTEXT_LENGTH=16384 where Ollama runs)",
  "llama.cpp": "a larger window (llama-server's --ctx-size, which its slots share)",
  "LM Studio": "a larger context length when LM Studio loads the model",
  vLLM: "a larger window (vLLM's --max-model-len)",
};

function tokens(count: number): string {
  return `${count.toLocaleString("en")} tokens`;
}
