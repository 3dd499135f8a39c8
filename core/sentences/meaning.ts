/** What a cover of a whole sentence means. Pure. */

import { compose } from "./compose.ts";
import type { Act, ActingRule, Ask, Frame, Reason, Rules, Watch, WatchFor, When } from "./frame.ts";
import type { PartContext } from "./part.ts";
import { type BuiltParts, partsOf } from "./parts.ts";
import { past } from "./past.ts";
import { type Item, type Role, valuesOf } from "./roles.ts";
import { TARGET_ROLES, targetOf } from "./target.ts";

export type SentenceContext = PartContext & {
  /** The words of an item as they were said. */
  saidIn(item: Item): string;
  text: string;
};

/** Refusals that hold whatever else the sentence could mean. */
export const FINAL: ReadonlySet<Reason["because"]> = new Set<Reason["because"]>([
  "negation",
  "exception",
  "condition",
  "delay",
  "question",
  "quotation",
  "too_long",
]);

export function meaningOf(cover: readonly Item[], context: SentenceContext): BuiltParts {
  const said = cover.filter(({ role }) => role !== "filler");
  // "如果门开了就告诉我": the condition is what is watched for.
  const isWatched = said.at(-1)?.role === "watch" && said.length > 2;
  const stop = cover.find(
    (item) => item.role === "stop" && !(isWatched && isCondition(item) && item === said[0]),
  );
  if (stop?.role === "stop") {
    const refused = stopped(stop.value, context.saidIn(stop));
    const rule = isConditional(stop.value) ? actingRule(said, context) : undefined;
    return { refused: { ...refused, ...(rule && { rule }) } };
  }
  const items = compose(cover.filter(({ role }) => role !== "stop"));
  if (items === undefined) return undefined;
  if (items.some(({ role }) => role === "watch")) return watch(items);
  if (items.some(({ role }) => role === "past")) return past(items);
  if (asksToBeToldOfChange(items)) return watch(items.map((item) => (item.role === "ask" ? HEAD : item)));
  if (items.some(({ role }) => role === "rule" || role === "rule_name")) return rules(items);
  if (items.some(({ role }) => role === "cancel")) return undefined;
  const whole = wholePhrase(items);
  if (whole) return { meanings: [[whole]] };
  const times = items.filter(({ role }) => role === "when" || role === "hold");
  if (times.length > 0) return timed(items, times, context);
  return partsOf(items, context);
}

/** The condition stands at the beginning, up to the act, or at the end. @returns undefined: not exactly one */
function actingRule(items: readonly Item[], context: SentenceContext): ActingRule | undefined {
  const [first, second, third] = items.filter(({ role }) => role === "stop");
  if (!first || third || (second && second.value !== "then")) return undefined;
  const at = items.indexOf(first);
  const behind = items.slice(at + 1);
  // "门开了就打开阅读灯": the condition has no word of its own.
  if (first.value === "then") {
    const [rule] = second ? [] : ruleOf(items.slice(0, at), behind, context);
    return rule;
  }
  // "如果门开了就打开阅读灯".
  const then = second ? behind.indexOf(second) : undefined;
  const splits: Array<[condition: readonly Item[], acts: readonly Item[]]> =
    at > 0
      ? [[behind, items.slice(0, at)]]
      : then !== undefined
        ? [[behind.slice(0, then), behind.slice(then + 1)]]
        : behind.map((_, from) => [behind.slice(0, from), behind.slice(from)]);
  const found = splits.flatMap(([condition, acts]) => ruleOf(condition, acts, context));
  return found.length === 1 ? found[0] : undefined;
}

