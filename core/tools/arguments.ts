/**
 * Brings the arguments of a call to one form: with the tool's own names, repaired and parsed. The person sees this form, the
 * policy judges it, the hash covers it, the record stores it, and the tool runs with it.
 */

import { isObject } from "../protocol/is-object.ts";
import { check, jsonSchema } from "../protocol/parse.ts";
import { type Aliases, faultResult, type Tool, type ToolResult } from "./contract.ts";
import { errorText } from "./errors.ts";
import { jsonType } from "./schema-choices.ts";

export type ParsedArguments = { ok: true; input: Record<string, unknown> } | { ok: false; fault: ToolResult };

/** Parses the arguments. The fault names what is wrong and what the tool takes. */
export function parseArguments(
  tool: Pick<Tool, "name" | "input" | "aliases" | "prepare">,
  args: Record<string, unknown>,
): ParsedArguments {
  const schema = jsonSchema(tool.input);
  const wrong = (problem: string): ParsedArguments => ({
    ok: false,
    fault: faultResult("invalid_params", errorText.invalidParams(tool.name, problem, schema)),
  });
  const named = tool.aliases ? withOwnNames(args, tool.aliases) : args;
  if (typeof named === "string") return wrong(named);
  const mended = mendScalars(tool.prepare ? tool.prepare(named) : named, schema);
  const missing = (Array.isArray(schema.required) ? schema.required : []).find(
    (name) => mended[name] === undefined,
  );
  if (missing !== undefined) return wrong(`missing '${missing}'`);
  const parsed = check(tool.input, mended);
  if (!parsed.ok) return wrong(parsed.error);
  const broken = brokenText(parsed.value);
  if (broken !== undefined)
    return wrong(
      `${broken || "it"}: half of a character (a lone surrogate), which no file or program can take`,
    );
  // SAFETY: every tool's input is an object.
  return { ok: true, input: parsed.value as Record<string, unknown> };
}

/**
 * Replaces aliases by the tool's own names. Two names of one parameter are refused, because a reader may have seen the value
 * that is not used.
 * @returns the arguments, or what is wrong with them
 */
function withOwnNames(
  args: Record<string, unknown>,
  aliases: Aliases,
  within = "",
): Record<string, unknown> | string {
  const aliased = new Set(Object.values(aliases).filter((own) => typeof own === "string"));
  const givenAs = new Map<string, string>();
  const named: Array<[string, unknown]> = [];
  for (const [given, value] of Object.entries(args)) {
    const alias = Object.hasOwn(aliases, given) ? aliases[given] : undefined;
    const name = typeof alias === "string" ? alias : given;
    // Models write null to leave a value out.
    if (value === null && aliased.has(name)) continue;
    const other = givenAs.get(name);
    if (other !== undefined)
      return `${within}'${other}' and '${given}' are two names of '${name}'; give only '${name}'`;
    givenAs.set(name, given);
    const inner = typeof alias === "object" ? withOwnNamesInside(value, alias, `${within}${given}.`) : value;
    if (inner instanceof Ambiguous) return inner.words;
    named.push([name, inner]);
  }
  return Object.fromEntries(named);
}

/** Handles an object, or each object of a list. The schema refuses anything else. */
function withOwnNamesInside(value: unknown, aliases: Aliases, within: string): unknown {
  if (typeof value === "string") return withOwnNamesInText(value, aliases, within);
  if (!Array.isArray(value)) return isObject(value) ? named(value, aliases, within) : value;
  const items = value.map((item, index) =>
    isObject(item) ? named(item, aliases, `${within}${index}.`) : item,
  );
  return items.find((item) => item instanceof Ambiguous) ?? items;
}

/** Handles a list that a model wrote as JSON text. */
function withOwnNamesInText(text: string, aliases: Aliases, within: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? withOwnNamesInside(value, aliases, within) : text;
  } catch {
    return text;
  }
}

class Ambiguous {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

function named(value: Record<string, unknown>, aliases: Aliases, within: string): unknown {
  const renamed = withOwnNames(value, aliases, within);
  return typeof renamed === "string" ? new Ambiguous(renamed) : renamed;
}

/**
 * Finds a text with half of a surrogate pair. A person would see it as an escape, but a file or program would get another
 * character.
 * @returns its place, or undefined when there is none
 */
function brokenText(value: unknown, at = ""): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : at;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const place = at === "" ? name : `${at}.${name}`;
    if (!name.isWellFormed()) return at;
    const broken = brokenText(item, place);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

type Property = { type?: unknown; anyOf?: unknown; oneOf?: unknown };

/** Models write `"5"` for 5, `"[1]"` for [1] and null for "left out"; the schema decides when they meant that. */
function mendScalars(
  args: Record<string, unknown>,
  schema: Record<string, unknown>,
): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Property>;
  const mended = Object.entries(args).flatMap(([name, value]): Array<[string, unknown]> => {
    const types = typesOf((Object.hasOwn(properties, name) && properties[name]) || {});
    if (value === null && !types.includes("null")) return [];
    return [[name, typeof value === "string" && !types.includes("string") ? mendText(value, types) : value]];
  });
  return Object.fromEntries(mended);
}

/** @param property of a tool of an MCP server, for instance, so anything may be in it */
function typesOf({ type, anyOf, oneOf }: Property): unknown[] {
  const options = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [type, ...options.map((option: Property | null) => option?.type)].flat();
}

function mendText(text: string, types: readonly unknown[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return types.includes(jsonType(value)) || (Number.isInteger(value) && types.includes("integer"))
    ? value
    : text;
}
