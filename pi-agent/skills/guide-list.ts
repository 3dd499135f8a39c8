import type { Guide } from "./skill-guide.ts";

/** Of one description here; all of it comes with the instructions. */
const SHOWN_CHARS = 250;
/** Each one is paid for at every model call. */
const SHOWN_GUIDES = 30;

/** The part of the agent's system prompt that names its skills; empty without any. */
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
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS - 1)}…`;
}

function names(guides: readonly Guide[]): string {
  return guides.map(({ name }) => name).join(", ");
}
