/** Which type of thing a name says, in the words of languages: "Bosch washing machine". */
import type { Frames, ThingType } from "@edgecall/core/sentences/frame.ts";
import type { Lexicon } from "@edgecall/core/sentences/lexicon.ts";
import { keyOf } from "@edgecall/core/sentences/words.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { Env } from "../../../kernel/env.ts";
import { lexiconOf } from "../languages.ts";
import { type IsCalled, isNamedType } from "./things.ts";

/** What stands beside the type in a name, and is at it: "washing machine plug". Of "fridge light" the light is meant. */
const BESIDE: ReadonlySet<ThingType> = new Set<ThingType>([
  "plug",
  "switch",
  "sensor",
  "thermometer",
  "leak_sensor",
  "motion_sensor",
  "machine",
  "device",
]);
/** Letters of a word that a compound may end with. */
const COMPOUND_MIN = 4;

/** Names are in the sentence's language, or in that of a publisher. The words of both are read only where they may tell a thing. */
export async function calledFor(
  env: Env,
  meanings: readonly Frames[],
  language: Language,
): Promise<IsCalled> {
  if (!meanings.some(needsNames)) return () => false;
  const lexicons = await Promise.all(
    [...new Set([language, "en" as const])].map((one) => lexiconOf(env, one)),
  );
  return calledIn(lexicons.filter((one) => one !== undefined));
}

/** @returns true: a frame is about things that names alone may tell */
function needsNames(frames: Frames): boolean {
  const types = frames.flatMap((frame) =>
    frame.kind === "devices"
      ? (frame.type ?? [])
      : "target" in frame && frame.target?.of === "type"
        ? frame.target.type
        : [],
  );
  return types.some(isNamedType);
}

export function calledIn(lexicons: readonly Lexicon[]): IsCalled {
  const known = new Map<string, ReadonlySet<ThingType>>();
  return (name, type) => {
    let types = known.get(name);
    if (!types) {
      types = new Set(
        lexicons.flatMap((lexicon) => typesIn(name, lexicon)).filter((one) => !BESIDE.has(one)),
      );
      known.set(name, types);
    }
    return types.size === 1 && types.has(type);
  };
}

function typesIn(name: string, lexicon: Lexicon): ThingType[] {
  const words = keyOf(name).split(" ");
  const found: ThingType[] = [];
  for (let at = 0; at < words.length; ) {
    const [type, length] = typeAt(words, at, lexicon);
    if (type) found.push(type);
    at += length;
  }
  return found;
}

/** The longest words that are a type. */
function typeAt(
  words: readonly string[],
  at: number,
  lexicon: Lexicon,
): [type: ThingType | undefined, length: number] {
  for (let length = Math.min(lexicon.longest, words.length - at); length > 0; length -= 1) {
    const type = typeOf(words.slice(at, at + length).join(" "), lexicon);
    if (type) return [type, length];
  }
  const word = words[at] ?? "";
  for (let from = 1; lexicon.links && from <= word.length - COMPOUND_MIN; from += 1) {
    const type = typeOf(word.slice(from), lexicon);
    if (type) return [type, 1];
  }
  return [undefined, 1];
}

function typeOf(phrase: string, { phrases }: Lexicon): ThingType | undefined {
  for (const [only, other] of phrases.get(phrase) ?? [])
    if (only?.role === "type" && other === undefined) return only.value.type;
  return undefined;
}
