/** Reads a foreign JSON Schema, in which nothing is certain. */

export type Schema = Record<string, unknown>;

export function propertiesOf(schema: Schema): Array<[name: string, schema: Schema]> {
  return Object.entries(asSchema(schema.properties)).map(([name, value]) => [
    name,
    simplest(asSchema(value)),
  ]);
}

export function requiredOf(schema: Schema): string[] {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
}

/** The first type that is not `null`: `["string", "null"]` and `anyOf` are how "optional" is often written. */
export function typeOf(schema: Schema): string | undefined {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type = types.find((name) => typeof name === "string" && name !== "null");
  if (typeof type === "string") return type;
  return "properties" in schema ? "object" : undefined;
}

export function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

function simplest(schema: Schema): Schema {
  const choices = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(choices)) return schema;
  const { anyOf: _, oneOf: __, ...rest } = schema;
  const choice = choices.map(asSchema).find((one) => one.type !== "null");
  return { ...rest, ...choice };
}
