/** Sentences that ask to be told of something: which call of `watch` or `remind` they mean, by their words alone. */
import { chooseValues, toolsFor } from "./match.ts";
import { isRead } from "./orders.ts";
import type { OfferedTool } from "./request.ts";
import { propertiesOf } from "./schema.ts";
import { splitActions, valueLines, valuesOf } from "./value-lines.ts";
import { names, type Question, stemsOf } from "./words.ts";

type Arguments = Record<string, unknown>;
/** Undefined: the sentence asks for no rule. `missing` is what it does not say, in words for the person. */
export type RuleWish = { name: "watch" | "remind"; calls: Arguments[] } | { missing: string };

const NAME_MAX = 60;
const WATCH =
  /\b(?:(?:tell|let|warn|alert|notify|message)\s+me\b.*|remind\s+me\s+)\b(?:when|whenever|if|as soon as|until)\b/is;
/** A question after how it is now. */
const IS_NOW =
  /\b(?:tell|let) me (?:know )?(?:if|whether)\b[^.?!]{0,200}\b(?:is|are)\s+(?:still |left )?(?:open|closed|on|off|wet|dry|locked|unlocked|occupied|clear|online|offline)\b/i;
const REMIND = /\bremind me\b/i;
const REPEATS = /^(?:please\s+)?(?:(?:tell|send|give) me\s+)?(?:every|each)\s/i;
const UNTIL_ANSWERED = /\buntil\s+(?:I|we|some(?:one|body))\s+(?:answer|confirm|react|acknowledge)/i;
const NUMBER = "(-?\\d+(?:[.,]\\d+)?)";
const ABOVE = new RegExp(
  `(?:above|over|(?:more|higher|warmer|hotter|greater) than|exceeds|>)\\s*${NUMBER}`,
  "i",
);
const BELOW = new RegExp(`(?:below|under|(?:less|lower|colder|cooler) than|<)\\s*${NUMBER}`, "i");
const LASTING = /\b(?:for|longer than)\s+(?:more than\s+)?(\d+)\s*(min|h)/i;
const OFFLINE = /\b(?:offline|unreachable|not reachable|goes away)\b/i;
const ONLINE = /\b(?:online|comes back|is back)\b/i;
const SOMEBODY = /\b(?:any|some)(?:body|one)\b/i;
const STATE =
  /\b(?:is|are|gets?|goes|becomes?|turns?|stays?|left)\s+(?:still\s+|left\s+)?(open|closed|on|off|wet|dry|locked|unlocked|occupied|clear)\b/i;
const VERB = /\b(open|close)s\b/i;
const CHANGES = /\bchanges?\b/i;
/** Of a pair of words for yes and no, these mean no. */
const NO_WORDS = new Set(["closed", "off", "dry", "clear", "locked"]);
const WEEKDAYS = ["mo", "tu", "we", "th", "fr", "sa", "su"];

/** @param now the time of the home, as the gateway's prompt has it; undefined: it is not told */
export function ruleWish(
  question: Question,
  tools: readonly OfferedTool[],
  now: Date | undefined,
): RuleWish | undefined {
  const text = question.text.replaceAll("−", "-");
  const offers = (name: string) => tools.some((tool) => tool.name === name);
  const device = tools.find(({ name }) => name === "edge_call");
  const repeats = REPEATS.test(text);
  if (offers("watch") && device && !repeats && WATCH.test(text) && !IS_NOW.test(text))
    return watchWish({ ...question, text }, device);
  if (offers("remind") && (repeats || REMIND.test(text)))
    return remindWish({ ...question, text }, device, now);
  return undefined;
}

function watchWish(question: Question, tool: OfferedTool): RuleWish | undefined {
  const { text } = question;
  const condition = conditionIn(text.replace(LASTING, ""));
  if (!condition) return undefined;
  const [, enumeration = {}] = propertiesOf(tool.parameters).find(([name]) => name === "agent_id") ?? [];
  const agents = valuesOf(enumeration).filter((id) => id !== "any");
  const chosen = agents.length === 1 ? agents : chooseValues(question, tool, agents);
  if (chosen.length === 0)
    return { missing: `Name the device to watch: ${agents.join(", ") || "none is online"}.` };
  const lines = valueLines(tool).of;
  const readings = chosen.map((id) => condition.reading ?? readingOf(question, lines.get(id) ?? ""));
  const unclear = chosen.find((_, index) => readings[index] === undefined);
  if (unclear !== undefined) return { missing: whichReading(unclear, lines.get(unclear) ?? "") };
  const [, amount, unit = ""] = LASTING.exec(text) ?? [];
  const calls = chosen.map((agent_id, index) => ({
    name: nameOf(text),
    agent_id,
    reading: readings[index],
    is: condition.is,
    ...(condition.value !== undefined && { value: condition.value }),
    ...(amount !== undefined && { for_minutes: Number(amount) * (unit.startsWith("h") ? 60 : 1) }),
    ...(UNTIL_ANSWERED.test(text) && { repeat: "until_ack" }),
  }));
  return { name: "watch", calls };
}

