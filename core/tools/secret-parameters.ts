/** Parameters that are set and never shown: their JSON Schema says `writeOnly`, as that of a device's password does. */
import { isObject } from "../protocol/is-object.ts";

/** Replaces a value that is not shown. */
export const NOT_SHOWN = "(not shown)";

/** @param schema of the parameters @returns them for people and records */
export function shownParameters(
  parameters: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { properties } = schema;
  const isSecret = (name: string) => {
    const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isObject(property) && property.writeOnly === true;
  };
  const entries = Object.entries(parameters);
  return Object.fromEntries(entries.map(([name, value]) => [name, isSecret(name) ? NOT_SHOWN : value]));
}
