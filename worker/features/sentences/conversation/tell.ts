/** Tells a person what became of the calls that a sentence led to: done only where the device's own state says so. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { reportedText } from "@edgecall/core/phrases/reported-text.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import type { Unaided } from "../../../kernel/conversation/feature.ts";
import type { StoredCall } from "../../../kernel/conversation/store/rows.ts";
import { logError } from "../../../kernel/log.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import { type MachineAsk, machineAnswer } from "../machines/text.ts";
import type { SentenceNote } from "../note.ts";
import { type LaterQuestions, sentencesAt } from "../sentences-api.ts";

/** @returns a line for each call, the answers beside them, and what was left out */
export async function tell(
  context: ConversationContext,
  { turn, note, calls, skipped }: Parameters<Unaided["tell"]>[1],
): Promise<string> {
  // SAFETY: home/plan-reply.ts wrote it.
  const { language, names = [], asked = [], left = [], said, about, parts } = note as SentenceNote;
  const phrases = await readLanguage(context.env, language);
  const stepLines = (step: number): string[] => {
    const batch = calls[step];
    if (!batch)
      return (names[step] ?? []).flatMap((name) => (name === null ? [] : phrases.say("skipped", { name })));
    const told = batch.flatMap(({ outcome }, at): NamedOutcome[] =>
      outcome ? [{ outcome, name: names[step]?.[at] ?? null }] : [],
    );
    const ask = asked[step];
    return ask
      ? machineLines(told, ask, phrases)
      : (rulesLine(batch, phrases) ?? told.map((one) => lineOf(one, phrases)));
  };
  const all = parts ?? Array.from({ length: calls.length + skipped }, (_, step) => step);
  const frames = all.filter((part) => typeof part === "object");
  const reach = turn.origin.limits?.agents;
  const later = await answersTo(context, { frames, language, earlier: about, reach }, phrases);
  return [
    said ?? "",
    ...all.flatMap((part) =>
      typeof part === "number" ? stepLines(part) : typeof part === "string" ? part : (later.shift() ?? ""),
    ),
    left.length > 0 ? phrases.say("leftOutOffline", { names: phrases.list(left, "and") }) : "",
  ]
    .filter(Boolean)
    .join("\n");
}

/** Of questions behind an act, which is over now. */
async function answersTo(
  { env, name }: ConversationContext,
  questions: LaterQuestions,
  phrases: Phrases,
): Promise<string[]> {
  const { frames } = questions;
  if (frames.length === 0) return [];
  const [home = ""] = name.split("/");
  try {
    return await sentencesAt(env, home).answer(questions);
  } catch (error) {
    // What was done is told all the same.
    logError("sentence.failed", error, {});
    return frames.map(() => phrases.say("tryLater"));
  }
}

const ENDED = { cancel: "rulesCancelled", pause: "rulesPaused", resume: "rulesResumed" } as const;

/** @returns how many rules were ended; undefined: not several, or not all of them */
function rulesLine(batch: readonly StoredCall[], phrases: Phrases): string[] | undefined {
  const [first] = batch;
  const isDone = batch.every(({ name, outcome }) => name === "rules" && outcome?.status === "success");
  const key = Object.keys(ENDED).find((one): one is keyof typeof ENDED => one === first?.args.do);
  return batch.length > 1 && isDone && key ? [phrases.say(ENDED[key], { count: batch.length })] : undefined;
}

type NamedOutcome = { outcome: Outcome; name: string | null };

function lineOf({ outcome, name }: NamedOutcome, phrases: Phrases): string {
  return name === null ? ownText(outcome, phrases) : outcomeText(outcome, name, phrases);
}

/** What machines said of themselves. A question whether it is so has yes or no, or those alone of which it is. */
function machineLines(told: readonly NamedOutcome[], ask: MachineAsk, phrases: Phrases): string[] {
  const answers = told.map(({ outcome, name }) =>
    outcome.status === "success"
      ? machineAnswer(ask, name ?? "", outcome.text, phrases)
      : { line: outcomeText(outcome, name ?? "", phrases), so: undefined },
  );
  if (!ask.which)
    return answers.map(({ line, so }) =>
      so === undefined ? line : phrases.say(so ? "yes" : "no", { text: line }),
    );
  const shown = answers.filter(({ so }) => so !== false).map(({ line }) => line);
  return shown.length > 0 ? shown : [phrases.say("none"), ...answers.map(({ line }) => line)];
}

/** The text of a call whose answer is its own, as that of a rule. Why one was refused is in the tool's words. */
function ownText(outcome: Outcome, phrases: Phrases): string {
  if (outcome.errorType === "invalid_params")
    return phrases.sentences(phrases.say("nothingDone"), reasonOf(outcome).replace(NOTHING_DONE, ""));
  return outcome.shown?.text ?? outcome.forUser ?? forPerson(outcome);
}

const NOTHING_DONE = / Nothing was done\.$/;

/** What became of one call to a device, in words. */
function outcomeText(outcome: Outcome, name: string, phrases: Phrases): string {
  const { status, errorType, confirmed, reported = [], unsent, approval, deniedBy: person } = outcome;
  const value = reported.length > 0 ? reportedText(reported, phrases) : undefined;
  if (status === "success") {
    if (confirmed === true)
      return value === undefined ? phrases.say("done", { name }) : phrases.say("doneState", { name, value });
    if (confirmed === false) return phrases.say("sent", { name });
    // A bridge of an earlier version says it in words alone, and a machine too.
    return forPerson(outcome);
  }
  if (confirmed === false && errorType === "outcome_unknown")
    return value === undefined
      ? phrases.say("notConfirmed", { name })
      : phrases.say("notConfirmedState", { name, value });
  switch (errorType) {
    case "offline":
      return phrases.say("offline", { name });
    case "outcome_unknown":
    case "timeout":
      return unsent
        ? phrases.say("failed", { name, reason: reasonOf(outcome) })
        : phrases.say("mayBeDone", { name });
    case "permission_denied":
      if (person !== undefined) return phrases.say("deniedBy", { name, person });
      return phrases.say(approval === undefined ? "notAllowed" : APPROVALS[approval], { name });
    default:
      return phrases.say("failed", { name, reason: reasonOf(outcome) });
  }
}

const APPROVALS = { denied: "denied", expired: "notApprovedInTime" } as const;

function reasonOf(outcome: Outcome): string {
  return forPerson(outcome).replace(/^Error: /, "");
}
