/** What frames come to in this home: calls, an answer, or why neither. */
import type { Frame, Frames, Meaning } from "@edgecall/core/sentences/frame.ts";
import type { PlannedCall } from "../../../kernel/api/plan.ts";
import type { MachineAsk } from "../machines/text.ts";
import type { SentenceNote } from "../note.ts";
import { makeCalls } from "./acts.ts";
import { type Answer, answerAsk, answerDevices } from "./asks.ts";
import { asPresence, machineCalls } from "./machines.ts";
import { answerPast, type PastContext } from "./pasts.ts";
import { type RuleCalls, type RuleContext, ruleCalls } from "./rules.ts";
import type { Problem } from "./targets.ts";

export type AnswerContext = PastContext;

export type ResolveContext = RuleContext &
  AnswerContext & {
    /** Names of the home's tools that this conversation has. */
    tools: readonly string[];
    /** Tells whether a sentence comes to calls or an answer here. */
    works(text: string): Promise<boolean>;
    /** Sentences that work in this home. */
    examples(): Promise<string>;
  };

/** @property names beside the calls of each step; null: the call's own text is the answer @property asked of the machines of each step */
export type Resolved =
  | {
      steps: PlannedCall[][];
      names: Array<Array<string | null>>;
      asked: Array<MachineAsk | null>;
      /** Where some parts of the answer are no calls. */
      parts?: Parts;
      left: string[];
      about: string[];
      reads: boolean;
      /** Calls of one step that change something. */
      changes: number;
    }
  | { answer: string; about: string[] }
  | { problem: Problem }
  /** The person wants the model. */
  | { model: true };

type Parts = NonNullable<SentenceNote["parts"]>;

type Part =
  | {
      calls: PlannedCall[];
      names: Array<string | null>;
      asked?: MachineAsk;
      left: string[];
      about: string[];
      reads: boolean;
    }
  | Exclude<Resolved, { steps: unknown }>
  /** A question behind an act: what is so now may not be so then. */
  | { later: Frame; about: string[] };

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
  if (first && others.every((one) => key(one) === key(first))) return first;
  // "Make the kitchen light red", which "light red" in the kitchen may be too: where nothing can be done, the thing that was named says why.
  const named = meanings.findIndex(({ frames }) => frames.every(isAboutNamed));
  const isNone = resolved.every((one) => "problem" in one);
  return (isNone ? resolved[named] : undefined) ?? several;
}

function isAboutNamed(frame: Frame): boolean {
  return "target" in frame && frame.target?.of === "named";
}

/** Those that fit; all where none does. */
function someOf(all: readonly Resolved[], fits: (one: Resolved) => boolean): readonly Resolved[] {
  const fitting = all.filter(fits);
  return fitting.length > 0 ? fitting : all;
}

export async function resolveFrames(frames: Frames, context: ResolveContext): Promise<Resolved> {
  const parts: Part[] = [];
  let isActed = false;
  for (const frame of frames) {
    const part = await resolveFrame(frame, context);
    if ("problem" in part || "model" in part) return part;
    const isLater = isActed && "answer" in part && isQuestion(frame);
    parts.push(isLater ? { later: frame, about: part.about } : part);
    isActed ||= "calls" in part && !part.reads;
  }
  const about = [...new Set(parts.flatMap((part) => ("about" in part ? part.about : [])))];
  const answers = parts.flatMap((part) => ("answer" in part ? part.answer : []));
  if (answers.length === parts.length) return { answer: answers.join("\n"), about };
  const made = parts.flatMap((part) => ("calls" in part ? part : []));
  const changes = made.flatMap(({ calls, reads }) => (reads ? [] : calls.length));
  return {
    steps: made.map(({ calls }) => calls),
    names: made.map(({ names }) => names),
    asked: made.map(({ asked = null }) => asked),
    ...(made.length < parts.length && { parts: partsOf(parts) }),
    left: made.flatMap(({ left }) => left),
    about,
    reads: made.every(({ reads }) => reads),
    changes: Math.max(0, ...changes),
  };
}

/** One call, whose own text is the answer. */
export function resolvedRule(made: RuleCalls): Resolved {
  if ("problem" in made) return made;
  const about = "things" in made ? made.things.map(({ id }) => id) : [];
  if ("answer" in made) return { ...made, about };
  const { calls } = made;
  return {
    steps: [calls],
    names: [calls.map(() => null)],
    asked: [null],
    left: [],
    about,
    reads: false,
    changes: calls.length,
  };
}

function partsOf(parts: readonly Part[]): Parts {
  let step = 0;
  return parts.flatMap((part): Parts => {
    if ("later" in part) return [part.later];
    if ("answer" in part) return [part.answer];
    step += 1;
    return [step - 1];
  });
}

function isQuestion({ kind }: Frame): boolean {
  return kind === "ask" || kind === "devices" || kind === "clock";
}

/** The answer to a question that takes no call. @returns undefined: the frame is none */
export async function answerNow(frame: Frame, context: AnswerContext): Promise<Answer | undefined> {
  const { phrases, now, zone } = context;
  switch (frame.kind) {
    case "ask":
      return await answerAsk(frame, context);
    case "devices":
      return answerDevices(frame, context);
    case "past":
      return await answerPast(frame, context);
    case "clock":
      return {
        answer:
          frame.of === "time"
            ? phrases.say("timeIs", { time: phrases.time(now, zone, now) })
            : phrases.say("dateIs", { date: phrases.date(now, zone) }),
        about: [],
      };
    default:
      return undefined;
  }
}

async function resolveFrame(given: Frame, context: ResolveContext): Promise<Part> {
  const { phrases } = context;
  const frame = given.kind === "ask" ? asPresence(given, context) : given;
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
    case "help":
      return { answer: phrases.sentences(phrases.say("help")) + (await context.examples()), about: [] };
    case "model":
      return { model: true };
    default: {
      const answer = await answerNow(frame, context);
      if (answer) return answer;
      const made = await ruleCalls(frame, context);
      if (!made || "problem" in made) return made ?? { problem: { text: phrases.say("notYet") } };
      if ("answer" in made) return { ...made, about: [] };
      const { calls, things } = made;
      if (!calls.every(({ name }) => context.tools.includes(name)))
        return { problem: { text: phrases.say("notYet") } };
      return {
        calls,
        names: calls.map(() => null),
        left: [],
        about: things.map(({ id }) => id),
        reads: calls.every(({ name, args }) => name === "rules" && args.do === "list"),
      };
    }
  }
}