type Said = { is: string; value?: number | string | boolean; reading?: string };

function conditionIn(text: string): Said | undefined {
  const number = (match: RegExpExecArray) => Number((match[1] ?? "").replace(",", "."));
  const above = ABOVE.exec(text);
  if (above) return { is: "above", value: number(above) };
  const below = BELOW.exec(text);
  if (below) return { is: "below", value: number(below) };
  if (OFFLINE.test(text)) return { is: "offline", reading: "presence" };
  if (ONLINE.test(text)) return { is: "online", reading: "presence" };
  if (SOMEBODY.test(text.replace(UNTIL_ANSWERED, ""))) return { is: "equal", value: true };
  const state = (STATE.exec(text) ?? VERB.exec(text))?.[1]?.toLowerCase();
  if (state !== undefined) return { is: "equal", value: state === "close" ? "closed" : state };
  return CHANGES.test(text) ? { is: "changes" } : undefined;
}

/** Returns what the device's line names in brackets, `sensor (temperature)`, and its actions that read. */
function readingsOf(line: string): string[] {
  const { text, actions } = splitActions(line);
  const states = (/\(([^)]*)\)/.exec(text)?.[1] ?? "").split(/,\s*/).filter((state) => /^[^…]+$/.test(state));
  const own = actions.filter((name) => isRead(name) && name !== "read");
  return [...states, ...own];
}

/** A sentence that names one of these means a reading of that name. */
const QUANTITIES =
  "humidity temperature power energy battery pressure brightness illuminance voltage current memory disk cpu speed noise co2 level"
    .split(" ")
    .map((word): [RegExp, RegExp] => [new RegExp(`\\b${word}\\b`, "i"), new RegExp(word, "i")]);

/** Readings that a condition's words mean, where the sentence names none. */
const MEANT: ReadonlyArray<[words: RegExp, readings: RegExp]> = [
  [/\b(?:warm|cold|hot|cool)(?:t?er)?\b|\bdegrees?\b|°/i, /temperature/i],
  [/\b(?:open|close)[sd]?\b|\bajar\b/i, /^(?:door|window|opening|garage_door|cover|gate|contact)$/i],
  [/\b(?:un)?locked\b/i, /lock/i],
  [/\b(?:wet|dry|leak\w*)\b/i, /moisture|leak/i],
  [/\b(?:occupied|clear|any(?:body|one)|some(?:body|one))\b/i, /occupancy|presence|motion|people|person/i],
];

/**
 * The reading that the sentence speaks of. One that it does not name is meant only where nothing else could be: the device has one alone, and
 * the sentence names no other thing.
 * @returns undefined when it is not clear, or not there
 */
function readingOf(question: Question, line: string): string | undefined {
  const { text } = question;
  const all = readingsOf(line);
  const meant = [...MEANT, ...QUANTITIES].filter(([words]) => words.test(text));
  // `Hotter than 60` is a temperature, whichever other word the sentence shares with a reading.
  const fitting = all.filter((name) => meant.every(([, readings]) => readings.test(name)));
  const spoken = spokenOf(question, fitting);
  if (spoken.length === 1) return spoken[0];
  if (meant.length > 0 && fitting.length > 0) return fitting[0];
  if (meant.length > 0 && all.length > 0) return undefined;
  if (spoken.length > 1) return undefined;
  // A line without readings: the gateway's error names them.
  if (all.length === 0) return meant.length > 0 ? "temperature" : "state";
  return all.length === 1 ? all[0] : undefined;
}

function whichReading(agent: string, line: string): string {
  return `I do not know which reading of ${agent} you mean. It has: ${readingsOf(line).join(", ")}. Name one of them; I set nothing.`;
}

function spokenOf({ text, stems, generic }: Question, values: readonly string[]): string[] {
  const isSpokenOf = (value: string) =>
    stemsOf(value).some((stem) => stems.has(stem) || generic.has(stem)) || names(text, value);
  return values.filter(isSpokenOf);
}

