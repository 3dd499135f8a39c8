/** Puts numbers, units and times of a cover together: "to 21 degrees" becomes one value, "every weekday at 7" one time. Pure. */
import type { Amount, Day, When } from "./frame.ts";
import type { Item, Role } from "./roles.ts";

const HOUR = 60;
const DAY = 1_440;

/** Of the parts of a day, where no hour is said. */
const PART_HOURS = { am: 8, pm: 20, morning: 8, noon: 12, evening: 19, night: 22 } as const;

/** @returns the items without fillers, and with what was put together in the place of its parts; undefined where a number has no role */
export function compose(items: readonly Item[]): Item[] | undefined {
  const said = items.filter(({ role }) => role !== "filler");
  const left = said.filter((item, at) => item.role !== "a" || !isOfColor(said[at + 1], said[at + 2]));
  const done: Item[] = [];
  for (let at = 0; at < left.length; ) {
    if (isNoHour(left, at)) return undefined;
    if (left[at]?.role === "from" && left[at + 1]?.role === "color") {
      at += 2;
      continue;
    }
    // "lights with a red colour".
    if (left[at]?.role === "prep" && left[at + 1]?.role === "color") {
      at += 1;
      continue;
    }
    // "change to the scene Party", "set the TV to volume 70".
    if (left[at]?.role === "to" && (isScene(left[at + 1], left[at + 2]) || isNamedValue(left, at + 1))) {
      at += 1;
      continue;
    }
    const role = left[at]?.role;
    // A cold start compiles what it calls.
    const found =
      role && COMPOSED.has(role) ? (timeAt(left, at) ?? valueAt(left, at, done.at(-1))) : undefined;
    if (found) {
      done.push(found.item);
      at = found.next;
      continue;
    }
    const item = left[at];
    if (item === undefined || LOOSE.has(item.role)) return undefined;
    done.push(item);
    at += 1;
  }
  return done.some(({ role }) => role === "when") ? mergeTimes(done) : done;
}

/** Roles with which a time or a value begins. */
const COMPOSED: ReadonlySet<Role> = new Set<Role>([
  ..."number half unit minus to by level at in for after every days daily part span minutes time a color white option bound".split(
    " ",
  ),
] as Role[]);

/** Roles beside which a bare hour is a time. */
const TIMED: ReadonlySet<Role> = new Set<Role>([
  ..."act particle when every daily days watch".split(" "),
] as Role[]);

/** "mets le chauffage à 20": where one word is "at" and "to", a bare number of a setting is no hour. "allume la lampe à 8" has one. */
function isNoHour(items: readonly Item[], at: number): boolean {
  const [first, number, next] = items.slice(at, at + 3);
  if (first?.role !== "at" || number?.role !== "number") return false;
  if (next?.role === "oclock" || next?.role === "part") return false;
  const sets = items.some(({ role }) => role === "do" || role === "change" || role === "reading");
  return sets && !items.some(({ role }) => TIMED.has(role));
}

/** "to a nice blue". "A blue light" is a light. */
function isOfColor(item: Item | undefined, next: Item | undefined): boolean {
  return item?.role === "color" && next?.role !== "type" && next?.role !== "name";
}

function isScene(...items: Array<Item | undefined>): boolean {
  return items.some((item) => item?.role === "type" && item.value.type === "scene");
}

function isNamedValue(items: readonly Item[], at: number): boolean {
  const [reading, value] = [items[at], items[at + 1]];
  if (reading?.role !== "reading" || value === undefined) return false;
  return ["number", "unit", "bound", "half"].includes(value.role);
}

/** Roles that mean nothing by themselves. */
const LOOSE: ReadonlySet<Role> = new Set<Role>([
  ..."number half and_half point unit minus to level by from at for after every days daily part span minutes oclock time".split(
    " ",
  ),
] as Role[]);

/** Roles behind which a bare number is a value. */
const BEFORE_NUMBERS: ReadonlySet<Role> = new Set<Role>(["reading", "compare", "becomes", "change"]);

type Found = { item: Item; next: number } | undefined;

function valueAt(items: readonly Item[], from: number, before: Item | undefined): Found {
  const first = items[from];
  if (first === undefined) return undefined;
  const lead = ["to", "by", "level"].includes(first.role) ? (first.role as "to" | "by" | "level") : undefined;
  const at = lead === undefined ? from : from + 1;
  const value = wordValue(items[at], lead);
  if (value)
    return {
      item: { role: "value", value: { value, how: lead === "by" ? "by" : "to" }, at: first.at },
      next: at + 1,
    };
  const amount = amountAt(items, at);
  if (amount === undefined) return undefined;
  const hasUnit = amount.amount.unit !== undefined;
  const item = (how: "to" | "by" | "bare"): Found => ({
    item: { role: "value", value: { value: amount.amount, how }, at: first.at },
    next: amount.next,
  });
  if (lead === "to" || lead === "by") return item(lead);
  if (hasUnit) return item(lead === "level" ? "to" : "bare");
  const isNamed = before !== undefined && BEFORE_NUMBERS.has(before.role);
  return lead === undefined && isNamed ? item("bare") : undefined;
}

