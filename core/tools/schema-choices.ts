/**
 * Brings a JSON Schema to its choices: each has one type, and neither references nor combinations. A choice may allow more than the schema
 * does, never less. The schema may be hostile: deep, wide, or with references in a circle.
 */
import { isObject } from "../protocol/is-object.ts";
export type Json = Record<string, unknown>;

/** A schema, and the references that led to it. */
export type Part = { schema: unknown; open: readonly string[] };
/** @property type a JSON type, or `any` */
export type Choice = { type: string; own: Json; open: readonly string[] };

/** Bounds the values, names and schemas (which count as so many) that are looked at. Those of references and combinations count each time. */
const LOOKS_MAX = 20_000;
const SCHEMA_LOOKS = 20;
/** References and combinations within one another. */
const NESTED_MAX = 32;
const CHOICES_MAX = 256;
const POINTER_MAX_CHARS = 300;

const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"];
/** The keywords that are read. */
const KEYWORDS = [
  ...["type", "title", "description", "default", "enum", "const", "properties", "required"],
  ...["additionalProperties", "items", "prefixItems", "minItems", "maxItems", "minLength", "maxLength"],
  ...["pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
];
/** A schema without a type means the one of its keywords. */
const MEANT: ReadonlyArray<readonly [type: string, keywords: readonly string[]]> = [
  ["object", ["properties", "additionalProperties"]],
  ["array", ["items", "prefixItems"]],
  ["string", ["pattern", "minLength", "maxLength"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

export class SchemaChoices {
  readonly #root: unknown;
  #looks = LOOKS_MAX;

  constructor(root: unknown) {
    this.#root = root;
  }

  /** True when there was more than could be looked at: what was found does not count. */
  get tooMany(): boolean {
    return this.#looks < 0;
  }

  /** @returns no choice where no value fits */
  choicesOf({ schema, open }: Part, nested = 0): Choice[] {
    if (schema === false) return [];
    this.#looks -= SCHEMA_LOOKS + (isObject(schema) ? sizeOf(schema) : 0);
    if (this.tooMany || nested > NESTED_MAX || !isObject(schema)) return [{ type: "any", own: {}, open }];
    const { $ref } = schema;
    const own = ownKeywords(schema);
    const isCircle = typeof $ref === "string" && open.includes($ref);
    if (isCircle) return [{ type: "object", own: describedBy(own), open }];
    let choices = ofEachType(own, open);
    const combine = (parts: readonly Part[]) => {
      choices = this.#both(
        choices,
        parts.flatMap((part) => this.choicesOf(part, nested + 1)),
      );
    };
    if (typeof $ref === "string") combine([{ schema: pointedAt(this.#root, $ref), open: [...open, $ref] }]);
    for (const one of listOf(schema.allOf)) combine([{ schema: one, open }]);
    for (const list of [schema.anyOf, schema.oneOf].map(listOf))
      if (list.length > 0) combine(list.map((one) => ({ schema: one, open })));
    return choices;
  }

  /** Combines each choice with each other one. Of too many, or where nothing fits both, the first stay as they are. */
  #both(some: readonly Choice[], others: readonly Choice[]): Choice[] {
    const pairs: Choice[] = [];
    if (some.length * others.length > CHOICES_MAX) return [...some];
    for (const one of some) {
      for (const other of others) {
        this.#looks -= sizeOf(one.own) + sizeOf(other.own);
        if (this.tooMany) return [...some];
        const pair = combined(one, other);
        if (pair) pairs.push(pair);
      }
    }
    return pairs.length > 0 ? pairs : [...some];
  }
}

/** Copies the keywords that are read, with `const` as a list of one value. */
function ownKeywords(schema: Json): Json {
  const own: Json = {};
  for (const keyword of KEYWORDS) if (Object.hasOwn(schema, keyword)) own[keyword] = schema[keyword];
  const { const: only, enum: values, ...rest } = own;
  if (Object.hasOwn(own, "const")) return { ...rest, enum: [only] };
  return listOf(values).length > 0 ? own : rest;
}

/** Makes a choice of each type that a schema names, or that its values or other keywords mean. */
function ofEachType({ type, ...own }: Json, open: readonly string[]): Choice[] {
  const values = own.enum as unknown[] | undefined;
  const named = [type].flat().filter((one) => TYPES.includes(one as string)) as string[];
  const types = named.length > 0 ? named : (values?.map(jsonType) ?? [meantType(own)]);
  return [...new Set(types)].flatMap((one) => {
    if (!values) return [{ type: one, own, open }];
    const fitting = values.filter((value) => isOfType(value, one));
    return fitting.length > 0 ? [{ type: one, own: { ...own, enum: fitting }, open }] : [];
  });
}

function meantType(own: Json): string {
  return MEANT.find(([, keywords]) => keywords.some((keyword) => own[keyword] !== undefined))?.[0] ?? "any";
}

/** @returns undefined: no value fits both */
function combined(one: Choice, other: Choice): Choice | undefined {
  const type = commonType(one.type, other.type);
  if (type === undefined) return undefined;
  const { own: a } = one;
  const { own: b } = other;
  const values = commonValues(a.enum, b.enum);
  if (values?.length === 0) return undefined;
  const open = [...new Set([...one.open, ...other.open])];
  const properties = { properties: bothProperties(a.properties, b.properties) };
  const required = [...listOf(a.required), ...listOf(b.required)];
  const own = {
    ...b,
    ...a,
    ...(values && { enum: values }),
    ...((a.properties ?? b.properties) !== undefined && properties),
    ...(required.length > 0 && { required }),
    ...(a.items !== undefined && b.items !== undefined && { items: { allOf: [a.items, b.items] } }),
  };
  return { type, own, open };
}

function commonType(one: string, other: string): string | undefined {
  if (one === other || other === "any") return one;
  if (one === "any") return other;
  return [one, other].every((type) => type === "number" || type === "integer") ? "integer" : undefined;
}

function commonValues(a: unknown, b: unknown): unknown[] | undefined {
  if (!Array.isArray(a)) return Array.isArray(b) ? b : undefined;
  if (!Array.isArray(b)) return a;
  const others = new Set(b);
  return a.filter((value) => others.has(value));
}

function bothProperties(a: unknown, b: unknown): Json {
  const first = isObject(a) ? a : {};
  const second = isObject(b) ? b : {};
  const shared = Object.keys(second).filter((name) => Object.hasOwn(first, name));
  const both = shared.map((name): [string, unknown] => [name, { allOf: [first[name], second[name]] }]);
  return { ...first, ...second, ...Object.fromEntries(both) };
}

/** Finds what a reference within the schema points at. One to elsewhere allows everything. */
function pointedAt(root: unknown, ref: string): unknown {
  if (!/^#(\/|$)/.test(ref) || ref.length > POINTER_MAX_CHARS) return {};
  let at = root;
  for (const step of ref.split("/").slice(1)) {
    const name = unescaped(step);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return {};
    at = (at as Json)[name];
  }
  return at;
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}

function describedBy({ title, description }: Json): Json {
  return { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
}

function sizeOf({ properties, required, enum: values }: Json): number {
  const names = isObject(properties) ? Object.keys(properties).length : 0;
  return 1 + names + listOf(required).length + listOf(values).length;
}

export function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isOfType(value: unknown, type: string): boolean {
  return type === "integer" ? Number.isInteger(value) : jsonType(value) === type;
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
