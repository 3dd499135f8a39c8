/**
 * JSON Schema of a tool's input, for a model. It equals what zod's own conversion makes of the schemas that tools have (a test
 * compares the two). That one is 6 KiB gzip in the Worker, since it also knows references, five drafts and types that JSON does not have.
 */
import { type core, globalRegistry } from "zod/mini";
import { made } from "./deferred-schema.ts";

type Json = Record<string, unknown>;

/**
 * @param schema of objects, lists, texts, numbers and choices between them
 * @returns draft-7; fields with a default stay optional
 * @throws Error for a type that no tool's input has
 */
export function toJsonSchema(schema: core.$ZodType): Json {
  // SAFETY: the union has each type of zod.
  const one = made(schema) as core.$ZodTypes;
  const { def, toJSONSchema } = one._zod;
  const own = { ...(toJSONSchema?.() ?? ownPart(one)), ...globalRegistry.get(one) };
  if (def.type !== "optional" && def.type !== "default") return withoutMereTypes(own);
  return { ...own, ...toJsonSchema(def.innerType), ...own };
}

/** Returns what a schema says itself, without its description and without the schema that it wraps. */
function ownPart(one: core.$ZodTypes): Json {
  const { def } = one._zod;
  switch (def.type) {
    case "boolean":
    case "null":
      return { type: def.type };
    case "any":
    case "unknown":
    case "optional":
      return {};
    case "default":
      return { default: def.defaultValue };
    case "string":
      return { type: "string", ...bounds(one, "minLength", "maxLength") };
    case "number":
      return { type: "format" in def ? "integer" : "number", ...bounds(one, "minimum", "maximum") };
    case "enum":
      return choice(Object.values(def.entries));
    case "literal":
      return def.values.length === 1
        ? { type: typeof def.values[0], const: def.values[0] }
        : choice(def.values);
    case "array":
      return { ...bounds(one, "minItems", "maxItems"), type: "array", items: toJsonSchema(def.element) };
    case "nullable":
      return { anyOf: [toJsonSchema(def.innerType), { type: "null" }] };
    case "union":
      return { [def.inclusive === false ? "oneOf" : "anyOf"]: def.options.map(toJsonSchema) };
    case "record":
      return {
        type: "object",
        propertyNames: toJsonSchema(def.keyType),
        additionalProperties: toJsonSchema(def.valueType),
      };
    case "object":
      return objectPart(def);
    default:
      throw new Error(`expected a schema of JSON, got one of ${def.type}`);
  }
}

function objectPart({ shape, catchall }: core.$ZodObjectDef): Json {
  const fields = Object.entries(shape);
  const required = fields.filter(([, field]) => field._zod.optin === undefined).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, field]) => [name, toJsonSchema(field)])),
    ...(required.length > 0 && { required }),
    ...(catchall && {
      additionalProperties: catchall._zod.def.type !== "never" && toJsonSchema(catchall),
    }),
  };
}

/** Reads the checks of a text, a number or a list. JSON Schema has no others: descriptions say what is checked besides. */
function bounds(one: core.$ZodType, least: string, most: string): Json {
  const found: Json = {};
  for (const check of one._zod.def.checks ?? []) {
    // SAFETY: the union has each check of zod.
    const { def } = (check as core.$ZodChecks)._zod;
    if (def.check === "min_length") found[least] = def.minimum;
    if (def.check === "max_length") found[most] = def.maximum;
    if (def.check === "greater_than") found[least] = def.value;
    if (def.check === "less_than") found[most] = def.value;
    if (def.check === "string_format" && def.pattern) found.pattern = def.pattern.source;
  }
  // In zod's order: an advert's text stays the same.
  const names = [least, most, "pattern"].filter((name) => name in found);
  return Object.fromEntries(names.map((name) => [name, found[name]]));
}

function choice(values: unknown[]): Json {
  const [type, ...others] = new Set(values.map((value) => typeof value));
  return { ...(others.length === 0 && { type }), enum: values };
}

/** Makes one list of a choice between types about which nothing else is said. */
function withoutMereTypes({ anyOf, ...json }: Json & { anyOf?: Json[] }): Json {
  if (!anyOf) return json;
  if (anyOf.some((option) => Object.keys(option).join() !== "type")) return { anyOf, ...json };
  const types = [...new Set(anyOf.flatMap(({ type }) => type))];
  return { ...json, type: types.length === 1 ? types[0] : types };
}