/** `Tell me when the freezer is above -15.` → `Freezer is above −15`. */
function nameOf(text: string): string {
  const clause =
    /\b(?:when|whenever|if|as soon as)\s+(.+?)(?:[.?!;](?:\s|$)|$)/is.exec(text)?.[1] ??
    text.replace(/^\s*(?:is|are)\s+/i, "").split(/[.?!](?:\s|$)/)[0] ??
    text;
  return capital(clause.replace(/^(?:the|my|our)\s+/i, "").replace(/-(?=\d)/g, "−"))
    .slice(0, NAME_MAX)
    .trim();
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * The call that the gateway's error asks for: it names the readings, values or words that there are.
 * @returns undefined when the sentence names none of them
 */
export function corrected(question: Question, args: Arguments, error: string): Arguments | undefined {
  const listed = /(?:It has|name one): (.*?)\.(?:\s|$|\.)/.exec(error)?.[1] ?? "";
  const options = listed
    .split(/,\s*/)
    .map((one) => one.replace(/\s*\([^)]*\)$/, ""))
    .filter(Boolean);
  if (/^Error: (?:reading|field): /.test(error)) {
    const key = error.startsWith("Error: reading") ? "reading" : "field";
    const [value, ...others] = spokenOf(question, options);
    if (others.length > 0) return undefined;
    return value === undefined || value === args[key] ? undefined : { ...args, [key]: value };
  }
  const [, yes, no] = /^Error: value: .* is (\S+) or (\S+), not '/.exec(error) ?? [];
  if (yes !== undefined && no !== undefined)
    return { ...args, value: NO_WORDS.has(String(args.value)) ? no : yes };
  if (/^Error: value: .* is a text, not '/.test(error) && args.value === true)
    return { ...args, value: "somebody" };
  return undefined;
}

function remindWish(question: Question, device: OfferedTool | undefined, now: Date | undefined): RuleWish {
  const { text } = question;
  const { when, rest } = scheduleIn(text, now);
  if (Object.keys(when).length === 0)
    return { missing: "Say when: in 10 minutes, at 18:00, or every day at 8." };
  const about = capital(
    rest
      .replace(/\b(?:please\s+)?remind me\b/i, "")
      .replace(/^[\s,:]*(?:please\s+)?(?:(?:tell|send|give) me\s+)?(?:that|to|of|about)?\s+/i, "")
      .replace(/[\s.!?]+$/, "")
      .trim(),
  );
  const concerns = device !== undefined && !REMIND.test(text) && toolsFor(question, [device]).length > 0;
  const args = { text: about || text.trim(), ...when, ...(concerns && { do: "brief" }) };
  return { name: "remind", calls: [args] };
}

/** Returns the fields of `remind` that say when, and the sentence without these words. */
function scheduleIn(text: string, now: Date | undefined): { when: Arguments; rest: string } {
  let rest = text;
  const take = (pattern: RegExp) => {
    const match = pattern.exec(rest);
    if (match) rest = rest.replace(match[0], " ");
    return match;
  };
  const span = take(/\bin\s+(an?|half an|\d+)\s*(min(?:ute)?s?|h(?:ours?)?|days?)\b/i);
  if (span) return { when: { in_minutes: minutesOf(span[1] ?? "", span[2] ?? "") }, rest };
  const every = take(
    /\b(?:every|each)\s+(morning|day|evening|night|weekday|weekend|week|month|hour|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i,
  )?.[1]?.toLowerCase();
  const isLate = every === "evening" || every === "night";
  const isTomorrow = take(/\btomorrow\b/i) !== null;
  const clock = take(/\bat\s+(\d{1,2})(?:[:.](\d\d))?(?:\s*(am|pm|o'clock))?\b/i);
  const at = clock && timeOf(clock, isLate);
  if (every !== undefined) {
    const day = every.endsWith("day") ? WEEKDAYS.indexOf(every.slice(0, 2)) : -1;
    const spans = ["weekday", "weekend", "week", "month", "hour"];
    const unit = spans.includes(every) ? every : day >= 0 ? "week" : "day";
    return { when: { every: unit, ...(at && { at }), ...(day >= 0 && { days: [WEEKDAYS[day]] }) }, rest };
  }
  if (!at || !now) return { when: {}, rest };
  const date = new Date(now);
  if (isTomorrow || at <= now.toISOString().slice(11, 16)) date.setUTCDate(date.getUTCDate() + 1);
  return { when: { at_date: `${date.toISOString().slice(0, 10)} ${at}` }, rest };
}

function minutesOf(count: string, unit: string): number {
  const each = /^d/i.test(unit) ? 1_440 : /^h/i.test(unit) ? 60 : 1;
  return each * (/^half/i.test(count) ? 0.5 : /^an?$/i.test(count) ? 1 : Number(count));
}

/** `HH:MM` of `8`, `8:30`, `8 pm`. */
function timeOf([, hour = "", minute = "00", half]: RegExpExecArray, isLate: boolean): string {
  const isAfternoon = half?.toLowerCase() === "pm" || (isLate && half === undefined);
  const hours = (Number(hour) % (isAfternoon ? 12 : 24)) + (isAfternoon ? 12 : 0);
  return `${String(hours).padStart(2, "0")}:${minute}`;
}

/** The home's time in the gateway's prompt, `It is Tue 24 Nov 2026, 19:12 (…)`, as if it were UTC. */
export function timeIn(prompt: string): Date | undefined {
  const found = /\bIt is \w{3} (\d{1,2} \w{3} \d{4}), (\d\d:\d\d) \(/.exec(prompt);
  return found ? new Date(`${found[1]} ${found[2]} UTC`) : undefined;
}
