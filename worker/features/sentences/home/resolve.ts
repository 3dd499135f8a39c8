/** What frames come to in this home: calls, an answer, or why neither. */
import type { Frame, Frames, Meaning } from "@edgecall/core/sentences/frame.ts";
import type { PlannedCall } from "../../../kernel/api/plan.ts";
import type { MachineAsk } from "../machines/text.ts";
import { makeCalls } from "./acts.ts";
import { answerAsk, answerDevices } from "./asks.ts";
import { machineCalls } from "./machines.ts";
import { type RuleContext, ruleCalls } from "./rules.ts";
import type { Problem } from "./targets.ts";

export type ResolveContext = RuleContext & {
  /** Names of the home's tools that this conversation has. */
  tools: readonly string[];
  /** Sentences that work in this home. */
  examples(): Promise<string>;
};

/** @property names beside the calls of each step; null: the call's own text is the answer @property asked of the machines of each step */
export type Resolved =
  | {
      steps: PlannedCall[][];
      names: Array<Array<string | null>>;
      asked: Array<MachineAsk | null>;
      left: string[];
      about: string[];
      reads: boolean;
    }
  | { answer: string; about: string[] }
  | { problem: Problem }
  /** The person wants the model. */
  | { model: true };

type Part =
  | {
      calls: PlannedCall[];
      names: Array<string | null>;
      asked?: MachineAsk;
      left: string[];
      about: string[];
      reads: boolean;
    }
  | Exclude<Resolved, { steps: unknown }>;

/** Meanings of one sentence that are looked at. */
const MEANINGS_MAX = 4;

/** What all meanings of a sentence come to, where it is the same, or where the others mean nothing that is in this home. */
export async function resolveMeanings(
  meanings: readonly Pick<Meaning, "frames">[],
  context: ResolveContext,
): Promise<Resolved> {
  const several = { problem: { text: context.phrases.say("severalMeanings") } };
  if (meanings.length > MEANINGS_MAX) return several;
  const resolved = await Promise.all(meanings.map(({ frames }) => resolveFrames(frames, context)));
  const isQuestion = meanings.every(({ frames }) => frames.every(({ kind }) => kind === "ask"));
  const isThere = (one: Resolved) => !("problem" in one && one.problem.none);
  const isAnswered = (one: Resolved) => !isQuestion || !("problem" in one);
  const there = someOf(resolved, isThere);
  const [first, ...others] = someOf(there, isAnswered);
  const key = ({ about: _, ...one }: Resolved & { about?: string[] }) => JSON.stringify(one);
  return first && others.every((one) => key(one) === key(first)) ? first : several;
}

/** Those that fit; all where none does. */
function someOf(all: readonly Resolved[], fits: (one: Resolved) => boolean): readonly Resolved[] {
  const fitting = all.filter(fits);
  return fitting.length > 0 ? fitting : all;
}

export async function resolveFrames(frames: Frames, context: ResolveContext): Promise<Resolved> {
  const parts: Part[] = [];
  for (const frame of frames) {
    const part = await resolveFrame(frame, context);
    if ("problem" in part || "model" in part) return part;
    parts.push(part);
  }
  const about = [...new Set(parts.flatMap((part) => ("about" in part ? part.about : [])))];
  const answers = parts.flatMap((part) => ("answer" in part ? part.answer : []));
  if (answers.length === parts.length) return { answer: answers.join("\n"), about };
  // An answer from now beside an act would tell what was before it.
  if (answers.length > 0) return { problem: { text: context.phrases.say("sayOnePart") } };
  const made = parts.flatMap((part) => ("calls" in part ? part : []));
  return {
    steps: made.map(({ calls }) => calls),
    names: made.map(({ names }) => names),
    asked: made.map(({ asked = null }) => asked),
    left: made.flatMap(({ left }) => left),
    about,
    reads: made.every(({ reads }) => reads),
  };
}

async function resolveFrame(frame: Frame, context: ResolveContext): Promise<Part> {
  const { phrases, now, zone } = context;
  switch (frame.kind) {
    case "act": {
      const made = await makeCalls(frame, context);
      if ("problem" in made) return made;
      const { calls, things, left } = made;
      return {
        calls,
        names: things.map(({ name }) => name),
        left,
        about: things.map(({ id }) => id),
        reads: false,
      };
    }
    case "ask": {
      const machine = machineCalls(frame, context);
      if (!machine) return await answerAsk(frame, context);
      if ("problem" in machine) return machine;
      const { calls, things, asked } = machine;
      return {
        calls,
        names: things.map(({ name }) => name),
        asked,
        left: [],
        about: things.map(({ id }) => id),
        reads: true,
      };
    }
    case "devices":
      return answerDevices(frame, context);
    case "help":
      return { answer: phrases.sentences(phrases.say("help")) + (await context.examples()), about: [] };
    case "clock":
      return {
        answer:
          frame.of === "time"
            ? phrases.say("timeIs", { time: phrases.time(now, zone, now) })
            : phrases.say("dateIs", { date: phrases.date(now, zone) }),
        about: [],
      };
    case "model":
      return { model: true };
    default: {
      const made = await ruleCalls(frame, context);
      if (!made || "problem" in made) return made ?? { problem: { text: phrases.say("notYet") } };
      const { calls, things } = made;
      if (!calls.every(({ name }) => context.tools.includes(name)))
        return { problem: { text: phrases.say("notYet") } };
      return {
        calls,
        names: calls.map(() => null),
        left: [],
        about: things.map(({ id }) => id),
        reads: false,
      };
    }
  }
}