function wordValue(item: Item | undefined, lead: string | undefined) {
  if (item?.role === "color") return { color: item.value };
  if (item?.role === "white") return { white: item.value };
  if (item?.role === "option") return { option: item.value };
  if (item?.role === "bound") return { bound: item.value };
  if (item?.role === "half" && lead !== undefined) return { number: 50, unit: "%" as const };
  return undefined;
}

function amountAt(items: readonly Item[], from: number): { amount: Amount; next: number } | undefined {
  const isMinus = items[from]?.role === "minus";
  const at = isMinus ? from + 1 : from;
  const number = items[at];
  const before = items[at - 1];
  // A sign of its own that stands before its number: "% 40" is of no language here.
  if (number?.role !== "number" && !(number?.role === "unit" && items[at + 1]?.role === "number"))
    return undefined;
  if (number.role === "unit") return prefixedAmount(items, at);
  const { number: size, next } = decimals(number.value.number, items, at + 1);
  const value = isMinus ? -size : size;
  const unit = items[next];
  if (unit?.role === "unit") {
    const isHalf = items[next + 1]?.role === "and_half" && Number.isInteger(value);
    const more = value < 0 ? -0.5 : 0.5;
    return {
      amount: { number: isHalf ? value + more : value, unit: unit.value },
      next: next + (isHalf ? 2 : 1),
    };
  }
  if (number.value.small && before?.role !== "to") return undefined;
  return { amount: { number: value }, next };
}

/** "twenty one and a half", "twenty one point five". */
function decimals(number: number, items: readonly Item[], from: number): { number: number; next: number } {
  const [next, digit] = [items[from], items[from + 1]];
  if (!Number.isInteger(number)) return { number, next: from };
  if (next?.role === "and_half") return { number: number + 0.5, next: from + 1 };
  const isDigit = digit?.role === "number" && Number.isInteger(digit.value.number) && digit.value.number < 10;
  if (next?.role !== "point" || !isDigit) return { number, next: from };
  return { number: number + digit.value.number / 10, next: from + 2 };
}

/** "百分之四十": the unit stands before its number. */
function prefixedAmount(items: readonly Item[], at: number): { amount: Amount; next: number } | undefined {
  const [unit, number] = [items[at], items[at + 1]];
  if (unit?.role !== "unit" || number?.role !== "number") return undefined;
  return { amount: { number: number.value.number, unit: unit.value }, next: at + 2 };
}

function timeAt(items: readonly Item[], from: number): Found {
  const first = items[from];
  if (first === undefined) return undefined;
  const when = (value: When, next: number): Found => ({ item: { role: "when", value, at: first.at }, next });
  if (first.role === "daily") return when({ every: first.value }, from + 1);
  if (first.role === "every") return everyAt(items, from, when);
  if (
    first.role === "days" &&
    typeof first.value === "string" &&
    (first.value === "today" || first.value === "tomorrow")
  )
    return when({ at: "", day: first.value }, from + 1);
  if (first.role === "days" && typeof first.value === "object") {
    const [day] = first.value;
    return day === undefined ? undefined : when({ at: "", day }, from + 1);
  }
  const lead = ["in", "for", "after"].includes(first.role);
  const span = spanAt(items, lead ? from + 1 : from);
  if (span) {
    const trailing = items[span.next]?.role === "after";
    if (first.role === "for")
      return { item: { role: "hold", value: span.minutes, at: first.at }, next: span.next };
    if (lead || trailing) return when({ in_minutes: span.minutes }, span.next + (trailing ? 1 : 0));
    return { item: { role: "hold", value: span.minutes, at: first.at }, next: span.next };
  }
  const clock = clockAt(items, from);
  return clock && when({ at: hoursText(clock.minutes) }, clock.next);
}

function everyAt(items: readonly Item[], from: number, when: (value: When, next: number) => Found): Found {
  const unit = items[from + 1];
  if (unit?.role === "part") {
    const clock = clockAt(items, from + 1);
    return when(
      { every: "day", at: hoursText(clock?.minutes ?? PART_HOURS[unit.value] * HOUR) },
      clock?.next ?? from + 2,
    );
  }
  if (unit?.role !== "days") return undefined;
  if (typeof unit.value === "object") {
    const days: Day[] = [...unit.value];
    let next = from + 2;
    // "every Monday and Thursday".
    for (let more = items[next + 1]; items[next]?.role === "and"; more = items[next + 1]) {
      if (more?.role !== "days" || typeof more.value !== "object") break;
      days.push(...more.value);
      next += 2;
    }
    return when({ every: "week", days }, next);
  }
  if (unit.value === "today" || unit.value === "tomorrow") return undefined;
  return when({ every: unit.value }, from + 2);
}

