/** Chat pages ask for titles, tags and follow-up questions on their own account, in the words of their templates. */

/** By the beginning of the last message: Open WebUI, three forms; LibreChat, two. */
const TEMPLATES = [
  // Titles, tags, follow-up questions, search queries, autocompletion, prompts of pictures.
  /^\s*### Task:\s/,
  // The emoji of a voice call; several models' answers made into one.
  /^\s*Your task is to reflect the speaker's likely facial expression\b/,
  /^\s*You have been provided with a set of responses from various models to the latest user query\b/,
  /^\s*(Please generate|Provide) a concise, 5-word-or-less title\b/i,
  /^\s*Analyze this conversation and provide:\s+1\. The detected language/i,
];

/** Of the instructions, where Open WebUI has a model choose among its own tools in words. */
const CHOOSES_TOOLS = /^\s*Available Tools:/;

/** Such a request is answered without tools, and is nobody's conversation. */
export function isBackgroundRequest(text: string, instructions: string): boolean {
  return CHOOSES_TOOLS.test(instructions) || TEMPLATES.some((template) => template.test(text));
}
