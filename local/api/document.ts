/** Makes the OpenAPI document of the declarations in the Worker (worker/kernel/http/route.ts). */
import { isDeepStrictEqual } from "node:util";
import { made } from "@edgecall/core/protocol/deferred-schema.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import type { z } from "@edgecall/core/protocol/parse.ts";
import { toJSONSchema } from "zod/mini";
import { type AnswerOf, type Declaration, type Notes, readDeclarations } from "./declarations.ts";
import { LEFT_OUT } from "./left-out.ts";
import type { Fields, Served, Spec } from "./served.ts";
import type { Schema } from "./type-schema.ts";

type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: Schema;
};
type Content = Record<string, { schema: Schema }>;
export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};
export type ApiDocument = {
  openapi: "3.1.0";
  info: Schema;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Schema };
};

/** @throws when a route is neither declared nor left out, or is left out and not served */
export function makeDocument(served: readonly Served[]): ApiDocument {
  requireCovered(served);
  const { declarations, schemas } = readDeclarations();
  const paths: ApiDocument["paths"] = {};
  const ids = new Set<string>();
  for (const { method, path, spec } of served) {
    const name = `${method} ${path}`;
    if (!spec || name in LEFT_OUT) continue;
    const declaration = declarations.get(name);
    if (!declaration)
      throw new Error(`${name}: its declaration is not found; its address has to be a literal`);
    if (declaration.text === "")
      throw new Error(`${name}: a comment above its declaration says what it does`);
    const operation = operationOf(method, path, spec, declaration);
    if (ids.has(operation.operationId)) throw new Error(`${name}: a second ${operation.operationId}`);
    ids.add(operation.operationId);
    const at = path.replace(/:(\w+)/g, "{$1}");
    paths[at] = { ...paths[at], [method.toLowerCase()]: operation };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "edgecall",
      version: VERSION,
      description: "Ask the devices at home from anywhere. Every time is in epoch milliseconds.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    paths: sorted(paths),
    components: { schemas: sorted({ ...schemas, Error: ERROR }), securitySchemes: SECURITY },
  };
}

function requireCovered(served: readonly Served[]): void {
  const names = new Set(served.map(({ method, path }) => `${method} ${path}`));
  const declared = new Set(served.filter(({ spec }) => spec).map(({ method, path }) => `${method} ${path}`));
  const missing = [...names].filter((name) => !declared.has(name) && !(name in LEFT_OUT));
  if (missing.length > 0)
    throw new Error(`declare these by route(), or give a reason in LEFT_OUT: ${missing.join(", ")}`);
  const gone = Object.keys(LEFT_OUT).filter((name) => !names.has(name));
  if (gone.length > 0) throw new Error(`LEFT_OUT has routes that are not served: ${gone.join(", ")}`);
}

const ERROR: Schema = {
  type: "object",
  description: "Every answer with a status of 400 or more.",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", description: "A word for programs, such as `not_found`." },
        message: { type: "string", description: "A sentence for people, which names the wrong field." },
      },
      required: ["code", "message"],
    },
  },
  required: ["error"],
};

const SECURITY: Schema = {
  token: {
    type: "http",
    scheme: "bearer",
    description: "A token of the API (docs/guides/cloudflare.md, or the console).",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-edgecall",
    description: "The console's session, in a browser on the gateway's own origin.",
  },
};

function operationOf(
  method: string,
  path: string,
  spec: Spec,
  { text, answers, notes }: Declaration,
): Operation {
  const [summary = ""] = /^.*?[.](?=\s|$)/.exec(text) ?? [text];
  const description = [text.slice(summary.length).trim(), ...needs(spec)]
    .filter((part) => part !== "")
    .join(" ");
  const parameters = [
    ...parametersOf("path", spec.path, notes),
    ...parametersOf("query", spec.query, notes),
    ...parametersOf("header", spec.headers, notes),
  ];
  const body = bodyOf(spec, notes);
  return {
    operationId: operationId(method, path),
    tags: [segments(path)[0]?.name ?? ""],
    summary: summary.replace(/\.$/, ""),
    ...(description && { description }),
    security: scopesOf(spec).flatMap((scope) => [{ token: [scope] }, { session: [scope] }]),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: responsesOf(answers),
  };
}

