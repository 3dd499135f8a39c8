/** A rule that acts, as people are told of it, and what an "undo" did. */
import { combinedOf, overAt } from "@edgecall/core/automations/conditions.ts";
import type { AutomationState, Run, Surroundings, ValuesBefore } from "@edgecall/core/automations/state.ts";
import { isWithoutSun } from "@edgecall/core/automations/times.ts";
import { presentTruth } from "@edgecall/core/automations/truth.ts";
import { canUndo, endedOf, isChanged, isLongOver } from "@edgecall/core/automations/turn.ts";
import { HOME_WORDS } from "@edgecall/core/automations/words/home-words.ts";
import { NEWS_WORDS } from "@edgecall/core/automations/words/news-words.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type {
  Automation,
  AutomationOrdered,
  AutomationRun,
  AutomationStatus,
  AutomationStep,
  StepOutcome,
  StepRun,
} from "@edgecall/core/protocol/automation.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { phrasesReadIn } from "../history/phrases.ts";

const TEXT_MAX = 1_000;

/** @property now the present values in words @property at epoch ms */
type Known = { runs: readonly AutomationRun[]; now: string[] } & Pick<Surroundings, "at" | "has_way_back">;

export function statusOf(
  rule: Automation,
  state: AutomationState,
  { runs, now, at, has_way_back }: Known,
): AutomationStatus {
  const { id, version } = rule;
  const shown = runs.map((run): AutomationRun => {
    if (run.version !== version) return withoutUndo(run);
    const isNow = canUndo(rule, state, run.firing, { at, has_way_back });
    return { ...withoutUndo(run), steps: shownSteps(rule, run), ...(isNow && { undo: true }) };
  });
  const word = stateOf(rule, state, at);
  const over = word === "waiting" ? overAt(rule, state) : undefined;
  return {
    ...{ rule: id, version, now: [...now, ...sunText(rule, state, at)] },
    state: word,
    runs: shown,
    ...(over !== undefined && { over_at: over }),
    ...(state.next && state.stopped === undefined && { next: state.next.at }),
  };
}

/** A run that could be undone when it was told may not be any more. */
function withoutUndo({ undo: _, ...run }: AutomationRun): AutomationRun {
  return run;
}

/** Steps of a person's undo that were not sent are left out: the answer to it told them. */
function shownSteps({ do: steps, end, over }: Automation, { steps: all, why }: AutomationRun): StepRun[] {
  const isPersons = why === "undo" || (over === "leave" && end.length === 0);
  return all.filter(({ step, outcome }) => step < steps.length || !isPersons || outcome !== "not_sent");
}

/** @property asks whether a person has to be asked for the way back of a step @property at epoch ms */
type Refused = { firing: number; asks(step: AutomationStep, before: ValuesBefore): boolean; at: number };

/** @returns why an undo is refused */
export function undoRefusal(
  { do: steps }: Automation,
  { run: present, ...state }: AutomationState,
  { firing, asks, at }: Refused,
  phrases: Phrases,
): string {
  const ended = endedOf(state, firing);
  const run: Run | undefined = present?.firing === firing ? present : ended;
  const isAsked = steps.some((step, number) => {
    const before = run?.before[number];
    return run && before && isChanged(run, number) && asks(step, before);
  });
  if (isAsked) return phrases.sayOf(HOME_WORDS, "backAsks");
  return phrases.sayOf(HOME_WORDS, ended && isLongOver(ended, at) ? "undoOver" : "notUndoable");
}

/** In the polar night and day a rule at a time of the sun waits for long. */
function sunText(rule: Automation, { next }: AutomationState, now: number): string[] {
  if (!isWithoutSun(rule, now)) return [];
  const phrases = phrasesReadIn(rule.language);
  return [
    phrases.sentences(
      phrases.sayOf(HOME_WORDS, rule.at?.of === "sunset" ? "noSunset" : "noSunrise"),
      next ? phrases.sayOf(HOME_WORDS, "nextTime", { day: phrases.date(next.at, rule.zone) }) : "",
    ),
  ];
}

function stateOf(rule: Automation, state: AutomationState, at: number): AutomationStatus["state"] {
  if (state.stopped !== undefined) return "stopped";
  if (state.run) return "running";
  if (state.resting !== undefined && at < state.resting) return "resting";
  if (rule.when.length === 0) return "armed";
  if (combinedOf(rule, state, presentTruth) === undefined) return "unknown";
  return state.armed ? "armed" : "waiting";
}

/** @property kept numbers of steps that were left out, as somebody changed the value since @property nameOf a step's device */
type Undone = { run: AutomationRun; kept: readonly number[]; nameOf(step: AutomationStep): string };

/** The answer to an "undo", by the run as it ended. */
export function undoneOf(
  { do: steps }: Automation,
  { run, kept, nameOf }: Undone,
  phrases: Phrases,
): AutomationOrdered {
  const undone = run.steps.filter(({ step }) => step >= steps.length);
  const texts = undone.map(({ step, outcome, text }) => {
    const of = steps[step - steps.length];
    const name = of ? nameOf(of) : "";
    if (kept.includes(step)) return phrases.sayOf(HOME_WORDS, "stepKept", { name });
    // The device's words, which say what it reports, are English.
    if (phrases.language !== "en" || text === "") return stepText(name, outcome, phrases);
    return outcome === "not_sent" ? phrases.say("named", { name, text }) : text;
  });
  const text = texts.length === 0 ? phrases.sayOf(HOME_WORDS, "nothingToUndo") : phrases.sentences(...texts);
  return {
    text: cutText(text, TEXT_MAX),
    confirmed: undone.every(({ outcome }) => outcome === "confirmed" || outcome === "late"),
  };
}

function stepText(name: string, outcome: StepOutcome, phrases: Phrases): string {
  switch (outcome) {
    case "confirmed":
    case "late":
      return phrases.sayOf(HOME_WORDS, "stepUndone", { name });
    case "not_sent":
      return phrases.sayOf(NEWS_WORDS, "nothingSent", { name });
    case "unknown":
      return phrases.say("mayBeDone", { name });
    default:
      return phrases.say("notConfirmed", { name });
  }
}
