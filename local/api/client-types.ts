/** Makes the types of the TypeScript client (client/routes.ts) of the OpenAPI document. */
import type { ApiDocument, Operation } from "./document.ts";
import type { Schema } from "./type-schema.ts";

const HEAD = `/** The operations of the gateway's API and their types. \`npm run api\` makes this file: do not edit it. */
`;

export function makeClientTypes({ paths, components }: ApiDocument): string {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        `${comment(operation.summary, "  ")}  "${method.toUpperCase()} ${path}": ${routeType(operation)};\n`,
    ),
  );
  const types = Object.entries(components.schemas).map(
    ([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};\n`,
  );
  return `${HEAD}\nexport type Routes = {\n${routes.join("")}};\n\n${types.join("\n")}`;
}

function routeType({ parameters = [], requestBody, responses }: Operation): string {
  const fields: string[] = [];
  for (const [name, place] of [
    ["path", "path"],
    ["query", "query"],
    ["headers", "header"],
  ] as const) {
    const own = parameters.filter((parameter) => parameter.in === place);
    if (own.length === 0) continue;
    const properties = Object.fromEntries(
      own.map((one) => [
        one.name,
        one.description ? { ...one.schema, description: one.description } : one.schema,
      ]),
    );
    const required = own.filter((one) => one.required).map((one) => one.name);
    const isOptional = required.length === 0;
    fields.push(
      `${name}${isOptional ? "?" : ""}: ${typeOf({ properties, required }, true)}${isOptional ? " | undefined" : ""};`,
    );
  }
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (requestBody && content) {
    const body = type === "application/json" ? typeOf(content.schema, true) : "string";
    fields.push(
      `body${requestBody.required ? "" : "?"}: ${body}${requestBody.required ? "" : " | undefined"};`,
    );
  }
  const good = Object.entries(responses).filter(([status]) => status !== "default" && Number(status) < 300);
  const contents = good.flatMap(([, { content }]): [type: string, of?: { schema: Schema }][] =>
    content ? Object.entries(content) : [[""]],
  );
  const answers = contents
    .filter(([type]) => type !== "text/event-stream")
    .map(([, of]) => (of ? typeOf(of.schema) : "undefined"));
  const events = contents.flatMap(([type, of]) =>
    type === "text/event-stream" && of ? [typeOf(of.schema)] : [],
  );
  fields.push(`answer: ${union(answers) || "never"};`);
  if (events.length > 0) fields.push(`events: ${union(events)};`);
  return `{ ${fields.join(" ")} }`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

/** @param isRequest optional properties of requests may be undefined, too: then they are not sent */
function typeOf(schema: Schema, isRequest = false): string {
  const { $ref, anyOf, oneOf, type, properties, items, prefixItems, additionalProperties } = schema as {
    $ref?: string;
    anyOf?: Schema[];
    oneOf?: Schema[];
    type?: string | string[];
    properties?: Record<string, Schema>;
    items?: Schema;
    prefixItems?: Schema[];
    additionalProperties?: Schema | boolean;
  };
  const of = (one: Schema) => typeOf(one, isRequest);
  if ($ref) return $ref.slice($ref.lastIndexOf("/") + 1);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => JSON.stringify(value)));
  const parts = anyOf ?? oneOf;
  if (parts) return union(parts.map(of));
  if (Array.isArray(type)) return union(type.map((one) => of({ ...schema, type: one })));
  if (prefixItems) return `[${prefixItems.map(of).join(", ")}]`;
  if (items || type === "array") return `Array<${of(items ?? {})}>`;
  if (properties) return objectType(schema, isRequest);
  if (type === "object") {
    if (additionalProperties === undefined) return "Record<string, never>";
    return `Record<string, ${typeof additionalProperties === "object" ? of(additionalProperties) : "unknown"}>`;
  }
  if (schema.format === "binary") return "Blob";
  if (type === "integer") return "number";
  return type ?? "unknown";
}

function objectType(schema: Schema, isRequest: boolean): string {
  const required = new Set(schema.required as string[] | undefined);
  const fields = Object.entries(schema.properties as Record<string, Schema>).map(([name, property]) => {
    const isOptional = !required.has(name);
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const type = `${typeOf(property, isRequest)}${isOptional && isRequest ? " | undefined" : ""}`;
    return `${comment(property.description)}${key}${isOptional ? "?" : ""}: ${type};`;
  });
  return `{ ${fields.join("\n")} }`;
}

function comment(text: unknown, indent = ""): string {
  return typeof text === "string" && text !== "" ? `\n${indent}/** ${text.replaceAll("*/", "* /")} */\n` : "";
}
