import type { Language } from "@edgecall/core/text/languages.ts";
import type { Sentence } from "../meaning.ts";
import { cs } from "./cs.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { it } from "./it.ts";
import { nl } from "./nl.ts";
import { pl } from "./pl.ts";
import { pt } from "./pt.ts";
import { zh } from "./zh.ts";

/** Sentences as people say them to the demo home, fifty a language. They were written before the reader. */
export const OWN: Record<Language, Sentence[]> = { en, de, fr, es, it, nl, pl, pt, cs, zh };
