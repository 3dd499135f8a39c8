/** The languages in which the gateway speaks, as files beside the console: the Worker reads one when it speaks it. English is in the Worker. */
import { cs } from "@edgecall/core/phrases/languages/cs.ts";
import { de } from "@edgecall/core/phrases/languages/de.ts";
import { es } from "@edgecall/core/phrases/languages/es.ts";
import { fr } from "@edgecall/core/phrases/languages/fr.ts";
import { it } from "@edgecall/core/phrases/languages/it.ts";
import { nl } from "@edgecall/core/phrases/languages/nl.ts";
import { pl } from "@edgecall/core/phrases/languages/pl.ts";
import { pt } from "@edgecall/core/phrases/languages/pt.ts";
import { zh } from "@edgecall/core/phrases/languages/zh.ts";

/** @returns by name, as `phrases-de.json` */
export function phraseFiles(): Record<string, string> {
  const all = [de, fr, es, it, nl, pl, pt, cs, zh];
  return Object.fromEntries(all.map((data) => [`phrases-${data.language}.json`, JSON.stringify(data)]));
}
