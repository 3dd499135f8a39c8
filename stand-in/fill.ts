/** Fills a tool's arguments from the question, by the tool's JSON Schema. Nothing is invented. */
import { literalKind } from "./literals.ts";
import { chooseValues, toolsFor } from "./match.ts";
import { isRead, orderedAction, orderedAgents, ordersAction } from "./orders.ts";
import type { OfferedTool } from "./request.ts";
import { asSchema, propertiesOf, requiredOf, type Schema, typeOf } from "./schema.ts";
import { splitActions, valueLines, valuesOf } from "./value-lines.ts";
import { escapeRegExp, names, type Question, stemsOf } from "./words.ts";

/** Deeper objects are not arguments. */
const MAX_DEPTH = 4;

export type Filled =
  | { ok: true; calls: Array<Record<string, unknown>> }
  /** These required arguments are not in the question. */
  | { ok: false; missing: string[] };

/** One set of arguments a call; several when the question names several values of a required enumeration. */
export function fillArguments(question: Question, tool: OfferedTool): Filled {
  const required = new Set(requiredOf(tool.parameters));
  let calls: Array<Record<string, unknown>> = [{}];
  const missing: string[] = [];
  for (const [name, schema] of propertiesOf(tool.parameters)) {
    const values = valuesFor({
      name,
      schema,
      required: required.has(name),
      question,
      tool,
      depth: 0,
    });
    if (values.length > 0) {
      calls = values.flatMap((value) => calls.map((call) => ({ ...call, [name]: value })));
    } else if (required.has(name)) missing.push(name);
  }
  const known = new Set(propertiesOf(tool.parameters).map(([name]) => name));
  missing.push(...[...required].filter((name) => !known.has(name)));
  if (missing.length > 0) return { ok: false, missing };
  return { ok: true, calls: calls.flatMap((call) => onlyActions(question, tool, call)) };
}

/**
 * A value whose line says that it takes only actions, by name, cannot be asked in words: it gets the reads that the question
 * concerns, or the one action that it orders, instead of the question.
 */
function onlyActions(question: Question, tool: OfferedTool, call: Record<string, unknown>) {
  if (!propertiesOf(tool.parameters).some(([name]) => name === "action")) return [call];
  const lines = valueLines(tool).of;
  const agent = Object.values(call).find((value) => typeof value === "string" && lines.has(value));
  const line = typeof agent === "string" ? (lines.get(agent) ?? "") : "";
  const { actions, only } = splitActions(line);
  if (!only || typeof agent !== "string") return [call];
  const rest = Object.fromEntries(Object.entries(call).filter(([name]) => !IS_QUESTION.test(name)));
  const ordered = orderedAction(question, agent, line);
  if (ordered !== undefined) return [{ ...rest, action: ordered }];
  const reads = actions.filter((name) => isRead(name));
  const offered = reads.map((name) => ({ name, description: "", parameters: {} }));
  const fitting = toolsFor(question, offered);
  // A device of the broker has one read for all that it reports.
  const found = fitting.length === 0 && reads.includes("read") ? [{ name: "read" }] : fitting;
  return found.map(({ name }) => ({ ...rest, action: name }));
}

type Wanted = {
  name: string;
  schema: Schema;
  required: boolean;
  question: Question;
  tool: OfferedTool;
  depth: number;
};

/** Values for one parameter: none = not in the question, several only for an enumeration. */
function valuesFor(wanted: Wanted): unknown[] {
  const { schema, required } = wanted;
  if ("const" in schema) return required ? [schema.const] : [];
  if (Array.isArray(schema.enum)) return enumValues(wanted);
  const value = singleValue(wanted);
  // A default is what the tool takes anyway.
  if (value === undefined || (!required && value === schema.default)) return [];
  return [value];
}

