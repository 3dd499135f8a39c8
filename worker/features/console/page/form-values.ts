/** Converts the values of a form to an action's parameters, by its JSON Schema. Pure. */

type Schema = {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
};

export type Field = {
  name: string;
  kind: "text" | "number" | "flag" | "choice" | "json";
  required: boolean;
  description: string;
  choices: string[];
};

export function fieldsOf({ properties = {}, required = [] }: Schema): Field[] {
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    kind: kindOf(schema),
    required: required.includes(name),
    description: typeof schema.description === "string" ? schema.description : "",
    choices: (schema.enum ?? []).map(String),
  }));
  return fields.sort((a, b) => Number(b.required) - Number(a.required));
}

function kindOf({ type, enum: choices }: Schema): Field["kind"] {
  if (Array.isArray(choices) && choices.every((choice) => typeof choice === "string")) return "choice";
  const [only] = [type].flat().filter((one) => one !== "null");
  if (only === "string") return "text";
  if (only === "number" || only === "integer") return "number";
  return only === "boolean" ? "flag" : "json";
}

export type Values = { ok: true; value: Record<string, unknown> } | { ok: false; error: string };

/** Leaves out empty fields, because the device has its own defaults and its own errors for missing ones. */
export function valuesOf(fields: readonly Field[], typed: ReadonlyMap<string, string>): Values {
  const value: Record<string, unknown> = {};
  for (const { name, kind } of fields) {
    const text = typed.get(name) ?? "";
    if (text === "") continue;
    if (kind === "number") {
      if (!Number.isFinite(Number(text))) return { ok: false, error: `${name}: expected a number` };
      value[name] = Number(text);
    } else if (kind === "flag") value[name] = text === "true";
    else if (kind === "json") {
      try {
        value[name] = JSON.parse(text);
      } catch {
        return { ok: false, error: `${name}: expected JSON, like [1, 2] or {"a": "b"}` };
      }
    } else value[name] = text;
  }
  return { ok: true, value };
}
