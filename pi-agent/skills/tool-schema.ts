import { z } from "@edgecall/core/protocol/parse.ts";
import type { Parameter } from "./skill-file.ts";

/** Makes the input schema of a skill's tool. It is strict, so that an unknown argument is an error. */
export function inputOf(parameters: readonly Parameter[]): z.ZodMiniType<Record<string, unknown>> {
  return z.strictObject(Object.fromEntries(parameters.map((one) => [one.name, schemaOf(one)])));
}

function schemaOf(parameter: Parameter): z.ZodMiniType {
  const base = withDefault(parameter);
  return parameter.description === "" ? base : base.check(z.describe(parameter.description));
}

function withDefault(parameter: Parameter): z.ZodMiniType {
  const type = typeOf(parameter);
  if (parameter.required) return type;
  return parameter.default === undefined ? z.optional(type) : z._default(type, parameter.default);
}

function typeOf({ type, enum: values }: Parameter): z.ZodMiniType {
  switch (type) {
    case "string":
      return values ? z.enum(values) : z.string();
    case "integer":
      return z.int();
    case "number":
      return z.number();
    case "boolean":
      return z.boolean();
  }
}
