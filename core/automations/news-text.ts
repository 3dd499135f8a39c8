/** News of a rule that acts, as a person reads it. The bridge says what became of it; the words are the gateway's. */
import type { Phrases } from "../phrases/phrases.ts";
import type { Automation, AutomationNews, AutomationRun, StepRun } from "../protocol/automation.ts";
import { plainText } from "../rules/plain-text.ts";
import { NEWS_WORDS, WHY_WORDS } from "./words/news-words.ts";

/** @property nameOf what people call a step's device; absent: its id is told */
export type ToldNews = {
  news: AutomationNews;
  automation: Automation;
  nameOf?: ((step: Automation["do"][number]) => string) | undefined;
  zone: string;
  now: number;
  phrases: Phrases;
};

const NAME_MAX = 60;
const TEXT_MAX = 300;

/** One piece of news in a sentence or two. */
export function newsText(told: ToldNews): string {
  const { news, automation, phrases } = told;
  const name = plainText(automation.name, NAME_MAX);
  const { run, silent = 0 } = news;
  const why = pausedText(news, phrases);
  const before = silent > 0 ? phrases.sayOf(NEWS_WORDS, "ranBefore", { count: silent }) : "";
  if (why !== undefined)
    return phrases.sentences(phrases.sayOf(NEWS_WORDS, "isPaused", { name, why }), before);
  return phrases.sentences(run ? runText(run, name, told) : name, before);
}

/** The reason of a run or a pause, as a part of a sentence. What is no reason that we know is said as it came. */
export function whyText(why: string, phrases: Phrases): string {
  return isWhy(why) ? phrases.sayOf(WHY_WORDS, why) : plainText(why, TEXT_MAX);
}

/** Why a rule paused by itself, of a loop with its rules in their order. @returns undefined: it did not */
export function pausedText({ paused, chain }: AutomationNews, phrases: Phrases): string | undefined {
  const why = paused === undefined ? undefined : whyText(paused, phrases);
  if (why === undefined || !chain) return why;
  const names = chain.map((name) => plainText(name, NAME_MAX)).join(" → ");
  return phrases.sayOf(NEWS_WORDS, "inOrder", { why, names });
}

/** News from the time when the gateway was away: how often each rule ran, and by name what was not confirmed. @param told at least two pieces of news */
export function meanwhileText(told: readonly ToldNews[]): string {
  const [first] = told;
  if (!first) return "";
  const { phrases } = first;
  const counts = new Map<string, number>();
  const counted = new Set<string>();
  for (const { automation, news } of told) {
    const name = plainText(automation.name, NAME_MAX);
    const { run, rule, version, silent = 0 } = news;
    const firing = `${rule} ${version} ${run?.firing}`;
    // A run may be news twice: when its steps were done, and how it ended.
    const isOneMore = run !== undefined && run.state !== "not_run" && !counted.has(firing);
    if (isOneMore) counted.add(firing);
    counts.set(name, (counts.get(name) ?? 0) + silent + (isOneMore ? 1 : 0));
  }
  const ran = [...counts].filter(([, count]) => count > 0);
  const names = ran.map(([name, count]) => phrases.sayOf(NEWS_WORDS, "ranTimes", { name, count }));
  const others = told.filter(({ news: { run, paused } }) => paused !== undefined || (run && !isRight(run)));
  return [
    ...(names.length > 0
      ? [phrases.sayOf(NEWS_WORDS, "meanwhile", { names: phrases.list(names, "plain") })]
      : []),
    ...others.map((one) => newsText({ ...one, news: { ...one.news, silent: 0 } })),
  ].join("\n");
}

function runText(run: AutomationRun, name: string, told: ToldNews): string {
  const { news, automation, phrases, zone, now } = told;
  const time = phrases.time(run.at, zone, now);
  if (run.state === "not_run")
    return phrases.sayOf(NEWS_WORDS, "notRun", { name, time, why: whyText(run.why ?? "", phrases) });
  const failures = run.steps.filter(({ outcome }) => isFailure(outcome)).map((step) => stepText(step, told));
  const late = run.steps.filter(({ outcome }) => outcome === "late").map((step) => stepText(step, told));
  const isShort = run.steps.length < automation.do.length && isCurrent(told);
  const isLeft = run.state === "stopped" && !automation.go_on && isShort;
  const text = phrases.sentences(
    ...failures,
    ...late,
    isLeft ? phrases.sayOf(NEWS_WORDS, "restLeft") : "",
    news.critical ? phrases.sayOf(NEWS_WORDS, "isCritical") : "",
    failures.length + late.length === 0 ? doneText(run, automation, phrases) : "",
    becauseText(run, phrases),
  );
  return phrases.sayOf(NEWS_WORDS, failures.length > 0 || news.critical ? "failed" : "ran", {
    name,
    time,
    text,
  });
}

function doneText({ state, why }: AutomationRun, { say }: Automation, phrases: Phrases): string {
  if (state === "undone") return phrases.sayOf(NEWS_WORDS, "isUndone");
  if (state === "stopped" && why !== undefined)
    return phrases.say("sentence", { text: whyText(why, phrases) });
  return say === undefined ? phrases.sayOf(NEWS_WORDS, "isDone") : plainText(say, TEXT_MAX);
}

function becauseText({ because }: AutomationRun, phrases: Phrases): string {
  const values = phrases.list(
    because.map((value) => plainText(value, NAME_MAX * 2)),
    "plain",
  );
  return values === "" ? "" : phrases.sayOf(NEWS_WORDS, "becauseOf", { values });
}

/** Our own words are English; in it they say what the device reported. */
function stepText({ step, outcome, text }: StepRun, told: ToldNews): string {
  const { automation, nameOf, phrases } = told;
  const { do: steps, end } = automation;
  const at = isCurrent(told) ? step : Infinity;
  const of = steps[at] ?? end[at - steps.length] ?? steps[at - steps.length];
  const name = plainText(of ? (nameOf?.(of) ?? of.agent) : automation.name, NAME_MAX);
  if (outcome === "late") return phrases.sayOf(NEWS_WORDS, "reportedLate", { name });
  if (phrases.language === "en" && text !== "")
    return phrases.say("named", { name, text: plainText(text, TEXT_MAX) });
  if (outcome === "not_sent") return phrases.sayOf(NEWS_WORDS, "nothingSent", { name });
  return phrases.say(outcome === "unknown" ? "mayBeDone" : "notConfirmed", { name });
}

/** False: of a version before, whose steps are not known any more. */
function isCurrent({ news, automation }: ToldNews): boolean {
  return news.version === automation.version;
}

function isRight({ state, steps }: AutomationRun): boolean {
  return state !== "not_run" && !steps.some(({ outcome }) => isFailure(outcome) || outcome === "late");
}

function isFailure(outcome: StepRun["outcome"]): boolean {
  return outcome === "not_sent" || outcome === "unconfirmed" || outcome === "unknown";
}

function isWhy(why: string): why is keyof typeof WHY_WORDS {
  return Object.hasOwn(WHY_WORDS, why);
}
