/** Shows openapi.json for people: each operation, what it takes, and what it answers with. */

/** @param {Record<string, string>} attributes @param {(Node | string)[]} children */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Text between backquotes is shown as code. */
const words = (text) => text.split("`").map((part, n) => (n % 2 === 1 ? element("code", {}, part) : part));

const nameOf = (reference) => reference.split("/").at(-1);

/** Writes a schema as a type of TypeScript, since people read those faster. @returns lines */
function typeLines(schema, indent = "") {
  if (schema.$ref) return [nameOf(schema.$ref)];
  if ("const" in schema) return [JSON.stringify(schema.const)];
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(" | ")];
  if (schema.anyOf ?? schema.oneOf) return joined(schema.anyOf ?? schema.oneOf, indent);
  if (Array.isArray(schema.type)) return [schema.type.join(" | ")];
  if (schema.type === "array") {
    const lines = typeLines(schema.items ?? {}, indent);
    const isUnion = lines.length === 1 && lines[0].includes(" | ");
    return [...lines.slice(0, -1), isUnion ? `(${lines.at(-1)})[]` : `${lines.at(-1)}[]`];
  }
  if (schema.properties) return objectLines(schema, indent);
  if (schema.additionalProperties)
    return [`{ [name]: ${typeLines(Object(schema.additionalProperties), indent).join("\n")} }`];
  return [schema.type ?? "any"];
}

function joined(schemas, indent) {
  const parts = schemas.map((schema) => typeLines(schema, indent).join("\n"));
  return parts.join(" | ").split("\n");
}

function objectLines({ properties, required = [] }, indent) {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).flatMap(([name, property]) => {
    const [first, ...rest] = typeLines(property, inner);
    const note = property.description ? [`${inner}// ${property.description}`] : [];
    return [...note, `${inner}${name}${required.includes(name) ? "" : "?"}: ${first}`, ...rest];
  });
  return ["{", ...lines, `${indent}}`];
}

/** The named schemas that a schema needs, itself and through others. */
function namedIn(schema, schemas, found = new Set()) {
  for (const [, name] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    namedIn(schemas[name] ?? {}, schemas, found);
  }
  return found;
}

function shownSchema(schema, schemas) {
  const parts = [element("pre", {}, typeLines(schema).join("\n"))];
  for (const name of namedIn(schema, schemas)) {
    const { description = "" } = schemas[name] ?? {};
    const summary = element(
      "summary",
      {},
      element("code", {}, name),
      ...words(description && `: ${description}`),
    );
    parts.push(
      element("details", {}, summary, element("pre", {}, typeLines(schemas[name] ?? {}).join("\n"))),
    );
  }
  return parts;
}

function shownContent(title, content, schemas) {
  return Object.entries(content ?? {}).flatMap(([type, { schema }]) => [
    element("h2", {}, `${title} `, element("code", {}, type)),
    ...shownSchema(schema, schemas),
  ]);
}

function shownParameters(parameters) {
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ name, in: place, required, schema, description }) => {
    const type = `${typeLines(schema).join(" ")}${"default" in schema ? ` = ${schema.default}` : ""}`;
    const facts = ` ${type}, ${place}${required ? ", required" : ""}`;
    return element(
      "li",
      {},
      element("code", {}, name),
      facts,
      ...words(description ? `: ${description}` : ""),
    );
  });
  return [element("h2", {}, "Parameters"), element("ul", {}, ...rows)];
}

function shownOperation(method, path, operation, schemas) {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const address = element("code", {}, `${method.toUpperCase()} ${path}`);
  const answers = Object.entries(responses)
    .filter(([status]) => status !== "default")
    .flatMap(([status, { description, content }]) =>
      content
        ? shownContent(`Answer ${status}`, content, schemas)
        : [element("h2", {}, `Answer ${status}`), element("p", {}, description)],
    );
  return element(
    "details",
    { id: operationId },
    element("summary", {}, address, " ", ...words(summary)),
    ...(description ? [element("p", {}, ...words(description))] : []),
    ...shownParameters(parameters),
    ...shownContent("Body", requestBody?.content, schemas),
    ...answers,
  );
}

const byId = (id) => document.getElementById(id);

async function show() {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`the gateway answered with ${answer.status}`);
  const { paths, components, info } = await answer.json();
  const shown = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      node: shownOperation(method, path, operation, components.schemas),
      words:
        `${method} ${path} ${operation.operationId} ${operation.summary} ${operation.description}`.toLowerCase(),
    })),
  );
  byId("operations").append(...shown.map(({ node }) => node));
  const find = () => {
    const wanted = byId("find").value.toLowerCase().split(/\s+/);
    const found = shown.filter(({ node, words }) => {
      node.hidden = !wanted.every((word) => words.includes(word));
      return !node.hidden;
    });
    byId("count").textContent = `${found.length} of ${shown.length} operations, version ${info.version}`;
  };
  byId("find").addEventListener("input", find);
  find();
  // A link to one operation opens it.
  const linked = byId(location.hash.slice(1));
  if (linked instanceof HTMLDetailsElement) linked.open = true;
  linked?.scrollIntoView();
}

show().catch((error) => {
  byId("count").textContent = `The document cannot be read: ${error.message}`;
});
