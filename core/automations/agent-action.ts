/** The actions of a paired agent that a rule may have. The gateway carries them out, as ordinary calls with the rule as their caller. */
import { isObject } from "../protocol/is-object.ts";
import type { ActionAdvert } from "../protocol/mqtt.ts";
import { isOwnTool } from "../tools/own-names.ts";

/** Of edgecall's own tools, those that neither run programs, nor change files, nor ask a model. */
const OWN: ReadonlySet<string> = new Set(["gpio_write", "services"]);
const NEVER = /^(?:git|ssh)(?:_|$)|^prompt$/;

/** @returns why a rule does not have it; undefined: it may */
export function notOffered({ name, effect, setting, danger }: ActionAdvert): string | undefined {
  if (effect === "read") return "it changes nothing";
  if (danger) return "it is dangerous, and no rule has a dangerous action of a paired agent";
  const isNever = NEVER.test(name) || (isOwnTool(name) && !OWN.has(name)) || effect === "write";
  return isNever || setting
    ? "rules run no commands, change no files or settings, and ask no model"
    : undefined;
}

/** @returns what is wrong with the parameters by the advert's schema, as far as it says */
export function wrongArgument(
  { parameters: schema }: ActionAdvert,
  given: Readonly<Record<string, unknown>>,
): string | undefined {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined && schema.additionalProperties === false)
    return `${unknown}: there is no such parameter${names.length > 0 ? `; there are: ${names.join(", ")}` : ""}`;
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const missing = required.find((name) => given[name] === undefined);
  if (missing !== undefined) return `${missing}: it is missing`;
  for (const [name, property] of Object.entries(properties)) {
    const fault =
      given[name] === undefined || !isObject(property) ? undefined : wrongValue(property, given[name]);
    if (fault !== undefined) return `${name}: ${fault}`;
  }
  return undefined;
}

function wrongValue({ type, enum: choices }: Record<string, unknown>, value: unknown): string | undefined {
  if (Array.isArray(choices) && !choices.includes(value)) return `it has to be one of ${choices.join(", ")}`;
  switch (type) {
    case "string":
      return typeof value === "string" ? undefined : "it has to be a text";
    case "boolean":
      return typeof value === "boolean" ? undefined : "it has to be true or false";
    case "number":
      return typeof value === "number" ? undefined : "it has to be a number";
    case "integer":
      return Number.isInteger(value) ? undefined : "it has to be a whole number";
    default:
      return undefined;
  }
}
