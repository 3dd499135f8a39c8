/**
 * Words in a person's message that are somebody else's: a forwarded message, the transcript of a recording. They are quoted as
 * JSON, so nothing in them ends the quotation.
 */
const MARK = "Not the person's own words";

export function strangersWords(what: "forwarded" | "an audio file", words: string): string {
  return `[${MARK}, ${what}: ${JSON.stringify(words)}]`;
}

/** The person's own words in a message. */
export function ownWords(text: string): string {
  return text.replace(/\[Not the person's own words, [a-z ]{1,20}: "(?:[^"\\]|\\.)*"\]/g, "");
}
