/** Three sentences that work in this home, near to what was said: each is read and resolved before it is shown. */
import type { Example, Examples } from "@edgecall/core/sentences/examples.ts";
import type { Hints } from "@edgecall/core/sentences/hints.ts";
import { keyOf } from "@edgecall/core/sentences/words.ts";
import { type IsCalled, isOfType, type Thing } from "./things.ts";

/** Things that are tried for a sentence of each kind. */
const TRIED_MAX = 4;
const SHOWN_MAX = 3;
/** Sentences that are read and resolved. */
const WORKS_MAX = 30;

type Candidate = {
  example: Example;
  kind: Hints["kind"] & string;
  /** Actions, states and readings of which it speaks. */
  about: readonly string[];
  /** Absent: it names no thing. */
  fits?: (thing: Thing) => boolean;
};

const has =
  (kind: string, ...classes: string[]) =>
  ({ kinds, online }: Thing): boolean => {
    const own = kinds.get(kind);
    return online && own !== undefined && (classes.length === 0 || classes.some((one) => own.includes(one)));
  };
const either =
  (...tests: Array<(thing: Thing) => boolean>) =>
  (thing: Thing): boolean =>
    tests.some((test) => test(thing));
const own =
  (test: (thing: Thing) => boolean) =>
  (thing: Thing): boolean =>
    !thing.readOnly && test(thing);

const opens = has("sensor", "window", "door", "garage_door", "opening");
const switched = own(either(has("light"), has("switch"), has("fan")));

const machine = ({ hosted, online }: Thing): boolean => !hosted && online;
/** A question about one of these is about a machine. */
const OF_MACHINES: readonly string[] =
  "disk memory load uptime services failed_services log log_errors address processes version".split(" ");

/** Those of a kind in the order in which they are shown where nothing is nearer. */
const CANDIDATES: readonly Candidate[] = [
  { example: "temperature", kind: "ask", about: ["temperature"], fits: has("sensor", "temperature") },
  { example: "is_open", kind: "ask", about: ["open", "closed"], fits: opens },
  { example: "is_locked", kind: "ask", about: ["locked", "unlocked"], fits: has("lock") },
  { example: "is_on", kind: "ask", about: ["on", "off"], fits: either(has("light"), has("switch")) },
  { example: "what_on", kind: "ask", about: ["on", "off"] },
  { example: "what_open", kind: "ask", about: ["open", "closed"] },
  { example: "humidity", kind: "ask", about: ["humidity"], fits: has("sensor", "humidity") },
  { example: "low_batteries", kind: "ask", about: ["battery", "low_battery"] },
  { example: "online", kind: "ask", about: ["online", "offline"] },
  { example: "disk", kind: "ask", about: OF_MACHINES, fits: machine },
  { example: "load", kind: "ask", about: OF_MACHINES, fits: machine },
  { example: "memory", kind: "ask", about: OF_MACHINES, fits: machine },
  { example: "turn_on", kind: "act", about: ["turn_on"], fits: switched },
  { example: "turn_off", kind: "act", about: ["turn_off"], fits: switched },
  {
    example: "percent",
    kind: "act",
    about: ["brightness", "position"],
    fits: own(either(has("light", "brightness"), has("cover", "position"))),
  },
  { example: "close", kind: "act", about: ["close", "open"], fits: own(has("cover")) },
  { example: "lock", kind: "act", about: ["lock", "unlock"], fits: own(has("lock")) },
  { example: "when_open", kind: "watch", about: ["open", "closed"], fits: opens },
  {
    example: "when_on",
    kind: "watch",
    about: ["on", "off"],
    fits: either(has("light"), has("switch")),
  },
  { example: "remind", kind: "watch", about: [] },
  { example: "when_offline", kind: "watch", about: ["online", "offline"], fits: ({ online }) => online },
];

/** How much nearer each makes a sentence: its kind before all others. */
const NEAR = { kind: 100, about: 5, type: 4, area: 3, word: 2 } as const;

/**
 * @param examples of the person's language
 * @param said what was not understood, and of what it speaks
 * @param works true for a sentence that comes to calls or an answer here
 * @returns of the kind that was said; else one of each kind
 */
export async function examplesFor(
  things: readonly Thing[],
  examples: Examples,
  said: { text: string; hints: Hints; called: IsCalled },
  works: (sentence: string) => Promise<boolean>,
): Promise<string[]> {
  const { hints } = said;
  const found: string[] = [];
  const shown = new Set<string>();
  let tried = 0;
  for (const { candidate, sentence } of ordered(things, examples, said)) {
    if (found.length === SHOWN_MAX || tried === WORKS_MAX) break;
    if (shown.has(candidate.example) || (hints.kind === undefined && shown.has(candidate.kind))) continue;
    // A person who hears the own sentence again learns nothing.
    if (found.includes(sentence) || keyOf(sentence) === keyOf(said.text)) continue;
    tried += 1;
    if (!(await works(sentence))) continue;
    found.push(sentence);
    shown.add(candidate.example).add(candidate.kind);
  }
  return found;
}

/** All sentences, the nearest ones first. */
function ordered(
  things: readonly Thing[],
  examples: Examples,
  { text, hints, called }: { text: string; hints: Hints; called: IsCalled },
): Array<{ candidate: Candidate; sentence: string }> {
  const words = keyOf(text);
  const near = new Map(
    things.map((thing) => {
      const named = keyOf(thing.name)
        .split(" ")
        .filter((word) => word.length > 2 && words.includes(word)).length;
      const isMeant = [...hints.types].some((type) => isOfType(thing, type, called));
      const isThere = thing.area !== undefined && hints.areas.has(thing.area);
      return [thing, named * NEAR.word + (isMeant ? NEAR.type : 0) + (isThere ? NEAR.area : 0)];
    }),
  );
  const nearest = things.toSorted((a, b) => (near.get(b) ?? 0) - (near.get(a) ?? 0));
  return CANDIDATES.flatMap((candidate) => {
    const { example, kind, about, fits } = candidate;
    const score =
      (kind === hints.kind ? NEAR.kind : 0) + (about.some((one) => hints.about.has(one)) ? NEAR.about : 0);
    const named = fits ? nearest.filter(fits).slice(0, TRIED_MAX) : [undefined];
    return named.map((thing) => ({
      candidate,
      sentence: examples[example].replace("{name}", () => thing?.name ?? ""),
      score: score + (thing ? (near.get(thing) ?? 0) : 0),
    }));
  }).sort((a, b) => b.score - a.score);
}
