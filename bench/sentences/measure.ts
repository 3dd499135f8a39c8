/** The cost of a sentence without a model: files, a cold start, the heap, and turns in the demo home. */
import { gzipSync } from "node:zlib";
import { en } from "@edgecall/core/phrases/languages/en.ts";
import { LANGUAGES, type Language } from "@edgecall/core/text/languages.ts";
import { languageFiles } from "../../local/language-files.ts";
import { startMosquitto } from "../mosquitto.ts";
import type { Processes } from "../processes.ts";
import { type FirstSentences, measureFirstSentences } from "./first-sentence.ts";
import { measureSentenceTurns, type SentenceTurns } from "./turns.ts";

/** Bytes in gzip. */
type FileSizes = { language: Language; words: number; answers: number };
export type Sentences = { files: FileSizes[]; first: FirstSentences; turns: SentenceTurns };
type SentencesPlan = { rounds: number; turns: number; warmUp: number };

export async function measureSentences(
  dir: string,
  processes: Processes,
  plan: SentencesPlan,
): Promise<Sentences> {
  const mqttUrl = await startMosquitto(dir, processes, "sentences-mosquitto");
  const turns = await measureSentenceTurns(dir, processes, mqttUrl, plan);
  return { files: fileSizes(), first: await measureFirstSentences(dir, plan), turns };
}

function fileSizes(): FileSizes[] {
  const files = languageFiles();
  const size = (text: string) => gzipSync(text, { level: 9 }).length;
  return LANGUAGES.map((language) => ({
    language,
    words: size(files[`sentences-${language}.json`] ?? ""),
    // English is said by the Worker itself.
    answers: size(files[`phrases-${language}.json`] ?? JSON.stringify(en)),
  }));
}
