/**
 * The reader alone in a Worker: no home, no bridge, no rows. `/floor` does what a request does without a sentence, `/first` reads one
 * from the language's file and the home's names, both as texts, as they come from the files and the rows.
 */
import type { CompiledLanguage } from "@edgecall/core/sentences/compile.ts";
import { type Lexicon, lexiconFrom } from "@edgecall/core/sentences/lexicon.ts";
import { type NamedThing, NameTable } from "@edgecall/core/sentences/names.ts";
import { readSentence } from "@edgecall/core/sentences/read.ts";
import type { FirstSentence } from "./homes.ts";

/** Kept, as a home keeps them. */
const kept: Array<{ lexicon: Lexicon; table: NameTable }> = [];

export default {
  async fetch(request: Request): Promise<Response> {
    const { sentence, names, words } = (await request.json()) as FirstSentence;
    const things = JSON.parse(names) as NamedThing[];
    if (new URL(request.url).pathname === "/floor")
      return Response.json({ things: things.length, words: words.length });
    const lexicon = lexiconFrom(JSON.parse(words) as CompiledLanguage);
    const table = new NameTable(things);
    kept.push({ lexicon, table });
    const { result } = readSentence(sentence, table, [lexicon]);
    return Response.json({ result });
  },
};
