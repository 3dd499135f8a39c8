/**
 * The languages that the gateway reads and speaks, as files beside the console: the Worker reads one when it is first used. What it says
 * in English is in the Worker.
 */
import { SEARCH_WORDS } from "@edgecall/core/agents/search-words-data.ts";
import { news as csNews } from "@edgecall/core/automations/words/cs.ts";
import { news as deNews } from "@edgecall/core/automations/words/de.ts";
import { news as esNews } from "@edgecall/core/automations/words/es.ts";
import { news as frNews } from "@edgecall/core/automations/words/fr.ts";
import { news as itNews } from "@edgecall/core/automations/words/it.ts";
import { news as nlNews } from "@edgecall/core/automations/words/nl.ts";
import { news as plNews } from "@edgecall/core/automations/words/pl.ts";
import { news as ptNews } from "@edgecall/core/automations/words/pt.ts";
import { news as zhNews } from "@edgecall/core/automations/words/zh.ts";
import { cs } from "@edgecall/core/phrases/languages/cs.ts";
import { de } from "@edgecall/core/phrases/languages/de.ts";
import { es } from "@edgecall/core/phrases/languages/es.ts";
import { fr } from "@edgecall/core/phrases/languages/fr.ts";
import { it } from "@edgecall/core/phrases/languages/it.ts";
import { nl } from "@edgecall/core/phrases/languages/nl.ts";
import { pl } from "@edgecall/core/phrases/languages/pl.ts";
import { pt } from "@edgecall/core/phrases/languages/pt.ts";
import { zh } from "@edgecall/core/phrases/languages/zh.ts";
import { compileLanguage } from "@edgecall/core/sentences/compile.ts";
import { cs as csRead } from "@edgecall/core/sentences/languages/cs.ts";
import { de as deRead } from "@edgecall/core/sentences/languages/de.ts";
import { en as enRead } from "@edgecall/core/sentences/languages/en.ts";
import { es as esRead } from "@edgecall/core/sentences/languages/es.ts";
import { fr as frRead } from "@edgecall/core/sentences/languages/fr.ts";
import { it as itRead } from "@edgecall/core/sentences/languages/it.ts";
import { nl as nlRead } from "@edgecall/core/sentences/languages/nl.ts";
import { pl as plRead } from "@edgecall/core/sentences/languages/pl.ts";
import { pt as ptRead } from "@edgecall/core/sentences/languages/pt.ts";
import { zh as zhRead } from "@edgecall/core/sentences/languages/zh.ts";

/** @returns by name: `phrases-de.json` is what is said in German, `sentences-de.json` how it is read, `search-words.json` by which words devices are found */
export function languageFiles(): Record<string, string> {
  const said = [
    { ...de, more: deNews },
    { ...fr, more: frNews },
    { ...es, more: esNews },
    { ...it, more: itNews },
    { ...nl, more: nlNews },
    { ...pl, more: plNews },
    { ...pt, more: ptNews },
    { ...cs, more: csNews },
    { ...zh, more: zhNews },
  ];
  const read = [enRead, deRead, frRead, esRead, itRead, nlRead, plRead, ptRead, csRead, zhRead];
  return Object.fromEntries([
    ...said.map((data) => [`phrases-${data.language}.json`, JSON.stringify(data)]),
    ["search-words.json", JSON.stringify(SEARCH_WORDS)],
    ...read.map((data) => [`sentences-${data.code}.json`, JSON.stringify(compileLanguage(data))]),
  ]);
}
