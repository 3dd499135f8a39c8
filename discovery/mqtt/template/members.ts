/** Members and items of values. Nothing else of a value can be reached from a template. */
import type { Run } from "./calls.ts";
import { Datetime, datetimeFields, Timedelta } from "./dates.ts";
import { Dict, keyOf, Members, Missing, textOf, type Value } from "./values.ts";

/** Methods of a dict, which hide a key of the same name in `value.name`. Home Assistant refuses those that would change it. */
const DICT_MEMBERS = "clear copy fromkeys get items keys pop popitem setdefault update values".split(" ");

/** `value.name`. */
export function memberOf(of: Value, name: string): Value {
  if (of instanceof Missing) throw of.problem();
  let member: Value | undefined;
  if (of instanceof Dict && !DICT_MEMBERS.includes(name)) member = of.get(keyOf(name));
  else if (of instanceof Members) member = of.get(name);
  else if (of instanceof Datetime) {
    const { weekday: _, clock: __, ...fields } = datetimeFields(of);
    const field = Object.entries(fields).find(([field]) => field === name);
    if (field) member = BigInt(field[1]);
  } else if (of instanceof Timedelta) {
    const days = Math.floor(of.micros / 86_400_000_000);
    const rest = of.micros - days * 86_400_000_000;
    const parts = { days, seconds: Math.floor(rest / 1_000_000), microseconds: rest % 1_000_000 };
    if (Object.hasOwn(parts, name)) member = BigInt(parts[name as keyof typeof parts]);
  }
  return member === undefined ? new Missing(`the member "${name}"`) : member;
}

/** `value[key]`. */
export function itemOf(run: Run, of: Value, key: Value): Value {
  if (of instanceof Missing) throw of.problem();
  let item: Value | undefined;
  if (of instanceof Dict) item = Array.isArray(key) || key instanceof Dict ? undefined : of.get(keyOf(key));
  else if (
    (Array.isArray(of) || typeof of === "string") &&
    (typeof key === "bigint" || typeof key === "boolean")
  )
    item = (typeof of === "string" ? [...of] : of).at(Number(key));
  if (item !== undefined) return item;
  return typeof key === "string" ? memberOf(of, key) : new Missing(`the item ${textOf(key, run.budget)}`);
}
