/** The filters and functions of lists and dicts. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, itemsOf, type Run, takes, textOr } from "./calls.ts";
import { itemOf } from "./members.ts";
import { calculate, toInt } from "./numbers.ts";
import { compare, Dict, isTrue, keyOf, Missing, OMITTED, Tuple, typeName, type Value } from "./values.ts";

export function isOn(option: Value): boolean {
  return option !== OMITTED && isTrue(option);
}

/** The member that the parameter "attribute" names, such as "a.b". */
export function attributeOf(run: Run, value: Value, attribute: Value): Value {
  const path = typeof attribute === "string" ? attribute.split(".") : [attribute];
  run.budget.spend(path.length);
  const key = (part: Value) =>
    typeof part === "string" && /^\d{1,9}$/.test(part) ? (toInt(part) ?? part) : part;
  return path.reduce<Value>((of, part) => itemOf(run, of, key(part)), value);
}

/** Returns what items are compared by. @param attribute several have commas between them */
function sortKey(run: Run, attribute: Value, caseSensitive: Value): (item: Value) => Value {
  const fold = (value: Value) =>
    typeof value === "string" && !isOn(caseSensitive) ? value.toLowerCase() : value;
  if (attribute === OMITTED || attribute === null) return fold;
  const names = typeof attribute === "string" ? attribute.split(",") : [attribute];
  if (names.length === 1) return (item) => fold(attributeOf(run, item, attribute));
  return (item) => Tuple.from(names.map((name) => fold(attributeOf(run, item, name))));
}

function sorted(run: Run, items: readonly Value[], key: (item: Value) => Value, reverse: Value): Value[] {
  const sign = isOn(reverse) ? -1 : 1;
  const pairs = items.map((item) => [key(item), item] as const);
  return pairs.sort(([a], [b]) => compare(a, b, run.budget) * sign).map(([, item]) => item);
}

/** Items that are the same for Python go together, in the order in which they come first. */
function grouped(
  run: Run,
  items: readonly Value[],
  key: (item: Value) => Value,
): Map<string, [Value, Value[]]> {
  const groups = new Map<string, [Value, Value[]]>();
  for (const item of items) {
    run.budget.spend();
    const by = key(item);
    const name = keyOf(by);
    const group = groups.get(name);
    if (group) group[1].push(item);
    else groups.set(name, [by, [item]]);
  }
  return groups;
}

function listOf(run: Run, value: Value): Value[] {
  if (typeof value === "string") throw new TemplateProblem("has a text where a list would be right");
  return itemsOf(run, value);
}

/** @param takesOne tells of an item whether it is in the one and in the other list */
function setOperation(takesOne: (isInFirst: boolean, isInSecond: boolean) => boolean): Builtin {
  return takes("value other", (run, value, other) => {
    const same = (item: Value) => item;
    const [first, second] = [value, other].map((one) => grouped(run, listOf(run, one), same));
    const all = new Map([...(first ?? []), ...(second ?? [])]);
    return [...all].flatMap(([key, [item]]) =>
      takesOne(first?.has(key) === true, second?.has(key) === true) ? [item] : [],
    );
  });
}

function flattened(run: Run, value: Value, levels: number): Value[] {
  return run.budget.deeper(() =>
    listOf(run, value).flatMap((item) => {
      const isList = Array.isArray(item) || item instanceof Dict;
      return isList && levels > 0 ? flattened(run, item, levels - 1) : [item];
    }),
  );
}

function combined(run: Run, dicts: readonly Value[], isRecursive: boolean): Dict {
  const made = new Dict();
  for (const dict of dicts) {
    if (!(dict instanceof Dict)) throw new TemplateProblem(`combines ${typeName(dict)} with a dict`);
    run.budget.spend(dict.size);
    for (const [key, value] of dict.entries()) {
      const former = made.get(keyOf(key));
      const isBoth = isRecursive && former instanceof Dict && value instanceof Dict;
      made.set(key, isBoth ? run.budget.deeper(() => combined(run, [former, value], true)) : value);
    }
  }
  return made;
}

/** A dict of pairs. */
export function dictOf(run: Run, pairs: Value): Dict {
  const made = new Dict();
  if (pairs instanceof Dict) return combined(run, [pairs], false);
  for (const pair of itemsOf(run, pairs)) {
    const [key, value, ...more] = itemsOf(run, pair);
    if (key === undefined || value === undefined || more.length > 0)
      throw new TemplateProblem("makes a dict of what are no pairs");
    made.set(key, value);
  }
  return made;
}

/** Python's dict.fromkeys. */
export function dictOfKeys(run: Run, [keys = [], value = null]: readonly Value[]): Dict {
  const made = new Dict();
  for (const key of itemsOf(run, keys)) made.set(key, value);
  return made;
}

const dict: Builtin = (run, [pairs = [], ...more], named) => {
  if (more.length > 0) throw new TemplateProblem(`gives ${more.length + 1} values where 1 would be right`);
  const made = dictOf(run, pairs);
  for (const [name, value] of named) made.set(name, value);
  return made;
};

const zip: Builtin = (run, lists) => {
  const all = lists.map((list) => itemsOf(run, list));
  const length = Math.min(
    ...all.map((items) => items.length),
    all.length === 0 ? 0 : Number.POSITIVE_INFINITY,
  );
  run.budget.spend(length * all.length);
  return Array.from({ length }, (_, at) => Tuple.from(all.map((items) => items[at] ?? null)));
};

