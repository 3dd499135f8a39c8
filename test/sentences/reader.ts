/** The reader of `core/sentences`, as the suites ask it: a sentence said to a home. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { LanguageData } from "../../core/sentences/language.ts";
import { type Lexicon, makeLexicon } from "../../core/sentences/lexicon.ts";
import { type NamedThing, NameTable } from "../../core/sentences/names.ts";
import { readSentence } from "../../core/sentences/read.ts";
import type { Home } from "./homes.ts";
import type { Item } from "./item.ts";
import { eachThing, type Got } from "./judge.ts";
import { meaningOf } from "./of-frames.ts";

const FOLDER = join(import.meta.dirname, "../../core/sentences/languages");

const lexicons = new Map<Language, Lexicon>();
for (const name of readdirSync(FOLDER).filter((file) => /^[a-z]{2}\.ts$/.test(file))) {
  const language = name.slice(0, 2) as Language;
  const data = (await import(pathToFileURL(join(FOLDER, name)).href)) as Record<string, LanguageData>;
  if (data[language] === undefined) throw new Error(`${name} has no language ${language}`);
  lexicons.set(language, makeLexicon(data[language]));
}

/** The languages that the reader has. */
export const isKnown = (language: Language): boolean => lexicons.has(language);

export interface Understanding {
  got: Got;
  /** Why it was passed on, as the reader says it. */
  why: string;
}

/** @throws Error when the reader does not have the language */
export function understand({ text, language, home, it }: Item): Understanding {
  const lexicon = lexicons.get(language);
  if (lexicon === undefined) throw new Error(`the reader has no ${language}`);
  const read = readSentence(text, tableOf(home), [lexicon]);
  if (read.result === "one") return { got: meaningOf(read.frames, home, it), why: "" };
  if (read.result === "several") {
    // As the gateway does: meanings that come to the same are one.
    const all = read.meanings.map(({ frames }) => meaningOf(frames, home, it));
    const [first = "passed", ...others] = all;
    if (others.every((one) => sameText(one, home) === sameText(first, home))) return { got: first, why: "" };
  }
  return { got: "passed", why: read.result === "none" ? JSON.stringify(read.reason) : "several meanings" };
}

function sameText(got: Got, home: Home): string {
  if (got === "passed" || !("acts" in got)) return JSON.stringify(got);
  const acts = eachThing(got.acts, home).map(({ asksWhich: _, ...one }) => JSON.stringify(one));
  return acts.sort().join();
}

const tables = new WeakMap<Home, NameTable>();

/** Publishers named the devices. A person's own names are stricter: one that is also a type's word, as "Ceiling fan", is asked back. */
function tableOf(home: Home): NameTable {
  const known = tables.get(home);
  if (known !== undefined) return known;
  const place = (of: "area" | "floor") => (name: string) => ({ id: name, name, of, own: true });
  const table = new NameTable([
    ...home.areas.map(place("area")),
    ...(home.floors ?? []).map(place("floor")),
    ...home.devices.map(
      ({ id, name, area, kind }): NamedThing => ({
        id,
        name,
        of: "device",
        own: kind === "machine",
        ...(area === undefined ? {} : { area }),
      }),
    ),
  ]);
  tables.set(home, table);
  return table;
}
