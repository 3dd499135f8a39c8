/** Answers questions from what devices of the broker reported. Pure but for the question for their states. */
import type { ReadingWord } from "@edgecall/core/phrases/languages/phrase-data.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { readingWord } from "@edgecall/core/phrases/reading-names.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import type { Ask, Reading as Asked, Comparison, Devices, State } from "@edgecall/core/sentences/frame.ts";
import type { States } from "../../../kernel/home/devices/device-states.ts";
import { compares, readingsOf, stateIn, valueText } from "./readings.ts";
import { reportedNear } from "./reported-near.ts";
import { byState, choices, findTarget, type Problem, type TargetContext } from "./targets.ts";
import { isOfType, type Thing } from "./things.ts";

export type AskContext = TargetContext & {
  now: number;
  /** What devices reported last. @returns undefined: the bridge did not answer */
  states(ids: readonly string[]): Promise<States | undefined>;
};

/** @property about the ids of the things of which it tells */
export type Answer = { answer: string; about: string[] } | { problem: Problem };

/** Things that one answer tells of. */
const TOLD_MAX = 20;
/** Things that have a line each, beside a verdict. */
const LINES_MAX = 5;

type Reported = { thing: Thing; readings: readonly Reading[] };

/** The answer to a question about hosted devices. */
export async function answerAsk(given: Ask, context: AskContext): Promise<Answer> {
  const ask = { ...given, target: byState(given.target, given) };
  const { things, phrases } = context;
  const hosted = things.filter((thing) => thing.hosted);
  const isMany = ask.form !== "yes_no" || ask.target.of === "type";
  const mayBe = (thing: Thing) => thing.hosted;
  // Which devices have the reading their states alone tell, so all that may be meant are asked.
  const wide = findTarget(ask.target, { ...context, things: isPresence(ask) ? things : hosted }, mayBe, true);
  if ("problem" in wide) return wide;
  const states = isPresence(ask) ? new Map() : await context.states(wide.things.map(({ id }) => id));
  if (!states)
    return {
      problem: { text: phrases.say("notKnownOf", { names: phrases.list(choices(wide.things), "and") }) },
    };
  const readingsIn = ({ id }: Thing): readonly Reading[] => states.get(id)?.readings ?? [];
  const isAbout = (thing: Thing) => isPresence(ask) || aboutIt(ask, readingsIn(thing)).length > 0;
  const found = findTarget(
    ask.target,
    { ...context, things: wide.things },
    isAbout,
    isMany && mayBeMany(ask),
  );
  if ("problem" in found) return found;
  const told: Reported[] = found.things
    .filter((thing) => found.things.length === 1 || isAbout(thing))
    .map((thing) => ({ thing, readings: readingsIn(thing) }));
  if (told.length > TOLD_MAX * 5)
    return { problem: { text: phrases.say("tooMany", { count: told.length, max: String(TOLD_MAX) }) } };
  const [only] = told;
  if (!only || (told.length === 1 && !isAbout(only.thing))) {
    const none = only ?? { thing: found.things[0], readings: [] };
    if ("state" in ask && none.thing) return { problem: await reportedNear(none.thing, ask, context) };
    return { problem: hasNone(askedOf(ask), none, phrases) };
  }
  const about = told.map(({ thing }) => thing.id);
  if (ask.form === "value") return { answer: values(ask.reading, told, context), about };
  const judged = told.map((one) => ({ ...one, ...judge(ask, one) }));
  return { answer: verdict(ask, judged, context), about };
}

/** A question for one value of an unsaid thing is about one thing; "how warm is it in the kitchen?" may have several answers. */
function mayBeMany(ask: Ask): boolean {
  return ask.target.of !== "named" && ask.target.of !== "earlier";
}

function isPresence(ask: Ask): boolean {
  return "state" in ask && (ask.state === "online" || ask.state === "offline");
}

/** The readings that the question is about. */
function aboutIt(ask: Ask, readings: readonly Reading[]): readonly Reading[] {
  if (ask.form === "value") return readingsOf(readings, ask.reading);
  if ("compare" in ask) return compared(ask.compare, readings);
  const by = statesOf(ask).map((state) => stateIn(readings, state)?.by);
  return by.flatMap((one) => one ?? []);
}

