/** Says how much of a conversation fits the model. */
import { askWindow, isLocalModel, type Window } from "../loop/window.ts";

type Model = { baseUrl: string; name: string; apiKey: string };

/** A smaller one has hardly room for the tools of a home. */
const ENOUGH = 8_192;

/** @returns undefined: a hosted endpoint, or it does not tell */
export async function windowOf(model: Model): Promise<Window | undefined> {
  return isLocalModel(model) ? await askWindow({ ...model, model: model.name }) : undefined;
}

export async function windowText(model: Model): Promise<string> {
  if (!isLocalModel(model)) return "window: a hosted endpoint; HISTORY_MAX_TOKENS bounds what is sent";
  const window = await windowOf(model);
  if (window?.tokens === undefined)
    return `window: ${window?.server ?? "the server"} does not tell it; HISTORY_MAX_TOKENS bounds what is sent`;
  const isSmall = window.tokens < ENOUGH;
  const more =
    window.server === "Ollama"
      ? "start it with OLLAMA_CONTEXT_LENGTH=16384"
      : "load the model with a larger context length";
  const text = `window: ${window.tokens.toLocaleString("en")} tokens, as ${window.server} tells`;
  return isSmall ? `${text}; that is little for tools and a conversation: ${more}` : text;
}
