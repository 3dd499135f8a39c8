/**
 * Tools as llama.cpp's server reads them: `json_schema_to_grammar` makes a grammar of their schemas, which its parser then takes or
 * refuses. This is that conversion in short, after common/json-schema-to-grammar.cpp of 2026; the parser is llama.cpp's own. Bounds of whole
 * numbers count here by their digits alone.
 */
import { createRequire } from "node:module";
import { LLAMA_CPP } from "../../test/needs.ts";

type Json = Record<string, unknown>;
export type OfferedTool = { name: string; parameters: Json };
/** @property takes whether a text is one that the model may write */
export type Grammar = { takes: (text: string) => boolean };

/** @throws Error where the conversion or the parser refuses a tool; then it refuses all of the request */
export function llamaGrammar(tools: readonly OfferedTool[]): Grammar {
  const text = new Conversion().ofTools(tools);
  const { AddonGrammar } = createRequire(import.meta.url)(LLAMA_CPP);
  // node-llama-cpp's `createGrammar` does this, and needs no model.
  const grammar = new AddonGrammar(text, { rootRuleName: "root" });
  return { takes: (written) => grammar.isTextCompatible(written) };
}

/** A call as the grammar has it. */
export function callText(name: string, args: Json): string {
  return JSON.stringify({ name, arguments: args });
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  boolean: '("true" | "false") space',
  number: '"-"? [0-9]{1,16} ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,16})? space',
  integer: '"-"? [0-9]{1,16} space',
  null: '"null" space',
  char: String.raw`[^"\\\x7F\x00-\x1F] | [\\] (["\\bfnrt] | "u" [0-9a-fA-F]{4})`,
  string: String.raw`"\"" char* "\"" space`,
  value: "object | array | string | number | boolean | null",
  object: '"{" space ( string ":" space value ("," space string ":" space value)* )? "}" space',
  array: '"[" space ( value ("," space value)* )? "]" space',
};

class Conversion {
  readonly #rules = new Map<string, string>(
    Object.entries({ space: String.raw`| " " | "\n"{1,2} [ \t]{0,20}`, ...PRIMITIVES }),
  );
  #root: Json = {};

  ofTools(tools: readonly OfferedTool[]): string {
    const calls = tools.map(({ name, parameters }) => {
      this.#root = parameters;
      const args = this.#rule(`${name}-args`, this.#schema(parameters, `${name}-args`));
      return this.#rule(
        `${name}-call`,
        `"{" ${literal("name")} ":" ${literal(name)} "," ${literal("arguments")} ":" ${args} "}"`,
      );
    });
    this.#rules.set("root", calls.join(" | "));
    return [...this.#rules].map(([name, rule]) => `${name} ::= ${rule}\n`).join("");
  }

  #rule(name: string, rule: string): string {
    let free = name.replace(/[^a-zA-Z0-9-]+/g, "-");
    for (let n = 0; this.#rules.has(free); n += 1) free = `${name.replace(/[^a-zA-Z0-9-]+/g, "-")}${n}`;
    this.#rules.set(free, rule);
    return free;
  }

  /** In llama.cpp's order: what comes first counts. */
  #schema(schema: Json, name: string): string {
    const { type, properties, additionalProperties, items, prefixItems, pattern } = schema;
    const isOf = (one: string) => type === undefined || type === one;
    if (typeof schema.$ref === "string") return this.#schema(this.#pointedAt(schema.$ref), name);
    const options =
      schema.oneOf ??
      schema.anyOf ??
      (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : undefined);
    if (Array.isArray(options))
      return options
        .map((option, n) => this.#rule(`${name}-${n}`, this.#schema(option, `${name}-${n}`)))
        .join(" | ");
    if (schema.const !== undefined) return `${literal(schema.const)} space`;
    if (Array.isArray(schema.enum)) return `(${schema.enum.map(literal).join(" | ")}) space`;
    if (
      isOf("object") &&
      (properties !== undefined || ![undefined, true].includes(additionalProperties as true))
    )
      return this.#object(schema, name);
    if (isOf("array") && (items ?? prefixItems) !== undefined) {
      const item = this.#rule(`${name}-item`, this.#schema((items ?? prefixItems) as Json, `${name}-item`));
      return `"[" space ${repeated(item, schema.minItems, schema.maxItems, '"," space')} "]" space`;
    }
    if (isOf("string") && typeof pattern === "string") return `"\\"" (${ofPattern(pattern)}) "\\"" space`;
    if (type === "string" && (schema.minLength ?? schema.maxLength) !== undefined)
      return `"\\"" ${repeated("char", schema.minLength, schema.maxLength)} "\\"" space`;
    if (type === "integer") return `"-"? [0-9]{1,${digits(schema)}} space`;
    if (Object.keys(schema).length === 0 || type === "object") return "object";
    if (typeof type !== "string" || PRIMITIVES[type] === undefined)
      throw new Error(`Unrecognized schema: ${JSON.stringify(schema)}`);
    return type;
  }

  /** Its names in their order: the required ones, then some of the others. */
  #object({ properties, required }: Json, name: string): string {
    const all = Object.entries((properties ?? {}) as Record<string, Json>).map(([key, schema]) => {
      const value = this.#rule(`${name}-${key}`, this.#schema(schema, `${name}-${key}`));
      const isNeeded = Array.isArray(required) && required.includes(key);
      return { isNeeded, rule: this.#rule(`${name}-${key}-kv`, `${literal(key)} space ":" space ${value}`) };
    });
    const needed = all.filter(({ isNeeded }) => isNeeded).map(({ rule }) => rule);
    const others = all.filter(({ isNeeded }) => !isNeeded).map(({ rule }) => rule);
    const from = others.map((first, at) =>
      [first, ...others.slice(at + 1).map((one) => `( "," space ${one} )?`)].join(" "),
    );
    const some =
      from.length === 0
        ? ""
        : needed.length === 0
          ? `( ${from.join(" | ")} )?`
          : `( "," space ( ${from.join(" | ")} ) )?`;
    return `"{" space ${needed.join(' "," space ')} ${some} "}" space`;
  }

  #pointedAt(ref: string): Json {
    let at: unknown = this.#root;
    for (const step of ref.split("/").slice(1)) at = (at as Json | undefined)?.[step];
    if (typeof at !== "object" || at === null) throw new Error(`Error resolving ref ${ref}`);
    return at as Json;
  }
}

