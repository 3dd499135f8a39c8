/** Recognises requests that a chat page makes itself, for titles, tags and follow-up questions, by the words of its templates. */

/** Beginnings of the last message: three forms of Open WebUI, two of LibreChat. */
const TEMPLATES = [
  // Titles, tags, follow-up questions, search queries, autocompletion, prompts of pictures.
  /^\s*### Task:\s/,
  // The emoji of a voice call; several models' answers made into one.
  /^\s*Your task is to reflect the speaker's likely facial expression\b/,
  /^\s*You have been provided with a set of responses from various models to the latest user query\b/,
  /^\s*(Please generate|Provide) a concise, 5-word-or-less title\b/i,
  /^\s*Analyze this conversation and provide:\s+1\. The detected language/i,
];

/** A beginning of the instructions, where Open WebUI lets a model choose among its own tools in words. */
const CHOOSES_TOOLS = /^\s*Available Tools:/;

/** @returns true for a request of the page itself: it gets an answer without tools, in no person's conversation */
export function isBackgroundRequest(text: string, instructions: string): boolean {
  return CHOOSES_TOOLS.test(instructions) || TEMPLATES.some((template) => template.test(text));
}