function ruleOf(condition: readonly Item[], said: readonly Item[], context: SentenceContext): ActingRule[] {
  // "if it opens, then …".
  const begun = said[0]?.role === "and" ? said.slice(1) : said;
  const [when, acts] = [compose(condition), compose(begun)];
  if (!when?.length || !acts?.length) return [];
  const watched = watch([HEAD, ...when]);
  const done = watched && "meanings" in watched ? partsOf(acts, context) : undefined;
  if (!watched || !("meanings" in watched) || !done || !("meanings" in done)) return [];
  const [frame] = watched.meanings[0] ?? [];
  const [frames, other] = done.meanings;
  const isAct = (one: Frame): one is Act => one.kind === "act";
  if (frame?.kind !== "watch" || !frames?.every(isAct) || other) return [];
  return [{ when: frame, acts: frames }];
}

function isConditional(stop: Extract<Item, { role: "stop" }>["value"]): boolean {
  return stop === "when" || stop === "then";
}

function isCondition(item: Item): boolean {
  return item.role === "stop" && (item.value === "condition" || item.value === "when");
}

function stopped(because: Extract<Item, { role: "stop" }>["value"], word: string): Reason {
  if (because === "when" || because === "then") return { because: "condition", word };
  if (because === "delay") return { because };
  return because === "quotation" ||
    because === "no_action" ||
    because === "no_sense" ||
    because === "no_target"
    ? { because }
    : { because, word };
}

/** "what can you do?", "what time is it?", "ok, I know". */
function wholePhrase(items: readonly Item[]): Frame | undefined {
  const [first, second, third] = items.filter(({ role }) => role !== "request");
  if (third !== undefined || first === undefined) return undefined;
  if (first.role === "ack" && second?.role === "hold") return { kind: "ack", snooze_minutes: second.value };
  if (second !== undefined) return undefined;
  if (first.role === "help") return { kind: "help" };
  if (first.role === "clock") return { kind: "clock", of: first.value };
  return first.role === "ack" && first.value === "ack" ? { kind: "ack" } : undefined;
}

/** Questions at a time are a briefing where it comes again. An act at a time is none. */
function timed(items: readonly Item[], times: readonly Item[], context: SentenceContext): BuiltParts {
  const [when] = valuesOf(times, "when");
  const delayed: BuiltParts = { refused: { because: "delay", ...(when && { when }) } };
  if (when === undefined || times.length > 1) return delayed;
  const asked = partsOf(
    items.filter((item) => !times.includes(item)),
    context,
  );
  if (!asked || !("meanings" in asked) || !("every" in when))
    return asked && "meanings" in asked ? delayed : asked;
  const [frames, other] = asked.meanings;
  const asks = frames?.filter((frame): frame is Ask => frame.kind === "ask") ?? [];
  if (other !== undefined || asks.length !== frames?.length) return delayed;
  return { meanings: [[briefing(when, asks, context.text)]] };
}

function briefing(when: When, asks: readonly Ask[], text: string): Frame {
  return { kind: "briefing", when, asks, text };
}

const HEAD: Item = { role: "watch", value: null, at: 0 };

/** "Tell me if the window opens". Where it says a state, "if the window is open", it is a question of now. */
function asksToBeToldOfChange(items: readonly Item[]): boolean {
  const has = (wanted: Role) => items.some(({ role }) => role === wanted);
  const [ask, other] = valuesOf(items, "ask");
  return ask === "yes_no" && other === undefined && has("show") && (has("becomes") || has("changes"));
}

function watch(items: readonly Item[]): BuiltParts {
  const at = items.findIndex(({ role }) => role === "watch");
  const [before, after] = [items.slice(0, at), items.slice(at + 1)];
  // Its head stands at one of its ends.
  const isPolite = ({ role }: Item) => role === "request" || role === "show";
  if (!before.every(isPolite) && after.length > 0) return undefined;
  const rest = [...before, ...after].filter(
    (item) => item.role !== "be" && item.role !== "becomes" && !isPolite(item),
  );
  const targets = targetOf(rest.filter(({ role }) => TARGET_ROLES.has(role)));
  const others = rest.filter(({ role }) => !TARGET_ROLES.has(role));
  const [target, second] = targets?.targets ?? [];
  if (target === undefined || second !== undefined) return undefined;
  const holds = valuesOf(others, "hold");
  const condition = conditionOf(others.filter(({ role }) => role !== "hold"));
  if (condition === undefined || holds.length > 1 || needsTarget(condition, target.of)) return undefined;
  const [hold] = holds;
  const frame: Watch = {
    kind: "watch",
    target,
    condition,
    ...(hold !== undefined && { for_minutes: hold }),
  };
  return { meanings: [[frame]] };
}