function enumValues({ schema, required, question, tool }: Wanted): unknown[] {
  const values = valuesOf(schema);
  if (!required) {
    const value = values.find((one) => names(question.text, one) || sharesStem(question, one));
    return value === undefined || value === schema.default ? [] : [value];
  }
  // Whatever an order changes, it has to name: no device stands for another one.
  if (tool.name === "edge_call" && ordersAction(question, tool)) return orderedAgents(question, tool, schema);
  const chosen = chooseValues(question, tool, values);
  if (chosen.length > 0) return chosen;
  const all = schema.enum as unknown[];
  return schema.default !== undefined ? [schema.default] : all.length === 1 ? all : [];
}

function sharesStem(question: Question, value: string): boolean {
  return stemsOf(value).some((stem) => question.stems.has(stem));
}

function singleValue(wanted: Wanted): unknown {
  switch (typeOf(wanted.schema)) {
    case "integer":
    case "number":
      return numberValue(wanted);
    case "boolean":
      return wanted.required
        ? stemsOf(wanted.name).every((stem) => hasStem(wanted.question, stem))
        : undefined;
    case "string":
      return stringValue(wanted);
    case "array":
      return arrayValue(wanted);
    case "object":
      return objectValue(wanted);
    default:
      return undefined;
  }
}

function hasStem(question: Question, stem: string): boolean {
  return question.stems.has(stem) || question.generic.has(stem);
}

/** Parameters that "top 5" or "the last 20" speak of. */
const COUNTS = /^(?:max_?|num_?)?(?:limit|count|n|top|lines?|number|results?|entries|items)$/i;

function numberValue({ name, schema, required, question }: Wanted): number | undefined {
  const word = escapeRegExp(name).replace(/[_-]+/g, "[\\s_-]*").replace(/s$/, "s?");
  const near =
    new RegExp(`\\b${word}\\W{0,3}(?:of|is|to|=)?\\W{0,3}(-?\\d+(?:\\.\\d+)?)`, "i").exec(
      question.text,
    )?.[1] ??
    new RegExp(`(-?\\d+(?:\\.\\d+)?)\\s*${word}\\b`, "i").exec(question.text)?.[1] ??
    (COUNTS.test(name) ? /\b(?:top|first|last|only)\s+(\d+)\b/i.exec(question.text)?.[1] : undefined);
  const text = near ?? (required ? question.literals.numbers[0] : undefined);
  if (text === undefined) return undefined;
  const value = Number(text);
  const { minimum, maximum } = schema;
  if (typeof minimum === "number" && value < minimum) return undefined;
  if (typeof maximum === "number" && value > maximum) return undefined;
  return typeOf(schema) === "integer" && !Number.isInteger(value) ? undefined : value;
}

/** Parameters that get the person's own words. */
const IS_QUESTION = /^(?:query|prompt|question)$/i;
const IS_WORDS = /^(?:text|q|message|input|search|topic)$/i;

function stringValue({ name, schema, required, question }: Wanted): string | undefined {
  const kind = literalKind(name, schema);
  if (kind) return question.literals[kind][0];
  if (IS_QUESTION.test(name)) return question.text;
  if (!required) return undefined;
  if (IS_WORDS.test(name)) return question.text;
  return question.literals.quoted[0];
}

function arrayValue(wanted: Wanted): unknown[] | undefined {
  if (!wanted.required || wanted.depth >= MAX_DEPTH) return undefined;
  const items = asSchema(wanted.schema.items);
  const values = valuesFor({
    ...wanted,
    name: wanted.name.replace(/s$/, ""),
    schema: items,
    depth: wanted.depth + 1,
  });
  return values.length > 0 ? values : undefined;
}

function objectValue(wanted: Wanted): Record<string, unknown> | undefined {
  if (!wanted.required || wanted.depth >= MAX_DEPTH) return undefined;
  const required = new Set(requiredOf(wanted.schema));
  const filled: Record<string, unknown> = {};
  for (const [name, schema] of propertiesOf(wanted.schema)) {
    const value = valuesFor({
      ...wanted,
      name,
      schema,
      required: required.has(name),
      depth: wanted.depth + 1,
    })[0];
    if (value !== undefined) filled[name] = value;
    else if (required.has(name)) return undefined;
  }
  return filled;
}
