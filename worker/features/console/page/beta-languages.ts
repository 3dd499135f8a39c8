/** What the console says of the languages of plain sentences. */
import { languageNames } from "@edgecall/core/text/languages.ts";

export function betaText(): string {
  return `Beta, as no native speaker has read their words yet: ${languageNames().beta.join(", ")}.`;
}
