/** The parameters of filters, tests, functions and methods. */
import type { TemplateBudget } from "./budget.ts";
import { TemplateProblem } from "./budget.ts";
import { Dict, isEqual, keyOf, Missing, OMITTED, typeName, type Value } from "./values.ts";

/** One rendering of a template. */
export type Run = {
  budget: TemplateBudget;
  now: Date;
  /** IANA name, for local times; undefined: the machine's. */
  zone: string | undefined;
  /** It writes a command: what depends on time or chance is refused. */
  isCommand: boolean;
};

export type Builtin = (run: Run, positional: readonly Value[], named: ReadonlyMap<string, Value>) => Value;

/**
 * @param signature the parameters' names in order; "?" after those that may be left out, which are OMITTED then
 * @param call gets one value for each
 */
export function takes(signature: string, call: (run: Run, ...values: Value[]) => Value): Builtin {
  const parameters = signature.split(" ").filter((name) => name !== "");
  const names = parameters.map((name) => name.replace("?", ""));
  return (run, positional, named) => {
    if (positional.length > names.length)
      throw new TemplateProblem(`gives ${positional.length} values where ${names.length} would be right`);
    const unknown = [...named.keys()].find((name) => names.indexOf(name) < positional.length);
    if (unknown !== undefined)
      throw new TemplateProblem(`gives the parameter "${unknown}", which is not known here`);
    const values = names.map((name, at) => {
      const value = at < positional.length ? positional[at] : named.get(name);
      if (value === undefined && parameters[at] === name)
        throw new TemplateProblem(`leaves out the parameter "${name}"`);
      return value ?? (value === null ? null : OMITTED);
    });
    return call(run, ...values);
  };
}

export function textOr(value: Value, otherwise: string): string {
  if (value === OMITTED) return otherwise;
  if (typeof value === "string") return value;
  throw new TemplateProblem(`has ${typeName(value)} where a text would be right`);
}

export function intOr(value: Value, otherwise: number): number {
  if (value === OMITTED) return otherwise;
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  throw new TemplateProblem(`has ${typeName(value)} where a whole number would be right`);
}

/** The items that a loop gets. They are paid for here, since whoever asks for them reads them. */
export function itemsOf({ budget }: Run, value: Value): Value[] {
  if (value instanceof Missing) return [];
  if (typeof value === "string") return [...value];
  const items = value instanceof Dict ? value.keys() : value;
  if (!Array.isArray(items))
    throw new TemplateProblem(`goes through ${typeName(value)} as if it were a list`);
  budget.spend(items.length);
  for (const item of items) if (typeof item === "string") budget.text(item);
  return items;
}

/** @returns -1: the part is not in the text */
function placeOf({ budget }: Run, text: string, part: string): number {
  budget.search(text, part);
  return text.indexOf(part);
}

/** Python's `in`. */
export function contains(run: Run, within: Value, value: Value): boolean {
  if (within instanceof Dict) return within.get(keyOf(value)) !== undefined;
  if (typeof within === "string") return placeOf(run, within, textOr(value, "")) >= 0;
  return itemsOf(run, within).some((item) => isEqual(item, value, run.budget));
}