/** "10 minutes", "1 hour and 30 minutes", "half an hour". */
function spanAt(items: readonly Item[], from: number): { minutes: number; next: number } | undefined {
  const first = items[from];
  if (first?.role === "minutes") return { minutes: first.value, next: from + 1 };
  const at = first?.role === "a" ? from + 1 : from;
  const [number, unit] = first?.role === "number" ? [first, items[at + 1]] : [undefined, items[at]];
  if (unit?.role !== "span" || (number === undefined && first?.role !== "a")) return undefined;
  const minutes = (number?.value.number ?? 1) * unit.value;
  const next = number === undefined ? at + 1 : at + 2;
  const more = spanAt(items, items[next]?.role === "and" ? next + 1 : next);
  if (more && more.minutes < unit.value) return { minutes: minutes + more.minutes, next: more.next };
  return { minutes, next };
}

/** "at 8", "8:30", "8 pm", "in the morning at 8", "早上8点半". @returns minutes of the day */
function clockAt(items: readonly Item[], from: number): { minutes: number; next: number } | undefined {
  let at = from;
  let part = items[at]?.role === "part" ? items[at] : undefined;
  if (part) at += 1;
  const hasAt = items[at]?.role === "at";
  if (hasAt) at += 1;
  const first = items[at];
  let minutes: number;
  if (first?.role === "time") {
    minutes = first.value.minutes;
    at += 1;
    if (items[at]?.role === "oclock") at += 1;
  } else if (first?.role === "number" && Number.isInteger(first.value.number) && first.value.number >= 0) {
    const next = items[at + 1];
    const isHour = next?.role === "oclock" || next?.role === "part";
    if (!hasAt && !isHour && part === undefined) return undefined;
    if (next?.role === "unit" || next?.role === "span") return undefined;
    minutes = first.value.number * HOUR;
    at += 1;
    if (items[at]?.role === "oclock") {
      at += 1;
      const rest = items[at];
      if (rest?.role === "half") [minutes, at] = [minutes + 30, at + 1];
      else if (rest?.role === "number" && rest.value.number < HOUR && items[at + 1]?.role !== "unit") {
        [minutes, at] = [minutes + rest.value.number, at + 1];
        const unit = items[at];
        if (unit?.role === "span" && unit.value === 1) at += 1;
      }
    }
  } else if (first?.role === "part" && first.value === "noon") return { minutes: 12 * HOUR, next: at + 1 };
  else return undefined;
  const trailing = items[at];
  if (part === undefined && trailing?.role === "part") {
    part = trailing;
    at += 1;
  }
  const isLate =
    part?.role === "part" && (part.value === "pm" || part.value === "evening" || part.value === "night");
  if (isLate && minutes >= HOUR && minutes < 12 * HOUR) minutes += 12 * HOUR;
  return minutes < DAY ? { minutes, next: at } : undefined;
}

function hoursText(minutes: number): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${two(Math.floor(minutes / HOUR))}:${two(minutes % HOUR)}`;
}

/** @returns undefined where times contradict each other, or a day has no hour */
function mergeTimes(items: readonly Item[]): Item[] | undefined {
  const times = items.filter((item) => item.role === "when");
  let merged: When | undefined;
  for (const { value } of times) {
    const next = merged === undefined ? value : mergedTime(merged, value);
    if (next === undefined) return undefined;
    merged = next;
  }
  if (merged === undefined || ("at" in merged && merged.at === "" && !("every" in merged))) return undefined;
  const [first] = times;
  return items.flatMap((item): Item[] => {
    if (item.role !== "when") return [item];
    return item === first ? [{ role: "when", value: merged, at: item.at }] : [];
  });
}

function mergedTime(a: When, b: When): When | undefined {
  if ("in_minutes" in a || "in_minutes" in b) return undefined;
  const [rule, other] = "every" in a ? [a, b] : [b, a];
  if ("every" in rule)
    return "every" in other || other.day !== undefined || rule.at !== undefined || rule.every === "hour"
      ? undefined
      : { ...rule, at: other.at };
  if ("every" in other) return undefined;
  const day = rule.day ?? other.day;
  if ((rule.day !== undefined && other.day !== undefined) || (rule.at !== "" && other.at !== ""))
    return undefined;
  return { at: rule.at === "" ? other.at : rule.at, ...(day !== undefined && { day }) };
}
