/** Answers a person's sentence without a model, as far as the reader understands it wholly and it means one thing here. */
import { ENGLISH, type Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Frames, Reason, Understood } from "@edgecall/core/sentences/frame.ts";
import { hintsOf } from "@edgecall/core/sentences/hints.ts";
import { readSentence } from "@edgecall/core/sentences/read.ts";
import { LANGUAGES, type Language } from "@edgecall/core/text/languages.ts";
import type { PlannedReply } from "../../../kernel/api/plan.ts";
import type { PersonsSentence, RosterQuestion } from "../../../kernel/api/roster.ts";
import type { Env } from "../../../kernel/env.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { deviceStatesOf } from "../../../kernel/home/devices/device-states.ts";
import { spokenRules } from "../../../kernel/home/feature.ts";
import { modelsOf } from "../../../kernel/home/models/models.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import type { FastPath } from "../../../kernel/settings/settings.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { languagesFor, lexiconOf } from "../languages.ts";
import type { Back, SentenceNote } from "../note.ts";
import { AUTOMATE, actingRuleCalls } from "./acting-rules.ts";
import { answerContextOf, pastIn } from "./ask-context.ts";
import { calledFor, calledIn } from "./called.ts";
import { chosenFrames } from "./choice.ts";
import { examplesFor } from "./examples.ts";
import { type HomeNames, namesOf } from "./names.ts";
import { reasonText } from "./reasons.ts";
import {
  type ResolveContext,
  type Resolved,
  resolvedRule,
  resolveFrames,
  resolveMeanings,
} from "./resolve.ts";
import { answeredEnds } from "./rule-ends.ts";
import type { Problem } from "./targets.ts";
import type { IsCalled } from "./things.ts";

/** With more calls that change something a person is asked, whatever the devices' settings say. */
const UNASKED_MAX = 3;

/** @returns undefined: the question has no sentence */
export async function planReply(
  home: HomeContext,
  { sentence, reach }: RosterQuestion,
  now: number,
): Promise<PlannedReply | undefined> {
  if (!sentence) return undefined;
  const names = namesOf(home).of(reach, now);
  const ruled = await ruleReply(home, sentence, names, now);
  if (ruled) return ruled;
  const asRead = await read(home.env, sentence.text, names, sentence.language);
  const language = languageOf(asRead, sentence.language);
  const phrases = await readLanguage(home.env, language);
  const understood = withChoice(asRead, sentence, { names, phrases, language });
  const called = await calledFor(home.env, framesIn(understood), language);
  const context = contextOf(home, { sentence, names, phrases, called, now });
  const { fastPath: mode } = readSettings(home.env);
  const models = await modelsOf(home);
  const hasModel = models.length > 0 && !sentence.alone;
  const resolved = await resolve(understood, context, hasModel);
  if ("problem" in resolved)
    return await without(resolved.problem, {
      mode,
      context,
      language,
      hasModel,
      isSet: models.length > 0,
      understood,
    });
  if ("model" in resolved) return { instead: phrases.say("noModel"), note: { language, about: [] } };
  const isRead = "answer" in resolved || resolved.reads;
  const first = mode === "all" || (mode === "reads" && isRead) ? { first: true as const } : {};
  const slip = understood.result === "one" ? understood.slip : undefined;
  const said = slip && phrases.say("tookFor", slip);
  const note: SentenceNote = {
    language,
    about: resolved.about.slice(0, 20),
    ...(said !== undefined && { said }),
  };
  if ("answer" in resolved)
    return { ...first, answer: [said, resolved.answer].filter(Boolean).join("\n"), note };
  const { steps, names: told, asked, parts, left, changes } = resolved;
  return {
    ...first,
    steps,
    ...(changes > UNASKED_MAX && { asks: `it is one of ${changes} devices at once` }),
    note: {
      ...note,
      names: told,
      ...(asked.some((one) => one !== null) && { asked }),
      ...(parts && { parts }),
      ...(left.length > 0 && { left }),
    },
  };
}

/** A chat's command about rules, at a door that has no commands; or the answer to whether rules are to be ended. @returns undefined: it is another sentence */
async function ruleReply(
  home: HomeContext,
  sentence: PersonsSentence,
  names: HomeNames,
  now: number,
): Promise<PlannedReply | undefined> {
  if (!sentence.tools.includes("rules")) return undefined;
  const language = LANGUAGES.find((one) => one === sentence.language) ?? "en";
  const note: SentenceNote = { language, about: [] };
  const [, command] = /^\/(away|back|rules)$/.exec(sentence.text.trim()) ?? [];
  if (command !== undefined) {
    const args = { do: command === "rules" ? "list" : command };
    return { first: true, steps: [[{ name: "rules", args }]], note: { ...note, names: [[null]] } };
  }
  // SAFETY: `without` noted it.
  const back = sentence.back as Back | undefined;
  if (!back || !("rules" in back)) return undefined;
  const phrases = await readLanguage(home.env, language);
  const context = contextOf(home, { sentence, names, phrases, called: () => false, now });
  const ended = answeredEnds(back.rules, sentence.text, context, [phrases, ENGLISH]);
  if (!ended || "problem" in ended) return undefined;
  const { fastPath } = readSettings(home.env);
  const first = fastPath === "all" ? { first: true as const } : {};
  if ("answer" in ended) return { ...first, answer: ended.answer, note };
  return { ...first, steps: [ended.calls], note: { ...note, names: [ended.calls.map(() => null)] } };
}

