import { cutText } from "@edgecall/core/text/cut.ts";
import type { Guide } from "./skill-guide.ts";

/** Characters of a description in the list; the instructions contain all of it. */
const SHOWN_CHARS = 250;
/** Most guides in the list, since each costs tokens at every model call. */
const SHOWN_GUIDES = 30;

/** Returns the part of the system prompt that lists the skills; empty without any. */
export function guideList(guides: readonly Guide[]): string {
  if (guides.length === 0) return "";
  const lines = guides
    .slice(0, SHOWN_GUIDES)
    .map(({ name, description }) => `- ${name}: ${cut(description.replaceAll(/\s+/g, " "))}`);
  const more = guides.length - lines.length;
  return [
    "Skills are instructions for kinds of work. When a question fits one, call the tool 'skill' with its name first, and follow what it says:",
    ...lines,
    ...(more > 0 ? [`- and ${more} more: ${names(guides.slice(SHOWN_GUIDES))}`] : []),
  ].join("\n");
}

function cut(text: string): string {
  return cutText(text, SHOWN_CHARS);
}

function names(guides: readonly Guide[]): string {
  return guides.map(({ name }) => name).join(", ");
}
