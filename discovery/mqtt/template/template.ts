/**
 * Home Assistant's templates, as they stand in what devices publish of themselves. They come from whoever can publish on the
 * broker: nothing but the values given to them can be reached, and their work is bounded (`budget.ts`).
 */
import { type SharedBudget, TemplateBudget, TemplateProblem } from "./budget.ts";
import { Datetime } from "./dates.ts";
import { parseJson } from "./json.ts";
import { parseTemplate, type Statement } from "./parser.ts";
import { renderStatements } from "./render.ts";
import { tokenize } from "./tokens.ts";
import { refuseUnsteadyIn } from "./unsteady.ts";
import { Dict, type Value } from "./values.ts";

/** A discovery message of a device has at most as much. */
const SOURCE_MAX = 32_768;

export type Template = { statements: readonly Statement[] };

/** A value of JSON as templates see it: 20.0 stays a float, and prints so. */
export class TemplateValue {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/** Reads a payload for the variable `value_json`. @returns undefined: it is not JSON, and the variable is left out */
export function jsonVariable(payload: string): TemplateValue | undefined {
  const value = parseJson(payload);
  return value === undefined ? undefined : new TemplateValue(value);
}

/** @returns problem: a sentence that names what is wrong or not known here, such as a filter */
export function compileTemplate(
  source: string,
  { isCommand = false }: { isCommand?: boolean } = {},
): { ok: true; template: Template } | { ok: false; problem: string } {
  if (source.length > SOURCE_MAX)
    return { ok: false, problem: `The template is longer than ${SOURCE_MAX} characters.` };
  return attempt(() => {
    const statements = parseTemplate(tokenize(source.trim()));
    if (isCommand) refuseUnsteadyIn(statements);
    return { template: { statements } };
  });
}

/**
 * @param variables JSON's values, jsonVariable's, or bigint; undefined: left out. A whole number is an int
 * @param options now: for now(); zone: IANA name of the local time, else the machine's; isCommand: `unsteady.ts` refuses some names;
 * shared: what all templates of the message may do
 * @returns text: without whitespace at its ends
 */
export function renderTemplate(
  template: Template,
  variables: Readonly<Record<string, unknown>>,
  options: { now?: Date; zone?: string; isCommand?: boolean; shared?: SharedBudget } = {},
): { ok: true; text: string } | { ok: false; problem: string } {
  return attempt(() => {
    const budget = new TemplateBudget(options.shared);
    const run = {
      budget,
      now: options.now ?? new Date(),
      zone: options.zone,
      isCommand: options.isCommand === true,
    };
    const given = Object.entries(variables).filter(([, value]) => value !== undefined);
    const values = new Map(given.map(([name, value]) => [name, toValue(value, budget)]));
    return { text: renderStatements(run, template.statements, values).trim() };
  });
}

function toValue(value: unknown, budget: TemplateBudget): Value {
  if (value instanceof TemplateValue) return value.value;
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "bigint")
    return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value instanceof Date) return new Datetime(value.getTime() * 1_000, 0);
  if (Array.isArray(value)) return budget.deeper(() => value.map((item) => toValue(item, budget)));
  if (typeof value !== "object") throw new TemplateProblem(`gets a variable of the type ${typeof value}`);
  const dict = new Dict();
  budget.deeper(() => {
    for (const [key, one] of Object.entries(value)) dict.set(key, toValue(one, budget));
  });
  return dict;
}

function attempt<Made extends object>(
  make: () => Made,
): ({ ok: true } & Made) | { ok: false; problem: string } {
  try {
    return { ok: true, ...make() };
  } catch (error) {
    return {
      ok: false,
      problem: `The template ${error instanceof TemplateProblem ? error.message : `fails: ${error}`}.`,
    };
  }
}
