/** The routes of docs/reference/routes.md, of the document that every gateway serves as openapi.json. */
import type { ApiDocument, Operation } from "../document.ts";
import type { Schema } from "../type-schema.ts";
import { fieldTable, valuesOf } from "./fields.ts";
import { code, table } from "./regions.ts";

export function routeSections(document: ApiDocument): Record<string, string> {
  const byTag = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0] || "other";
      byTag.set(tag, [...(byTag.get(tag) ?? []), sectionOf(method, path, operation)]);
    }
  const tags = [...byTag].sort(([a], [b]) => (a < b ? -1 : 1));
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) =>
    [`### ${name}`, String(schema.description ?? ""), fieldTable(schema) || `${valuesOf(schema)}.`]
      .filter((part) => part !== "")
      .join("\n\n"),
  );
  return {
    routes: tags.map(([tag, sections]) => [`## ${code(tag)}`, ...sections].join("\n\n")).join("\n\n"),
    schemas: schemas.join("\n\n"),
  };
}

function sectionOf(method: string, path: string, operation: Operation): string {
  const { summary, description = "", parameters = [], requestBody, responses } = operation;
  const query = parameters.filter((one) => one.in !== "path");
  const rows = query.map(({ name, in: place, required, description: about = "", schema }) => [
    code(`${name}${required ? "" : "?"}`),
    place,
    `${valuesOf(schema)}${schema.default === undefined ? "" : `; default ${code(String(schema.default))}`}`,
    about,
  ]);
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => {
    const fields = fieldTable(schema);
    const name = requestBody?.required ? "Body" : "Body, which may be absent";
    return fields ? `${name}:\n\n${fields}` : `${name}: ${code(type)}.`;
  });
  return [
    `### ${code(`${method.toUpperCase()} ${path}`)}`,
    `${summary}.${description ? ` ${description}` : ""}`,
    ...(rows.length > 0 ? [table(["parameter", "in", "values", ""], rows)] : []),
    ...bodies,
    answersOf(responses),
  ].join("\n\n");
}

function answersOf(responses: Operation["responses"]): string {
  const answers = Object.entries(responses).filter(([status]) => status !== "default");
  const parts = answers.map(([status, { content }]) => {
    const forms = Object.entries(content ?? {}).map(([type, { schema }]) => formOf(type, schema));
    return `${code(status)}${forms.length > 0 ? ` ${forms.join(", or ")}` : ""}`;
  });
  const inline = answers.flatMap(([, { content }]) =>
    Object.values(content ?? {}).flatMap(({ schema }) => fieldTable(schema) || []),
  );
  return [`Answers: ${parts.join("; ")}.`, ...inline].join("\n\n");
}

function formOf(type: string, schema: Schema): string {
  const values = valuesOf(schema);
  return type === "application/json" ? values : `${code(type)}${values === "text" ? "" : ` of ${values}`}`;
}
