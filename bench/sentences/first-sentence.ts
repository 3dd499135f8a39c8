/** The first sentence in a fresh isolate: processor time in workerd, of each language that has a home here, and the heap of many names. */
import { join } from "node:path";
import type { NamedThing } from "@edgecall/core/sentences/names.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { bundleWorker } from "../../local/bundles.ts";
import { languageFiles } from "../../local/language-files.ts";
import { usedHeap } from "../../test/used-heap.ts";
import {
  type CpuMs,
  type FreshWorkerd,
  startFreshWorkerd,
  TODAYS_SETTINGS,
  writeWorker,
} from "../fresh-workerd.ts";
import { median } from "../stats.ts";
import { type FirstSentence, HOMES, namesIn } from "./homes.ts";

/** Milliseconds of processor time of workerd. `floor`: of the request alone, with the same body. */
type Cold = { language: Language; floor: CpuMs; first: CpuMs };
export type FirstSentences = {
  cold: Cold[];
  names: number;
  /** Bytes that a home's isolate has more after its first sentence. */
  heap: { names: number; bytes: number };
};
type FirstSentencePlan = { rounds: number };

const NAMES = 300;
const MANY_NAMES = 2_000;
/** The requests before it make workerd ready, and its threads need a moment to come to rest. */
const READY_MS = 100;
const READY_REQUESTS = 3;

export async function measureFirstSentences(
  dir: string,
  { rounds }: FirstSentencePlan,
): Promise<FirstSentences> {
  const code = await bundleWorker({ entry: "bench/sentences/reader-worker.ts", minify: true });
  const config = writeWorker(join(dir, "reader"), code, TODAYS_SETTINGS);
  const taken = HOMES.map(({ language }) => ({ language, floor: [] as CpuMs[], first: [] as CpuMs[] }));
  for (let round = 0; round < rounds; round += 1)
    for (const one of taken) {
      one.floor.push(await requestCpu(config, one.language, "floor"));
      one.first.push(await requestCpu(config, one.language, "first"));
    }
  const cold = taken.map(({ language, floor, first }) => ({
    language,
    floor: middle(floor),
    first: middle(first),
  }));
  return { cold, names: NAMES, heap: { names: MANY_NAMES, bytes: await heapOf(config, MANY_NAMES) } };
}

async function requestCpu(config: string, language: Language, path: "floor" | "first"): Promise<CpuMs> {
  const workerd = await startFreshWorkerd(config);
  try {
    for (let one = 0; one < READY_REQUESTS; one += 1) await ask(workerd, "floor", bodyOf("en", 0));
    await rest();
    const before = workerd.cpuMs();
    await ask(workerd, path, bodyOf(language, NAMES));
    await rest();
    const after = workerd.cpuMs();
    return { main: after.main - before.main, all: after.all - before.all };
  } finally {
    await workerd.stop();
  }
}

/** Of English: the language's words and the names, as the first sentence leaves them. */
async function heapOf(config: string, names: number): Promise<number> {
  const workerd = await startFreshWorkerd(config, { inspects: true });
  try {
    const floor = () => ask(workerd, "floor", bodyOf("en", 0));
    await ask(workerd, "floor", bodyOf("en", names));
    const before = await usedHeap(workerd.inspector ?? "", floor);
    await ask(workerd, "first", bodyOf("en", names));
    return (await usedHeap(workerd.inspector ?? "", floor)) - before;
  } finally {
    await workerd.stop();
  }
}

async function ask({ url }: FreshWorkerd, path: "floor" | "first", body: string): Promise<void> {
  const response = await fetch(`${url}/${path}`, { method: "POST", body, headers: { connection: "close" } });
  const { result } = (await response.json()) as { result?: string };
  if (path === "first" && result !== "one")
    throw new Error(`a sentence of the bench is not understood: ${body.slice(0, 80)}`);
}

function bodyOf(language: Language, names: number): string {
  const home = HOMES.find((one) => one.language === language);
  if (!home) throw new Error(`the bench has no home in ${language}`);
  const things: NamedThing[] = namesIn(home, names);
  const body: FirstSentence = {
    sentence: home.sentence,
    names: JSON.stringify(things),
    words: languageFiles()[`sentences-${language}.json`] ?? "",
  };
  return JSON.stringify(body);
}

function middle(all: readonly CpuMs[]): CpuMs {
  return { main: median(all.map(({ main }) => main)), all: median(all.map(({ all }) => all)) };
}

function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, READY_MS));
}