/** Functions that are also filters. */
export const LIST_FUNCTIONS: Readonly<Record<string, Builtin>> = {
  combine: (run, dicts, named) => {
    if (dicts.length === 0) throw new TemplateProblem('leaves out the parameter "dict"');
    return combined(run, dicts, isOn(named.get("recursive") ?? OMITTED));
  },
  difference: setOperation((a, b) => a && !b),
  flatten: takes("value levels?", (run, value, levels) =>
    flattened(run, value, levels === null ? 100 : intOr(levels, 100)),
  ),
  intersect: setOperation((a, b) => a && b),
  symmetric_difference: setOperation((a, b) => a !== b),
  union: setOperation(() => true),
};

export const LIST_ONLY_FUNCTIONS: Readonly<Record<string, Builtin>> = {
  dict,
  tuple: takes("value", (run, value) => Tuple.from(itemsOf(run, value))),
  zip,
};

/** Cuts a list into pieces of this length. */
function pieces(run: Run, value: Value, count: Value): { items: Value[]; size: number } {
  const size = intOr(count, 0);
  if (size < 1) throw new TemplateProblem("cuts a list into no pieces");
  return { items: itemsOf(run, value), size };
}

export const LIST_FILTERS: Readonly<Record<string, Builtin>> = {
  ...LIST_FUNCTIONS,
  batch: takes("value linecount fill_with?", (run, value, count, fill) => {
    const { items, size } = pieces(run, value, count);
    const made: Value[][] = [];
    for (let at = 0; at < items.length; at += size) made.push(items.slice(at, at + size));
    const lacking = made.length * size - items.length;
    if (fill === OMITTED || fill === null || lacking === 0) return made;
    run.budget.spend(lacking);
    made.at(-1)?.push(...Array.from({ length: lacking }, () => fill));
    return made;
  }),
  dictsort: takes("value case_sensitive? by? reverse?", (run, value, caseSensitive, by, reverse) => {
    if (!(value instanceof Dict)) throw new TemplateProblem(`sorts ${typeName(value)} as a dict`);
    const key = sortKey(run, textOr(by, "key") === "value" ? 1n : 0n, caseSensitive);
    return sorted(
      run,
      value.entries().map((pair) => Tuple.from(pair)),
      key,
      reverse,
    );
  }),
  groupby: takes(
    "value attribute default? case_sensitive?",
    (run, value, attribute, otherwise, caseSensitive) => {
      const member = (item: Value) => {
        const found = attributeOf(run, item, attribute);
        return found instanceof Missing && otherwise !== OMITTED ? otherwise : found;
      };
      const fold = sortKey(run, OMITTED, caseSensitive);
      const items = sorted(run, itemsOf(run, value), (item) => fold(member(item)), OMITTED);
      const groups = grouped(run, items, (item) => fold(member(item)));
      return [...groups.values()].map(([by, all]) =>
        Tuple.from([all[0] === undefined ? by : member(all[0]), all]),
      );
    },
  ),
  items: takes("value", (_, value) => {
    if (value instanceof Missing) return [];
    if (!(value instanceof Dict)) throw new TemplateProblem(`takes the items of ${typeName(value)}`);
    return value.entries().map((pair) => Tuple.from(pair));
  }),
  slice: takes("value slices fill_with?", (run, value, count, fill) => {
    const { items, size } = pieces(run, value, count);
    run.budget.spend(size);
    const least = Math.floor(items.length / size);
    const longer = items.length % size;
    let at = 0;
    return Array.from({ length: size }, (_, place) => {
      const length = least + (place < longer ? 1 : 0);
      const piece = items.slice(at, at + length);
      at += length;
      return fill !== OMITTED && fill !== null && place >= longer ? [...piece, fill] : piece;
    });
  }),
  sort: takes("value reverse? case_sensitive? attribute?", (run, value, reverse, caseSensitive, attribute) =>
    sorted(run, itemsOf(run, value), sortKey(run, attribute, caseSensitive), reverse),
  ),
  sum: takes("iterable attribute? start?", (run, value, attribute, start) => {
    const of = (item: Value) =>
      attribute === OMITTED || attribute === null ? item : attributeOf(run, item, attribute);
    return itemsOf(run, value).reduce<Value>(
      (sum, item) => calculate("+", sum, of(item), run.budget),
      start === OMITTED ? 0n : start,
    );
  }),
  unique: takes("value case_sensitive? attribute?", (run, value, caseSensitive, attribute) =>
    [...grouped(run, itemsOf(run, value), sortKey(run, attribute, caseSensitive)).values()].map(
      ([, [first]]) => first ?? null,
    ),
  ),
};

/** @param sign 1: the greatest, -1: the least */
export function extreme(sign: number): Builtin {
  return takes("value case_sensitive? attribute?", (run, value, caseSensitive, attribute) => {
    const [first = new Missing("an item of an empty list"), ...rest] = itemsOf(run, value);
    const key = sortKey(run, attribute, caseSensitive);
    return rest.reduce(
      (best, item) => (compare(key(item), key(best), run.budget) * sign > 0 ? item : best),
      first,
    );
  });
}
