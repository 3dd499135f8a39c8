/**
 * The form of a tool's input schema that every model endpoint and every MCP client takes. Whatever it leaves out is still checked by the
 * program that runs the tool, against the whole schema; what a model should know of it stands in a few words in the description.
 *
 * - llama.cpp (so LM Studio and others) makes a grammar of a schema. Builds of 2025-11 to 2026-08 refuse repetitions of 2,000 and more,
 *   and builds differ in the patterns and schemas without a type that they take. One such tool fails the whole request.
 * - Gemini wants one `type` for each schema, takes only texts in `enum`, none of them empty, and refuses `$ref`, `const`, `oneOf`, `not`,
 *   `exclusiveMinimum`, `multipleOf`, `additionalProperties` and most formats.
 * - OpenAI wants `properties` at the root, and `items` in each list.
 *
 * So each schema of the result has exactly one type. Of several types it is the one that says the most: an object, a list, or a text, which
 * can stand for any plain value (core/tools/arguments.ts reads `"5"` as 5 for a tool that takes no text).
 */

import { isObject } from "../protocol/is-object.ts";
import { oneLine } from "./one-line.ts";
import { type Choice, type Json, listOf, type Part, SchemaChoices } from "./schema-choices.ts";

export type ToolSchema = {
  type: "object";
  properties: Record<string, object>;
  required?: string[];
  description?: string;
};
type Type = "object" | "array" | "string" | "number" | "integer" | "boolean";
type Node = { type: Type; description?: string; properties?: Record<string, Node>; required?: string[] };
/** Members of a node beside its type and description, and words for what it loses. */
type Found = { keywords: object; notes: string[] };

/** Characters of the result as JSON. */
const CHARS_MAX = 8_000;
/** Levels of objects within objects, and characters of a description. A schema that is too large is tried with the next. */
const SIZES: readonly Size[] = [
  { depth: 8, words: 300 },
  { depth: 2, words: 300 },
  { depth: 0, words: 100 },
];
type Size = { depth: number; words: number };
const NOTE_MAX = 120;
/** Far below what a grammar may repeat. */
const LENGTH_MAX = 200;
const ITEMS_MAX = 64;
const ENUM_CHARS_MAX = 4_000;
const DEFAULT_MAX_CHARS = 40;
/** llama.cpp spells out the digits of a bound, at most 16. */
const BOUND_MAX = 1e15;
/** Endpoints refuse any other property name. */
const PROPERTY = /^[A-Za-z0-9_.-]{1,64}$/;

const TYPE_TEXT: Readonly<Record<string, string>> = {
  object: "object",
  array: "list",
  number: "number",
  integer: "whole number",
  string: "text",
  boolean: "true/false",
  null: "null",
};

/**
 * @param schema JSON Schema of an object, from whatever source; it may be hostile
 * @returns the reduced form. Reducing it again changes nothing. Of what is no object's schema, or far too large, only that it is an object
 */
export function schemaForModels(schema: Readonly<Json>): ToolSchema {
  const made = MADE.get(schema) ?? reducedToFit(schema);
  MADE.set(schema, made);
  return made;
}

/** A cache, since every model call has the same schemas, and a schema never changes. */
const MADE = new WeakMap<Readonly<Json>, ToolSchema>();

function reducedToFit(schema: Json): ToolSchema {
  for (const size of SIZES) {
    const reduced = new Reduction(schema, size).run();
    if (reduced && JSON.stringify(reduced).length <= CHARS_MAX) return reduced;
  }
  return { type: "object", properties: {} };
}

class Reduction {
  readonly #root: unknown;
  readonly #size: Size;
  readonly #choices: SchemaChoices;

  constructor(root: unknown, size: Size) {
    this.#root = root;
    this.#size = size;
    this.#choices = new SchemaChoices(root);
  }