/** A language may have one word for two states. */
function statesOf({ state, or }: { state: State; or?: State }): State[] {
  return or === undefined ? [state] : [state, or];
}

function compared({ reading, value }: Comparison, readings: readonly Reading[]): readonly Reading[] {
  if (reading !== undefined)
    return readingsOf(readings, reading).filter((one) => typeof one.value === "number");
  const numbers = readings.filter((one) => typeof one.value === "number" && one.class !== "battery");
  const unit = numbers.filter(
    (one) => value.unit !== undefined && one.unit?.startsWith(value.unit.charAt(0)),
  );
  return unit.length > 0 ? unit : numbers.slice(0, 1);
}

function values(asked: Asked, told: readonly Reported[], { phrases, now }: AskContext): string {
  const lines = told.slice(0, TOLD_MAX).map(({ thing: { name }, readings }) => {
    const found = readingsOf(readings, asked);
    const value = phrases.parts(
      ...found.slice(0, 4).map((reading) => labelled(asked, reading, found.length, phrases, now)),
    );
    const known = found.some(({ value: one, unavailable }) => one !== null && !unavailable);
    const isPlain = asked === "state" || found[0]?.unit?.startsWith("°") === true;
    if (!known)
      return isPlain
        ? phrases.say("unknownNow", { name })
        : phrases.say("readingUnknown", { name, reading: phrases.reading(asked) });
    return isPlain
      ? phrases.say("value", { name, value })
      : phrases.say("reading", { name, reading: phrases.reading(asked), value });
  });
  return lines.join("\n");
}

/** Of several readings each is named. */
function labelled(asked: Asked, reading: Reading, count: number, phrases: Phrases, now: number): string {
  const value = valueText(reading, phrases, now);
  const isMain = asked === "state" && (typeof reading.value === "boolean" || reading.unit === undefined);
  return count === 1 || isMain ? value : `${phrases.readingName(reading.name)} ${value}`;
}

type Judged = Reported & { so: boolean | undefined; by: Reading | undefined };

function judge(
  ask: Exclude<Ask, { form: "value" }>,
  { thing, readings }: Reported,
): Omit<Judged, keyof Reported> {
  if ("compare" in ask) {
    const [reading] = compared(ask.compare, readings);
    return { so: reading && compares(reading, ask.compare), by: reading };
  }
  if (isPresence(ask)) return { so: thing.online === (ask.state === "online"), by: undefined };
  const [found] = statesOf(ask).flatMap((state) => stateIn(readings, state) ?? []);
  return { so: found?.so, by: found?.by };
}

function verdict(
  ask: Exclude<Ask, { form: "value" }>,
  judged: readonly Judged[],
  { phrases, now }: AskContext,
): string {
  const names = (of: readonly Judged[]) => phrases.list(choices(of.map(({ thing }) => thing)), "and");
  const lines = (of: readonly Judged[]) => judgedLines(of, phrases, now);
  const so = judged.filter((one) => one.so === true);
  const unknown = judged.filter((one) => one.so === undefined);
  const others = judged.filter((one) => one.so === false);
  const rest = unknown.length > 0 ? phrases.say("notKnownOf", { names: names(unknown) }) : "";
  const [only] = judged;
  if (ask.form === "yes_no" && judged.length === 1 && only) {
    if (only.so === undefined) return phrases.say("unknownNow", { name: only.thing.name });
    return phrases.say(only.so ? "yes" : "no", { text: lines(judged) });
  }
  if (so.length === 0 && others.length === 0) return rest;
  if (ask.form === "which" || ask.form === "count") {
    if (so.length === 0) return joined(phrases.say("none"), lines(others), rest);
    if (ask.form === "which") return joined(lines(so), rest);
    return phrases.sentences(
      phrases.say("countOf", { count: so.length, total: String(judged.length), names: names(so) }),
      rest,
    );
  }
  // "Is any window open?", "are all closed?": a single unknown one may decide it.
  const isAll = ask.form === "all" || ask.form === "yes_no";
  const [deciding, left] = isAll ? [others, so] : [so, others];
  const [decided, undecided] = isAll ? (["no", "yes"] as const) : (["yes", "no"] as const);
  // "Are the windows open?" is a no of all and a yes of some.
  const isEach = ask.target.of === "everything" || (ask.target.of === "type" && ask.target.number === "all");
  if (isAll && !isEach && so.length > 0 && others.length > 0) return joined(lines(so), lines(others), rest);
  if (deciding.length > 0) return joined(phrases.say(decided, { text: lines(deciding) }), rest);
  return unknown.length > 0 ? joined(lines(left), rest) : phrases.say(undecided, { text: lines(left) });
}

