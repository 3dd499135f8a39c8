/** Reads a number or a word by the table of variables: its default, its bounds, and the error for a wrong one. */
import {
  type GatewayVariable,
  VARIABLES,
  type Variables,
} from "@edgecall/core/protocol/gateway-variables.ts";
import { type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import { SettingsError } from "./settings-error.ts";

type Table = typeof VARIABLES;
type Of<Kind extends string> = {
  [N in GatewayVariable]: Table[N] extends { kind: Kind } ? N : never;
}[GatewayVariable];
export type NumberVariable = Of<"whole" | "number">;
type ChoiceVariable = Of<"choice">;

/** @param fallback where the default depends on something else; without both, an absent variable is an error */
export function checkNumber(env: Variables, name: NumberVariable, fallback?: number): Parsed<number> {
  const { kind, min, max, ...more } = VARIABLES[name];
  const standard = "default" in more ? more.default : undefined;
  const text = env[name]?.trim();
  const value = text ? Number(text) : (fallback ?? standard ?? Number.NaN);
  const isRight = kind === "whole" ? Number.isInteger(value) : Number.isFinite(value);
  if (isRight && value >= min && value <= max) return { ok: true, value };
  const form = kind === "whole" ? "a whole number" : "a number";
  return wrong(`${name}: expected ${form} from ${min} to ${max}, got '${env[name]}'`);
}

/** @throws SettingsError */
export function readNumber(env: Variables, name: NumberVariable, fallback?: number): number {
  return orThrow(checkNumber(env, name, fallback));
}

/** @throws SettingsError. @returns undefined: it is not set, and has no default */
export function readChoice<N extends ChoiceVariable>(
  env: Variables,
  name: N,
): Table[N]["values"][number] | (Table[N] extends { default: string } ? never : undefined) {
  const variable = VARIABLES[name];
  const values: readonly string[] = variable.values;
  const text = env[name]?.trim() || ("default" in variable ? variable.default : undefined);
  if (text !== undefined && !values.includes(text))
    throw new SettingsError(
      `${name}: expected ${values.slice(0, -1).join(", ")} or ${values.at(-1)}, got '${env[name]}'`,
    );
  // SAFETY: one of the values, or its absence where there is no default.
  return text as never;
}

/** @throws SettingsError */
export function orThrow<T>(read: Parsed<T>): T {
  if (!read.ok) throw new SettingsError(read.error);
  return read.value;
}
