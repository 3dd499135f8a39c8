/** The fields of a JSON Schema as rows of a table: name, values, sentence. */
import type { Schema } from "../type-schema.ts";
import { code, table } from "./regions.ts";

/** Deeper objects are named as such. */
const DEPTH_MAX = 3;

/** @returns Markdown; empty when the schema has no fields of its own */
export function fieldTable(schema: Schema): string {
  const rows = fieldRows(schema, "", 1);
  return rows.length === 0 ? "" : table(["field", "values", ""], rows);
}

function fieldRows(schema: Schema, before: string, depth: number): string[][] {
  const required = new Set((schema.required as string[] | undefined) ?? []);
  return Object.entries((schema.properties as Record<string, Schema> | undefined) ?? {}).flatMap(
    ([name, field]) => {
      const mark = required.has(name) ? "" : "?";
      const list = field.type === "array";
      const inner = list ? ((field.items as Schema | undefined) ?? {}) : field;
      const path = `${before}${name}`;
      const standard = field.default === undefined ? "" : `; default ${code(JSON.stringify(field.default))}`;
      const row = [code(`${path}${mark}`), `${valuesOf(field)}${standard}`, String(field.description ?? "")];
      const deeper = depth < DEPTH_MAX ? fieldRows(inner, `${path}${list ? "[]" : ""}.`, depth + 1) : [];
      return [row, ...deeper];
    },
  );
}

/** @returns what a value may be, in a few words */
export function valuesOf(schema: Schema): string {
  const parts = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (parts) return [...new Set(parts.map(valuesOf))].join(" or ");
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.replace(/^.*\//, "");
    return `[${name}](#${name.toLowerCase()})`;
  }
  if ("const" in schema) return code(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => code(String(value))).join(", ");
  const { type } = schema;
  if (type === "array") {
    const most = schema.maxItems === undefined ? "" : `at most ${schema.maxItems}: `;
    return `list, ${most}${valuesOf((schema.items as Schema | undefined) ?? {})}`;
  }
  if (type === "integer" || type === "number")
    return `${type === "integer" ? "whole number" : "number"}${boundsOf(schema)}`;
  if (type === "string") return schema.maxLength === undefined ? "text" : `text, at most ${schema.maxLength}`;
  if (type === "boolean") return "true or false";
  if (type === "object" || schema.properties) return "object";
  return type === undefined ? "anything" : String(type);
}

function boundsOf({ minimum, maximum }: Schema): string {
  const isOpen = (bound: unknown) =>
    bound === undefined || Math.abs(Number(bound)) >= Number.MAX_SAFE_INTEGER;
  if (isOpen(minimum) && isOpen(maximum)) return "";
  if (isOpen(maximum)) return ` from ${minimum}`;
  return isOpen(minimum) ? ` up to ${maximum}` : `, ${minimum} to ${maximum}`;
}
