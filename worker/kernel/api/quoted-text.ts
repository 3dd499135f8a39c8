/**
 * Marks words of another person in a message: a forwarded or quoted message, or the transcript of a recording. They are quoted as
 * JSON, so nothing in them can end the quotation.
 */
const MARK = "Not the person's own words";
const OURS = "It replies to your own message";

type What = "forwarded" | "an audio file" | "quoted" | "in this thread";

export function quotedText(what: What, words: string): string {
  return `[${MARK}, ${what}: ${JSON.stringify(words)}]`;
}

/** @param words of the gateway's message to which the person replies; undefined: they are not known any more */
export function repliesToUs(words: string | undefined): string {
  return words === undefined
    ? `[${OURS}, which is not known here any more]`
    : `[${OURS}: ${JSON.stringify(words)}]`;
}

/** @returns the message without the quoted words of others, and without ours, which may be a device's */
export function ownText(text: string): string {
  return text.replace(
    /\[(?:Not the person's own words, [a-z ]{1,20}|It replies to your own message): "(?:[^"\\]|\\.)*"\]/g,
    "",
  );
}
