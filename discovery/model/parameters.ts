/** Parameters of an action: their schema for a model, and the check of what comes. */
import type { Command, Parameter } from "./entity/entity.ts";

/** A closed object. */
export function parametersSchema({
  parameters,
  required,
}: Pick<Command, "parameters" | "required">): Record<string, unknown> {
  return {
    type: "object",
    properties: { ...parameters },
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
  };
}

/** @returns what is wrong, with the parameter's name */
export function wrongParameter(
  command: Pick<Command, "parameters" | "required" | "anyOf">,
  given: Readonly<Record<string, unknown>>,
): string | undefined {
  const { parameters, required, anyOf } = command;
  const names = Object.keys(parameters);
  for (const name of Object.keys(given))
    if (!Object.hasOwn(parameters, name))
      return `${name}: there is no such parameter${names.length > 0 ? `; there are: ${names.join(", ")}` : ""}`;
  const missing = required.find((name) => given[name] === undefined);
  if (missing !== undefined) return `${missing}: it is missing`;
  if (anyOf && names.every((name) => given[name] === undefined))
    return `${names[0]}: at least one of ${names.join(", ")} has to be given`;
  for (const [name, parameter] of Object.entries(parameters)) {
    const fault = given[name] === undefined ? undefined : wrongValue(parameter, given[name]);
    if (fault !== undefined) return `${name}: ${fault}`;
  }
  return undefined;
}

function wrongValue(parameter: Parameter, value: unknown): string | undefined {
  if (parameter.type === "boolean")
    return typeof value === "boolean" ? undefined : "it has to be true or false";
  if (parameter.type === "string") return wrongText(parameter, value);
  if (parameter.type === "array") {
    const { items, minItems, maxItems } = parameter;
    const isLength = Array.isArray(value) && value.length >= minItems && value.length <= maxItems;
    if (!isLength) return `it has to be a list of ${minItems} numbers`;
    return value.map((item: unknown) => wrongNumber(items, item)).find((fault) => fault !== undefined);
  }
  return wrongNumber(parameter, value);
}

function wrongNumber(
  { type, minimum, maximum }: { type: string; minimum: number; maximum: number },
  value: unknown,
): string | undefined {
  const isNumber = typeof value === "number" && Number.isFinite(value);
  const fits =
    isNumber && value >= minimum && value <= maximum && (type !== "integer" || Number.isInteger(value));
  if (fits) return undefined;
  return `it has to be ${type === "integer" ? "a whole number" : "a number"} from ${minimum} to ${maximum}`;
}

function wrongText(parameter: Extract<Parameter, { type: "string" }>, value: unknown): string | undefined {
  if (typeof value !== "string") return "it has to be a text";
  if ("enum" in parameter)
    return parameter.enum.includes(value) ? undefined : `it has to be one of ${parameter.enum.join(", ")}`;
  const { minLength = 0, maxLength, pattern } = parameter;
  if (value.length < minLength || value.length > maxLength)
    return `it has to have ${minLength} to ${maxLength} characters`;
  return pattern === undefined || new RegExp(pattern).test(value) ? undefined : `it has to match ${pattern}`;
}
