/** Three sentences that work in this home: a question, an act and a watch, each read and resolved before it is shown. */
import { type Example, exampleOf } from "@edgecall/core/phrases/examples.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Thing } from "./things.ts";

/** Things that are tried for a sentence of each kind. */
const TRIED_MAX = 6;
const SHOWN_MAX = 3;

type Candidate = { example: Example; fits: (thing: Thing) => boolean };

const has =
  (kind: string, ...classes: string[]) =>
  ({ kinds, online }: Thing): boolean => {
    const own = kinds.get(kind);
    return online && own !== undefined && (classes.length === 0 || classes.some((one) => own.includes(one)));
  };
const switched = (thing: Thing) =>
  !thing.readOnly && (has("light")(thing) || has("switch")(thing) || has("fan")(thing));

/** One of each row is shown. */
const ROWS: readonly (readonly Candidate[])[] = [
  [
    { example: "temperature", fits: has("sensor", "temperature") },
    { example: "is_open", fits: has("sensor", "window", "door") },
    { example: "is_locked", fits: has("lock") },
    { example: "is_on", fits: (thing) => has("light")(thing) || has("switch")(thing) },
  ],
  [
    { example: "turn_on", fits: switched },
    { example: "turn_off", fits: switched },
  ],
  [
    { example: "when_open", fits: has("sensor", "window", "door", "garage_door") },
    { example: "when_on", fits: (thing) => has("light")(thing) || has("switch")(thing) },
    { example: "when_offline", fits: ({ online }) => online },
  ],
];

/**
 * @param words of the sentence that was not understood: things of which it speaks come first
 * @param works true for a sentence that comes to calls or an answer here
 */
export async function examplesFor(
  things: readonly Thing[],
  phrases: Phrases,
  words: string,
  works: (sentence: string) => Promise<boolean>,
): Promise<string[]> {
  const found: string[] = [];
  const folded = words.toLowerCase();
  const near = (thing: Thing) =>
    thing.name
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word.length > 2 && folded.includes(word)).length;
  const ordered = things.toSorted((a, b) => near(b) - near(a));
  for (const row of ROWS) {
    const sentences = row.flatMap(({ example, fits }) =>
      ordered
        .filter(fits)
        .slice(0, TRIED_MAX)
        .map(({ name }) => exampleOf(phrases.language, example, name)),
    );
    for (const sentence of sentences)
      if (await works(sentence)) {
        found.push(sentence);
        break;
      }
  }
  const online = exampleOf(phrases.language, "online", "");
  if (found.length < SHOWN_MAX && things.length > 0 && (await works(online))) found.push(online);
  return found;
}
