/** Other people's words in a message of ours: on one line, with nothing hidden, and never a link. */
import { lazy } from "../text/lazy.ts";
import { oneLine } from "../tools/one-line.ts";
import { visible } from "../tools/visible.ts";

const DEVICE_WORDS_MAX = 200;

/** Not seen, and no chat app takes an address with it for one. */
const JOINER = "\u2060";
/** A scheme, the dots of a domain, an address of e-mail, a name that a chat app would notify, a command, a tag. */
const LINKS = lazy(() => /:(?=\/\/)|(?<=\p{L}|\d)\.(?=\p{L})|@|(?<!\S)[/#](?=\p{L})/gu);

/** Names and texts of people and models. */
export function plainText(text: string, max: number): string {
  return shownText(text, max).replace(LINKS(), (sign) => `${sign}${JOINER}`);
}

/** The same where nothing becomes a link, and where a person may edit it. */
export function shownText(text: string, max: number): string {
  return visible(oneLine(text, max));
}

/** For a card that a person allows, on which no sign is one that is not seen: a blank keeps words from being a link. */
export function spaced(text: string): string {
  return text.replaceAll(JOINER, " ");
}

/** For a page of ours: without what keeps chat apps from making links. A joiner of somebody else's is an escape already. */
export function unjoined(text: string): string {
  return text.replaceAll(JOINER, "");
}

/** What a device says, quoted, so that nobody takes it for words of ours. Nothing in it can end the quotation. */
export function deviceText(text: string): string {
  return `“${plainText(text, DEVICE_WORDS_MAX).replace(/[“”]/g, "'")}”`;
}