function repeated(item: string, least: unknown, most: unknown, between?: string): string {
  const min = Number(least ?? 0);
  const max = most === undefined ? undefined : Number(most);
  if (max === 0) return "";
  if (between === undefined) return `${item}{${min},${max ?? ""}}`;
  const rest = repeated(
    `(${between} ${item})`,
    Math.max(0, min - 1),
    max === undefined ? undefined : max - 1,
  );
  return min === 0 ? `(${item} ${rest})?` : `${item} ${rest}`;
}

/** @throws Error where a bound has as many digits as llama.cpp's rule allows, which turns its repetition around */
function digits({ minimum, maximum }: Json): number {
  const most = Math.max(
    ...[minimum ?? 0, maximum ?? 0].map((bound) => String(Math.abs(Number(bound))).length),
  );
  if (most > 15) throw new Error(`a bound of ${most} digits`);
  return minimum !== undefined && maximum !== undefined ? most : 16;
}

/** @throws Error for a pattern that may match a part of the text */
function ofPattern(pattern: string): string {
  if (!/^\^.*\$$/s.test(pattern)) throw new Error("Pattern must start with '^' and end with '$'");
  const parts =
    pattern.slice(1, -1).match(/\[(?:\\.|[^\]])*\]|\\.|\(\?:|\{\d+(?:,\d*)?\}|[()|*+?]|./gs) ?? [];
  return parts
    .map((part) => {
      if (part === "(?:") return "(";
      if (part === ".") return "[^\\x0A\\x0D]";
      if (/^(\[.*\]|\{.*\}|[()|*+?])$/s.test(part)) return part;
      return part.startsWith("\\") && /[\^$.[\]()|{}*+?]/.test(part) ? `"${part.slice(1)}"` : `"${part}"`;
    })
    .join(" ");
}

function literal(value: unknown): string {
  return `"${JSON.stringify(value).replace(/["\\]/g, String.raw`\$&`)}"`;
}