function joined(...lines: readonly string[]): string {
  return lines.filter(Boolean).join("\n");
}

/** A line for each thing, with the age of its value. Of many those of one value share a line, and the age is left out. */
function judgedLines(of: readonly Judged[], phrases: Phrases, now: number): string {
  const valueAt = ({ thing: { online }, by }: Judged, at: number) =>
    by ? valueText(by, phrases, at) : phrases.value(online ? "online" : "offline");
  const names = choices(
    of.map(({ thing }) => thing),
    of.length,
  );
  const lines = new Map<string, string[]>();
  for (const [at, one] of of.entries()) {
    const isOne = of.length <= LINES_MAX;
    const value = valueAt(one, isOne ? now : (one.by?.at ?? now));
    const key = isOne ? String(at) : value;
    const line = lines.get(key) ?? [value];
    line.push(names[at] ?? "");
    lines.set(key, line);
  }
  const told = [...lines.values()].slice(0, TOLD_MAX).map(([value = "", ...all]) => {
    const shown = all.length > TOLD_MAX ? [...all.slice(0, TOLD_MAX), "…"] : all;
    return phrases.say("value", { name: phrases.list(shown, "plain"), value });
  });
  return joined(...told, lines.size > TOLD_MAX ? "…" : "");
}

function askedOf(ask: Ask): ReadingWord {
  if (ask.form === "value") return ask.reading;
  return "compare" in ask ? (ask.compare.reading ?? "state") : "state";
}

/** "X has no temperature. It has …" */
export function hasNone(
  asked: ReadingWord,
  { thing, readings }: { thing: Thing | undefined; readings: readonly Reading[] },
  phrases: Phrases,
): Problem {
  const name = thing?.name ?? "";
  const reading = phrases.reading(asked);
  const had = [
    ...new Set(
      readings.flatMap((one) => {
        const known = (one.class === undefined ? undefined : readingWord(one.class)) ?? readingWord(one.name);
        return known === undefined ? [] : [phrases.reading(known)];
      }),
    ),
  ];
  return {
    text:
      had.length > 0
        ? phrases.say("hasNoReading", { name, reading, readings: phrases.list(had.slice(0, 8), "and") })
        : phrases.say("hasNoReadings", { name, reading }),
  };
}

/** "Which devices are online?", "which lights do you know?" */
export function answerDevices(
  { state, type, place, form }: Devices,
  { things, phrases, called }: TargetContext,
): Answer {
  const placed = things.filter(
    ({ area }) =>
      !place ||
      place.is === "home" ||
      place.is === "here" ||
      (area !== undefined && place.ids.includes(area)),
  );
  const all = placed.filter((thing) => type === undefined || isOfType(thing, type, called));
  const about = all.map(({ id }) => id).slice(0, TOLD_MAX);
  if (all.length === 0) return { answer: phrases.say("noDevices"), about: [] };
  const names = (of: readonly Thing[]) =>
    phrases.list(
      of
        .slice(0, 60)
        .map(({ name }) => name)
        .concat(of.length > 60 ? ["…"] : []),
      "plain",
    );
  const online = all.filter((thing) => thing.online);
  const offline = all.filter((thing) => !thing.online);
  const count = phrases.say("devicesOnline", { count: online.length, total: String(all.length) });
  if (form === "count") return { answer: count, about };
  if (state === "offline")
    return {
      answer:
        offline.length > 0 ? phrases.say("areOffline", { names: names(offline) }) : phrases.say("allOnline"),
      about,
    };
  const parts = [
    online.length > 0 ? phrases.say("online", { names: names(online) }) : count,
    offline.length > 0 && state === undefined ? phrases.say("areOffline", { names: names(offline) }) : "",
  ];
  return { answer: parts.filter(Boolean).join("\n"), about };
}