  /** @returns undefined: it is too large */
  run(): ToolSchema | undefined {
    const node = this.#node([{ schema: this.#root, open: [] }], 0, false);
    if (this.#choices.tooMany) return undefined;
    if (node?.type !== "object") return { type: "object", properties: {} };
    const { description, properties = {}, required } = node;
    return {
      type: "object",
      ...(description && { description }),
      properties,
      ...(required && { required }),
    };
  }

  /** @param required the value cannot be left out @returns undefined: no value fits */
  #node(parts: readonly Part[], depth: number, required: boolean): Node | undefined {
    const all = parts.flatMap((part) => this.#choices.choicesOf(part));
    const choices = all.filter(({ type }) => type !== "null");
    if (choices.length === 0)
      return required && all.length > 0 ? { type: "string", description: "always null" } : undefined;
    const type = richest(choices);
    const { keywords, notes } = this.#found(type, choices, depth);
    // A model leaves out what is not required.
    const taken = (required ? all : choices).map((one) => one.type);
    const description = described(choices, [...typeNotes(type, new Set(taken)), ...notes], this.#size.words);
    return { type, ...(description !== "" && { description }), ...keywords };
  }

  #found(type: Type, choices: readonly Choice[], depth: number): Found {
    const same = choices.filter((one) => one.type === type);
    if (type === "object") return this.#object(same, depth);
    if (type === "array") return this.#list(same, depth);
    if (type === "number" || type === "integer") return ofNumbers(type, choices);
    if (type === "string" && same.length === choices.length) return ofTexts(same);
    return { keywords: {}, notes: valueNotes(choices) };
  }

  #object(choices: readonly Choice[], depth: number): Found {
    if (depth > this.#size.depth || this.#choices.tooMany) return { keywords: {}, notes: [] };
    const parts = new Map<string, Part[]>();
    const unsayable = new Set<string>();
    for (const { own, open } of choices) {
      for (const [name, schema] of Object.entries(isObject(own.properties) ? own.properties : {})) {
        if (!PROPERTY.test(name) || name === "__proto__") unsayable.add(name);
        else if (parts.get(name)?.push({ schema, open }) === undefined) parts.set(name, [{ schema, open }]);
      }
    }
    const [first, ...others] = choices.map(({ own }) => new Set(listOf(own.required)));
    const needed = new Set([...(first ?? [])].filter((name) => others.every((names) => names.has(name))));
    const properties: Array<[string, Node]> = [];
    for (const [name, of] of parts) {
      const node = this.#node(of, depth + 1, needed.has(name));
      if (this.#choices.tooMany) break;
      if (node) properties.push([name, node]);
    }
    const required = properties.flatMap(([name]) => (needed.has(name) ? [name] : []));
    const keywords = {
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(required.length > 0 && { required }),
    };
    const also = unsayable.size > 0 ? [`it also has ${listed([...unsayable])}`] : [];
    return { keywords, notes: properties.length > 0 ? also : [...also, ...this.#valuesNote(choices)] };
  }

  /** Says what the values of an object are, where names are free. */
  #valuesNote(choices: readonly Choice[]): string[] {
    const values = choices.flatMap(({ own, open }) =>
      isObject(own.additionalProperties)
        ? this.#choices.choicesOf({ schema: own.additionalProperties, open })
        : [{ type: "any" }],
    );
    const types = new Set(values.map(({ type }) => type));
    return types.size === 0 || types.has("any") ? [] : [`each value: ${typesText(types)}`];
  }

  #list(choices: readonly Choice[], depth: number): Found {
    const parts = choices.flatMap(({ own, open }) => {
      const items = [own.items, own.prefixItems].flat().filter((schema) => schema !== undefined);
      return items.map((schema) => ({ schema, open }));
    });
    const items = depth > this.#size.depth + 1 ? undefined : this.#node(parts, depth + 1, true);
    const most = widest(choices, "maxItems", Math.max);
    return {
      keywords: {
        items: items ?? { type: "string" },
        ...bounds("minItems", widest(choices, "minItems", Math.min), "maxItems", most, ITEMS_MAX),
      },
      notes: most !== undefined && most > ITEMS_MAX ? [`at most ${most}`] : [],
    };
  }
}

/** Objects and lists say the most; a text can stand for any other value. */
function richest(choices: readonly Choice[]): Type {
  const types = new Set(choices.map(({ type }) => type));
  if (types.has("object")) return "object";
  if (types.has("array")) return "array";
  if (types.has("number")) types.delete("integer");
  const [only] = types;
  if (only === "number" && valuesOf(choices)?.every(Number.isInteger)) return "integer";
  // SAFETY: SchemaChoices has JSON's types, and `any`.
  return types.size === 1 && only !== "any" ? (only as Type) : "string";
}

function typeNotes(type: Type, taken: Set<string>): string[] {
  if (taken.has("any")) return ["any value"];
  if (taken.has("number")) taken.delete("integer");
  const others = [...taken].filter((one) => one !== type && !(type === "integer" && one === "number"));
  if (others.length === 0) return [];
  const standsFor = type === "string" && others.some((one) => one !== "null");
  return [standsFor ? typesText(taken) : `or ${typesText(others)}`];
}

function typesText(types: Iterable<string>): string {
  const words = [...types].map((type) => TYPE_TEXT[type] ?? type);
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : words.join();
}

function ofTexts(choices: readonly Choice[]): Found {
  // Half of a character fails a request, and no tool takes it.
  const values = (valuesOf(choices) as string[] | undefined)?.filter((text) => text.isWellFormed());
  if (values) {
    const chars = values.reduce((sum, { length }) => sum + length, 0);
    const fits = values.length > 0 && chars <= ENUM_CHARS_MAX && !values.includes("");
    return fits ? { keywords: { enum: values }, notes: [] } : { keywords: {}, notes: valueNotes(choices) };
  }
  const least = widest(choices, "minLength", Math.min);
  // That a text is not empty goes without saying.
  const minLength = least === 1 ? undefined : least;
  return {
    keywords: bounds("minLength", minLength, "maxLength", widest(choices, "maxLength", Math.max), LENGTH_MAX),
    notes: choices.flatMap(({ own }) => shapeNotes(own)),
  };
}

/** The form of a text, where no description says it. */
function shapeNotes({ description, title, pattern, format }: Json): string[] {
  if (description !== undefined || title !== undefined) return [];
  if (typeof format === "string") return [format];
  return typeof pattern === "string" && pattern.length <= NOTE_MAX ? [`matches ${pattern}`] : [];
}

function ofNumbers(type: "number" | "integer", choices: readonly Choice[]): Found {
  const values = valuesOf(choices) as number[] | undefined;
  const whole = type === "integer";
  const least = values ? reach(values, Math.min) : limit(choices, LOWER, whole);
  const most = values ? reach(values, Math.max) : limit(choices, UPPER, whole);
  const minimum = spelled(least, whole ? Math.ceil : Number);
  const maximum = spelled(most, whole ? Math.floor : Number);
  const isEmpty = minimum !== undefined && maximum !== undefined && minimum > maximum;
  const saysAll =
    whole && values && most !== undefined && least !== undefined && most - least < values.length;
  return {
    keywords: isEmpty
      ? {}
      : { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) },
    notes: values
      ? saysAll && minimum !== undefined && maximum !== undefined
        ? []
        : valueNotes(choices)
      : choices.flatMap(({ own }) => numberNotes(own, whole)),
  };
}

const LOWER = { closed: "minimum", beyond: "exclusiveMinimum", next: 1, tighter: Math.max, wider: Math.min };
const UPPER = { closed: "maximum", beyond: "exclusiveMaximum", next: -1, tighter: Math.min, wider: Math.max };

/** The widest limit of all choices. Whole numbers beyond an excluded one begin with the next. */
function limit(choices: readonly Choice[], side: typeof LOWER, whole: boolean): number | undefined {
  const limits = choices.map(({ own }) => {
    const beyond = own[side.beyond];
    const shifted = whole && Number.isInteger(beyond) ? Number(beyond) + side.next : beyond;
    return reach([own[side.closed], shifted].filter(isNumber), side.tighter);
  });
  return limits.every(isNumber) ? reach(limits, side.wider) : undefined;
}

function spelled(bound: number | undefined, round: (bound: number) => number): number | undefined {
  return bound !== undefined && Math.abs(bound) < BOUND_MAX ? round(bound) : undefined;
}

function numberNotes(own: Json, whole: boolean): string[] {
  const { exclusiveMinimum: above, exclusiveMaximum: below, multipleOf: step } = own;
  return [
    ...(!whole && isNumber(above) ? [`more than ${above}`] : []),
    ...(!whole && isNumber(below) ? [`less than ${below}`] : []),
    ...(isNumber(step) && !(whole && step === 1) ? [`a multiple of ${step}`] : []),
  ];
}

/** The values that all choices name; undefined where one of them is free. */
function valuesOf(choices: readonly Choice[]): unknown[] | undefined {
  if (choices.some(({ own }) => own.enum === undefined)) return undefined;
  return [...new Set(choices.flatMap(({ own }) => listOf(own.enum)))];
}

function valueNotes(choices: readonly Choice[]): string[] {
  const values = valuesOf(choices);
  const isAnyBoolean = values?.length === 2 && choices.every(({ type }) => type === "boolean");
  if (!values || isAnyBoolean) return [];
  return [values.length === 1 ? `always ${listed(values)}` : `one of ${listed(values)}`];
}

function listed(values: readonly unknown[]): string {
  let text = "";
  for (const value of values) {
    const next = `${text === "" ? "" : `${text}, `}${JSON.stringify(value)}`;
    if (next.length > NOTE_MAX) return `${text === "" ? next.slice(0, NOTE_MAX) : `${text}, `}…`;
    text = next;
  }
  return text;
}

/** @returns undefined where one of them has no such bound */
function widest(choices: readonly Choice[], name: string, wider: typeof Math.max): number | undefined {
  const found = choices.map(({ own }) => own[name]);
  return found.every(isNumber) ? reach(found, wider) : undefined;
}

function reach(numbers: readonly number[], further: typeof Math.max): number | undefined {
  return numbers.length > 0 ? numbers.reduce((one, other) => further(one, other)) : undefined;
}

/** The bounds of a length that are small enough to be given. */
function bounds(
  least: string,
  min: number | undefined,
  most: string,
  max: number | undefined,
  limit: number,
) {
  const isGiven = (bound: number | undefined, from: number) =>
    Number.isInteger(bound) && Number(bound) >= from && Number(bound) <= limit;
  if (min !== undefined && max !== undefined && min > max) return {};
  return { ...(isGiven(min, 1) && { [least]: min }), ...(isGiven(max, 0) && { [most]: max }) };
}

/** The description, and what is lost of the schema. @param max characters */
function described(choices: readonly Choice[], notes: readonly string[], max: number): string {
  const own = [...new Set(choices.map(({ own }) => own.description).filter(isText))];
  const titles = [...new Set(choices.map(({ own }) => own.title).filter(isText))];
  const said = own.length > 0 ? own.join("; ") : titles.length === 1 ? titles.join() : "";
  const lost = oneLine([...new Set([...notes, ...defaultNote(choices, said)])].join("; "), max / 2);
  const text = oneLine(said, lost === "" ? max : max - lost.length - 2);
  const between = text === "" || lost === "" ? "" : /[.!?…]$/.test(text) ? " " : "; ";
  return `${text}${between}${lost}`.toWellFormed();
}

function defaultNote(choices: readonly Choice[], said: string): string[] {
  const value = choices.find(({ own }) => own.default !== undefined)?.own.default;
  if (!["string", "number", "boolean"].includes(typeof value) || /default/i.test(said)) return [];
  const text = JSON.stringify(value);
  return text.length <= DEFAULT_MAX_CHARS && text !== '""' ? [`default ${text}`] : [];
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