/** The likeliest language alone, and others beside it where it does not understand. */
async function read(
  env: Env,
  text: string,
  { table }: HomeNames,
  last: string | undefined,
): Promise<Understood> {
  let understood: Understood = { result: "none", reason: { because: "no_sense" } };
  const groups = languagesFor(text, last);
  const likeliest = groups[0]?.[0];
  let isRead = true;
  for (const languages of groups) {
    const found = await Promise.all(languages.map((one) => lexiconOf(env, one)));
    const lexicons = found.filter((one) => one !== undefined);
    isRead &&= lexicons.some(({ language }) => language === likeliest);
    if (lexicons.length > 0) understood = readSentence(text, table, lexicons);
    if (understood.result !== "none") return understood;
  }
  // A language whose file cannot be read now is spoken all the same.
  return isRead || likeliest === undefined ? understood : { ...understood, language: likeliest };
}

/** A sentence that means nothing by itself may answer what was asked back. */
function withChoice(
  understood: Understood,
  { text, back }: PersonsSentence,
  { names, phrases, language }: { names: HomeNames; phrases: Phrases; language: Language },
): Understood {
  // SAFETY: `without` noted it.
  const asked = back as Back | undefined;
  if (understood.result !== "none" || !asked || !("frames" in asked)) return understood;
  const frames = chosenFrames(asked.frames, text, phrases.say("allOfThem"), names.table);
  return frames ? { result: "one", language, frames } : understood;
}

function framesIn(understood: Understood): Frames[] {
  if (understood.result === "one") return [understood.frames];
  return understood.result === "several" ? understood.meanings.map(({ frames }) => frames) : [];
}

function languageOf(understood: Understood, last: string | undefined): Language {
  if (understood.result === "one") return understood.language;
  const read = understood.result === "several" ? understood.meanings[0]?.language : understood.language;
  return read ?? LANGUAGES.find((one) => one === last) ?? "en";
}

function contextOf(
  home: HomeContext,
  {
    sentence,
    names,
    phrases,
    called,
    now,
  }: { sentence: PersonsSentence; names: HomeNames; phrases: Phrases; called: IsCalled; now: number },
): ResolveContext {
  const { things } = names;
  let known: ReturnType<ResolveContext["states"]> | undefined;
  const states = () => {
    known ??= deviceStatesOf(home).ask(undefined, true);
    return known;
  };
  const works = async (text: string) => {
    const understood = await read(home.env, text, names, phrases.language);
    if (understood.result !== "one") return false;
    const called = await calledFor(home.env, [understood.frames], phrases.language);
    const resolved = await resolveFrames(understood.frames, { ...context, called, text, states });
    return "answer" in resolved || "steps" in resolved;
  };
  const context: ResolveContext = {
    ...answerContextOf(home, { things, phrases, earlier: sentence.earlier ?? [], called, now }),
    past: pastIn(home, sentence.asker.viewer.role, now),
    text: sentence.text,
    tools: sentence.tools,
    rules: () => spokenRules(home, sentence.asker),
    works,
    examples: async () => {
      const lexicon = await lexiconOf(home.env, phrases.language);
      if (!lexicon) return "";
      const hints = hintsOf(sentence.text, lexicon, names.table);
      const said = { text: sentence.text, hints, called: calledIn([lexicon]) };
      const found = await examplesFor(things, lexicon.examples, said, works);
      return found.length > 0
        ? `\n\n${phrases.say("examples")}\n${found.map((one) => `• ${one}`).join("\n")}`
        : "";
    },
  };
  return context;
}

async function resolve(
  understood: Understood,
  context: ResolveContext,
  hasModel: boolean,
): Promise<Resolved> {
  if (understood.result === "none") {
    const { reason: why } = understood;
    if (why.because === "condition" && why.rule && context.tools.includes(AUTOMATE))
      return resolvedRule(await actingRuleCalls(why.rule, context));
    const reason = hasModel ? understood.reason : await withWorking(understood.reason, context);
    return { problem: { text: reasonText(reason, context.phrases) } };
  }
  return await resolveMeanings(understood.result === "one" ? [understood] : understood.meanings, context);
}

/** "Did you mean …?" is asked of a sentence that works. */
async function withWorking(reason: Reason, { works }: ResolveContext): Promise<Reason> {
  if (reason.because !== "unknown_word") return reason;
  for (const near of reason.near) if (await works(near.whole)) return { ...reason, near: [near] };
  return { ...reason, near: [] };
}

/** Asks back, or says what works here where no model answers. */
async function without(
  { text, asks, which, back: rules }: Problem,
  {
    mode,
    context,
    language,
    hasModel,
    isSet,
    understood,
  }: {
    mode: FastPath;
    context: ResolveContext;
    language: Language;
    hasModel: boolean;
    isSet: boolean;
    understood: Understood;
  },
): Promise<PlannedReply> {
  const isSentence = which && understood.result === "one";
  const back: Back | undefined = rules ? { rules } : isSentence ? { frames: understood.frames } : undefined;
  const note: SentenceNote = { language, about: [], ...(back && { back }) };
  if (asks) return { ...(mode === "all" && { first: true as const }), answer: text, note };
  // What the model answers needs no examples, which take a question to the bridge.
  if (hasModel) return { instead: text, note };
  const alone = isSet ? "" : context.phrases.say("noModel");
  return { instead: context.phrases.sentences(text, alone) + (await context.examples()), note };
}