/** "tell me when the load is above 1" has none, and is of the one machine. A state without one is of no thing. */
function needsTarget(condition: WatchFor, of: string): boolean {
  if (of !== "unsaid" && of !== "place") return false;
  if ("state" in condition) return !["motion", "smoke", "gas", "wet", "occupied"].includes(condition.state);
  return !("reading" in condition) && !("changes" in condition);
}

function conditionOf(items: readonly Item[]): WatchFor | undefined {
  const by = Map.groupBy(items, ({ role }) => role);
  const has = (...roles: Role[]) =>
    roles.length === by.size && roles.every((role) => by.get(role)?.length === 1);
  const [state] = valuesOf(items, "state");
  if (has("state") && state) return { state: state.is, ...(state.or && { or: state.or }) };
  const [reading] = valuesOf(items, "reading");
  if (has("reading", "changes") && reading) return { changes: reading };
  if (has("changes")) return { changes: "state" };
  const [compare] = valuesOf(items, "compare");
  const [value] = valuesOf(items, "value");
  const [share] = valuesOf(items, "share");
  const isShared =
    has("reading", "share", "compare", "value") && (reading === "disk" || reading === "memory");
  if (!has("compare", "value") && !has("reading", "compare", "value") && !isShared) return undefined;
  if (!compare || !value || !("number" in value.value) || value.how === "by") return undefined;
  return { ...(reading && { reading }), ...(share && { share }), is: compare, value: value.value };
}

const LISTING: ReadonlySet<Role> = new Set<Role>([
  "show",
  "ask",
  "be",
  "exist",
  "request",
  "rule",
  "all",
  "in",
]);

function rules(items: readonly Item[]): BuiltParts {
  const nouns = valuesOf(items, "rule");
  const cancels = valuesOf(items, "cancel");
  const named = valuesOf(items, "rule_name");
  const [noun, cancel, name] = [nouns[0], cancels[0], named[0]];
  if (nouns.length > 1 || cancels.length > 1 || named.length > 1) return undefined;
  const of = noun === undefined || noun.of === "rule" ? {} : { of: noun.of };
  const list = (frame: Rules): BuiltParts => ({ meanings: [[frame]] });
  if (cancel === undefined) {
    const isListed = items.some(({ role }) => role === "show" || role === "ask" || role === "exist");
    const isTarget = ({ role }: Item) => TARGET_ROLES.has(role) && !LISTING.has(role);
    if (!noun || !isListed || !items.every((item) => LISTING.has(item.role) || isTarget(item)))
      return undefined;
    if (!items.some(isTarget)) return list({ kind: "rules", do: "list", ...of, all: true });
    // "which rules are there for the freezer?"
    const [target, other] = targetOf(items.filter(isTarget))?.targets ?? [];
    if (target === undefined || other !== undefined) return undefined;
    return list({ kind: "rules", do: "list", ...of, all: true, target });
  }
  const rest = items.filter(
    ({ role }) => !["cancel", "rule", "rule_name", "request", "all", "each", "a"].includes(role),
  );
  const isAll = items.some(({ role }) => role === "all" || role === "each");
  if (name) {
    if (rest.length > 0 || name.ids.length > 1 || isAll) return undefined;
    return list({ kind: "rules", do: cancel, ...of, all: false, id: name.ids[0] ?? "" });
  }
  if (!noun || !rest.every(({ role }) => TARGET_ROLES.has(role))) return undefined;
  const [target, other] = targetOf(rest)?.targets ?? [];
  if (target === undefined || other !== undefined) return undefined;
  const about = target.of === "unsaid" ? {} : { target };
  return list({ kind: "rules", do: cancel, ...of, all: isAll || noun.number === "many", ...about });
}
