/** Chat pages ask for titles, tags and follow-up questions on their own account, in the words of their templates. */

/** By the beginning of the last message: Open WebUI; LibreChat, two forms. */
const TEMPLATES = [
  /^\s*### Task:\s/,
  /^\s*(Please generate|Provide) a concise, 5-word-or-less title\b/i,
  /^\s*Analyze this conversation and provide:\s+1\. The detected language/i,
];

/** Such a request is answered without tools, and is nobody's conversation. */
export function isBackgroundRequest(text: string): boolean {
  return TEMPLATES.some((template) => template.test(text));
}
