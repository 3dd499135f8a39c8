/**
 * Marks words of another person in a message: a forwarded message, or the transcript of a recording. They are quoted as JSON, so
 * nothing in them can end the quotation.
 */
const MARK = "Not the person's own words";

export function strangersWords(
  what: "forwarded" | "an audio file" | "quoted" | "earlier in this thread",
  words: string,
): string {
  return `[${MARK}, ${what}: ${JSON.stringify(words)}]`;
}

/** @returns the message without the quoted words of others */
export function ownWords(text: string): string {
  return text.replace(/\[Not the person's own words, [a-z ]{1,20}: "(?:[^"\\]|\\.)*"\]/g, "");
}
