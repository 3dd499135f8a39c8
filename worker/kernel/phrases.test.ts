/** The languages as workerd has them: its own `Intl`, and files that may be missing. */
import { cs } from "@edgecall/core/phrases/languages/cs.ts";
import { es } from "@edgecall/core/phrases/languages/es.ts";
import { fr } from "@edgecall/core/phrases/languages/fr.ts";
import { it } from "@edgecall/core/phrases/languages/it.ts";
import { nl } from "@edgecall/core/phrases/languages/nl.ts";
import { pl } from "@edgecall/core/phrases/languages/pl.ts";
import { pt } from "@edgecall/core/phrases/languages/pt.ts";
import { zh } from "@edgecall/core/phrases/languages/zh.ts";
import { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { expect, test } from "vitest";
import type { Env } from "./env.ts";
import { hasRead, phrasesOf, readLanguage } from "./phrases.ts";

/** A Sunday at 12:00 in Berlin. */
const NOON = Date.parse("2026-11-22T11:00Z");

test.each([
  [fr, "12:00 le dim. 22 nov. 2026", "−1,5", "a, b et c", "3 lumières"],
  [es, "12:00 del dom 22 nov 2026", "−1,5", "a, b y c", "3 luces"],
  [it, "12:00 di dom 22 nov 2026", "−1,5", "a, b e c", "3 luci"],
  [nl, "12:00 op zo 22 nov 2026", "−1,5", "a, b en c", "3 lampen"],
  [pl, "12:00 (niedz. 22 lis 2026)", "−1,5", "a, b i c", "3 światła"],
  [pt, "12:00 de dom, 22 de nov de 2026", "−1,5", "a, b e c", "3 luzes"],
  [cs, "12:00 (ne 22. 11. 2026)", "−1,5", "a, b a c", "3 světla"],
  [zh, "2026年11月22日周日 12:00", "−1.5", "a、b和c", "3 个灯"],
] as const)("$language: times, numbers, lists and plurals", (data, time, number, list, lights) => {
  const phrases = new Phrases(data);
  expect(phrases.time(NOON, "Europe/Berlin")).toBe(time);
  expect(phrases.number(-1.5)).toBe(number);
  // Czech keeps its "a" with the next word, in newer versions of these data.
  expect(phrases.list(["a", "b", "c"], "and").replace("\u00a0", " ")).toBe(list);
  expect(phrases.say("countedKind", { count: 3, kind: phrases.kind("light", 3) })).toBe(lights);
});

test("a file that is missing or cannot be read is English, and is read when it is there", async () => {
  const answers = [
    async () => new Response("not found", { status: 404 }),
    async () => {
      throw new Error("the connection broke");
    },
    async () => Response.json(pl),
  ];
  const paths: string[] = [];
  const fetch = async (request: Request) => {
    paths.push(new URL(request.url).pathname);
    return await (answers.shift() ?? fail)();
  };
  const env = { ASSETS: { fetch } } as unknown as Env;
  const read = async () => (await readLanguage(env, "pl")).language;
  expect([await read(), hasRead("pl"), await read(), hasRead("pl")]).toEqual(["en", false, "en", false]);
  expect([await read(), await read(), phrasesOf("pl").language]).toEqual(["pl", "pl", "pl"]);
  expect(paths).toEqual(Array(3).fill("/phrases-pl.json"));
});

test("a gateway that was deployed without files speaks English", async () => {
  expect((await readLanguage({} as Env, "cs")).language).toBe("en");
});

function fail(): never {
  throw new Error("it was read once more");
}