function scopesOf({ scope, or }: Spec): string[] {
  return [scope, or].filter((one) => one !== undefined);
}

function needs(spec: Spec): string[] {
  const scopes = scopesOf(spec).map((scope) => `\`${scope}\``);
  if (scopes.length === 0) return ["Needs no token."];
  return [`Needs the scope ${scopes.join(" or ")}${spec.owner ? ", and the role `owner`" : ""}.`];
}

function parametersOf(place: Parameter["in"], fields: Fields | undefined, notes: Notes): Parameter[] {
  const texts = notes[place === "header" ? "headers" : place]?.of;
  return (
    Object.entries(fields ?? {})
      // OpenAPI describes what a client accepts by the answers.
      .filter(([name]) => name !== "accept")
      .map(([name, { isRequired, schema }]) => {
        const { text } = texts?.[name] ?? {};
        return {
          name,
          in: place,
          required: isRequired,
          ...(text && { description: text }),
          schema: bounded(schema),
        };
      })
  );
}

function bodyOf(spec: Spec, notes: Notes): Operation["requestBody"] {
  const { body, reads, raw, optionalBody } = spec;
  if (raw !== undefined) return { required: true, content: { [raw]: { schema: { type: "string" } } } };
  const schema = body ?? reads;
  if (!schema) return undefined;
  const { $schema: _, ...json } = toJSONSchema(made(schema) as z.ZodMiniType, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => Object.assign(jsonSchema, bounded(jsonSchema)),
  });
  const of = (notes.body ?? notes.reads)?.of;
  const content = { "application/json": { schema: noted(json, of) } };
  return { required: optionalBody !== true, content };
}

/** Adds the comments on a schema's properties. */
function noted(schema: Schema, notes: Notes | undefined): Schema {
  if (!notes || typeof schema.properties !== "object") return schema;
  const properties = Object.entries(schema.properties as Record<string, Schema>).map(([name, property]) => {
    const { text, of } = notes[name] ?? {};
    return [name, { ...noted(property, of), ...(text && { description: text }) }] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Bounds of every whole number say nothing. */
function bounded(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).filter(
      ([name, value]) =>
        !["minimum", "maximum", "default"].includes(name) ||
        Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER,
    ),
  );
}

function responsesOf(answers: readonly AnswerOf[]): Operation["responses"] {
  const responses: Operation["responses"] = {};
  for (const { status, type, schema } of answers) {
    const response = responses[status] ?? { description: DESCRIPTIONS[status] ?? String(status) };
    const other = response.content?.[type]?.schema;
    responses[status] = schema
      ? { ...response, content: { ...response.content, [type]: { schema: either(other, schema) } } }
      : response;
  }
  const error = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return { ...responses, default: { description: "An error.", content: error } };
}

/** The schema of an answer that has one of two forms. */
function either(other: Schema | undefined, schema: Schema): Schema {
  if (!other || isDeepStrictEqual(other, schema)) return schema;
  return { anyOf: [...(Array.isArray(other.anyOf) ? other.anyOf : [other]), schema] };
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: "It is done.",
  201: "It is made.",
  202: "It continues; ask again later.",
  204: "It is done. The answer is empty.",
  304: "It has not changed.",
  502: "It failed.",
  504: "It takes too long.",
};

function segments(path: string): { name: string; isOne: boolean }[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== "v1");
  return parts
    .map((name, n) => ({ name, isOne: parts[n + 1]?.startsWith(":") ?? false }))
    .filter(({ name }) => !name.startsWith(":"));
}

/** `GET /v1/conversations/:id/turns/:turn` → `getConversationTurn`. */
function operationId(method: string, path: string): string {
  const words = segments(path).flatMap(({ name, isOne }) =>
    (isOne ? name.replace(/s$/, "") : name).split(/[-.]/),
  );
  return [method.toLowerCase(), ...words.map((word) => (word[0] ?? "").toUpperCase() + word.slice(1))].join(
    "",
  );
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
