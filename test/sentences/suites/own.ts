/** Our own sentences, said to the demo home. */
import { LANGUAGES } from "@edgecall/core/text/languages.ts";
import { demoHome } from "../homes.ts";
import type { Item } from "../item.ts";
import type { Expected } from "../meaning.ts";
import { OWN } from "../own/all.ts";

export const ownItems = (): Item[] =>
  LANGUAGES.flatMap((language) => {
    const home = demoHome(language);
    return OWN[language].map((sentence) => ({
      ...sentence,
      language,
      home,
      intent: intentOf(sentence.means),
    }));
  });

/** "acts", "ask", "watch" …; "nothing" and "either" are one group, since none of them may act. */
function intentOf(means: Expected): string {
  if (typeof means === "string") return "must not act";
  const one = Array.isArray(means) ? means[0] : means;
  return Object.keys(one ?? {})[0] ?? "";
}
