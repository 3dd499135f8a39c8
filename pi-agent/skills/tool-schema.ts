import { z } from "@edgecall/core/protocol/parse.ts";
import { BACKGROUND, type Parameter } from "./skill-file.ts";

/**
 * Makes the input schema of a skill's tool. It is strict, so that an unknown argument is an error.
 * @param jobOptional adds the argument `background`
 */
export function inputOf(
  parameters: readonly Parameter[],
  jobOptional = false,
): z.ZodMiniType<Record<string, unknown>> {
  const own = parameters.map((one) => [one.name, schemaOf(one)] as const);
  return z.strictObject({
    ...Object.fromEntries(own),
    ...(jobOptional && {
      [BACKGROUND]: z
        .optional(z.boolean())
        .check(z.describe("Answer at once with a job, and go on. The result comes as a message")),
    }),
  });
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
