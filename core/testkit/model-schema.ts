/** What some model endpoint or MCP client refuses in a tool's schema, by their errors. */

const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required"],
  array: ["items", "minItems", "maxItems"],
  string: ["enum", "minLength", "maxLength"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  boolean: [],
};
const BOUNDS: Readonly<Record<string, number>> = {
  minLength: 200,
  maxLength: 200,
  minItems: 64,
  maxItems: 64,
  minimum: 1e15,
  maximum: 1e15,
};
const DESCRIPTION_MAX = 300;

/** @returns each part that is refused somewhere, with its place; none: every endpoint takes the schema */
export function refusedParts(schema: unknown, at = "#"): string[] {
  if (typeof schema !== "object" || schema === null) return [`${at}: no schema`];
  const { type, description = "", ...rest } = schema as Record<string, unknown>;
  const known = typeof type === "string" ? KEYWORDS[type] : undefined;
  if (!known) return [`${at}: type ${JSON.stringify(type)}`];
  const found = Object.keys(rest).flatMap((name) => (known.includes(name) ? [] : [`${at}: ${name}`]));
  const { enum: values, items, required } = rest as Record<string, never>;
  const properties = (rest.properties ?? {}) as Record<string, unknown>;
  const names = Object.keys(properties);
  return [
    ...found,
    ...(String(description).length > DESCRIPTION_MAX || description !== String(description).toWellFormed()
      ? [`${at}: description`]
      : []),
    ...Object.entries(BOUNDS).flatMap(([name, most]) =>
      rest[name] === undefined || Math.abs(Number(rest[name])) <= most
        ? []
        : [`${at}: ${name} ${rest[name]}`],
    ),
    ...(values === undefined || isChoice(values) ? [] : [`${at}: enum ${JSON.stringify(values)}`]),
    ...(required === undefined || isChoice(required, names)
      ? []
      : [`${at}: required ${JSON.stringify(required)}`]),
    ...(at === "#" && (type !== "object" || rest.properties === undefined) ? [`${at}: no object`] : []),
    ...(at !== "#" && rest.properties !== undefined && names.length === 0 ? [`${at}: properties`] : []),
    ...names.flatMap((name) => (/^[A-Za-z0-9_.-]{1,64}$/.test(name) ? [] : [`${at}: name ${name}`])),
    ...(type === "array" ? refusedParts(items, `${at}[]`) : []),
    ...names.flatMap((name) => refusedParts(properties[name], `${at}.${name}`)),
  ];
}

/** Whether a list has texts that are not empty, each once. */
function isChoice(values: unknown[], of?: readonly string[]): boolean {
  const isFit = (value: unknown) =>
    typeof value === "string" && value !== "" && value.isWellFormed() && (of?.includes(value) ?? true);
  return values.length > 0 && new Set(values).size === values.length && values.every(isFit);
}
