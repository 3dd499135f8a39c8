/** Reads the steps of a tool that is made of other tools: `[[tools.steps]]` of a skill.toml. Pure. */
import { check, z } from "@edgecall/core/protocol/parse.ts";
import type { PlannedStep } from "@edgecall/core/tools/contract.ts";
import { namesOfPointer, referencesIn } from "@edgecall/core/tools/references.ts";

const STEPS_MAX = 10;
/** The name under which references find the tool's own parameters. */
export const PARAMS = "params";
/** The fields of a step's result that a reference may name. */
const FIELDS = ["status", "result", "data", "error", "exit_code"] as const;

/** Strict, unlike the rest of the file: a misspelt `when` must not make a step run always. */
const Steps = z
  .array(
    z.strictObject({
      id: z
        .string()
        .check(z.regex(/^[A-Za-z0-9_-]{1,32}$/, "right would be 1 to 32 letters, digits, _ or -")),
      tool: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, "right would be the name of a tool")),
      when: z._default(z.enum(["success", "failure", "always"]), "success"),
      params: z._default(z.record(z.string(), z.unknown()), {}),
    }),
  )
  .check(z.minLength(1), z.maxLength(STEPS_MAX));

type Parameter = { name: string; required: boolean; default?: unknown };

/** @returns the steps, or what is wrong */
export function readSteps(declared: unknown, parameters: readonly Parameter[]): PlannedStep[] | string {
  // TOML has more types than JSON, such as dates; they become text.
  const checked = check(Steps, declared === undefined ? [] : JSON.parse(JSON.stringify(declared)));
  if (!checked.ok) return `steps.${checked.error}`;
  if (parameters.some(({ name }) => name === "steps"))
    return "parameters.properties.steps: whoever approves a call sees its steps under this name; right would be another one";
  const before: string[] = [];
  for (const { id, params } of checked.value) {
    const at = `steps.${id}`;
    if (id === PARAMS) return `${at}: right would be another id; '${PARAMS}' are the tool's parameters`;
    if (before.includes(id)) return `${at}: right would be another id; two steps have this one`;
    if (hasOtherReference(params))
      return `${at}.params: right would be { "$ref" = "/NAME/…" }, with nothing beside it`;
    const wrong = referencesIn(params).map((pointer) => problemOf(pointer, parameters, before));
    const problem = wrong.find((one) => one !== undefined);
    if (problem !== undefined) return `${at}.params: ${problem}`;
    before.push(id);
  }
  return checked.value;
}

/** True if there is a `$ref` that is not read as a reference, which here is always a mistake. */
function hasOtherReference(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (!Object.hasOwn(value, "$ref")) return Object.values(value).some(hasOtherReference);
  const { $ref } = value as { $ref: unknown };
  return typeof $ref !== "string" || Object.keys(value).length !== 1 || referencesIn(value).length === 0;
}

function problemOf(
  pointer: string,
  parameters: readonly Parameter[],
  before: readonly string[],
): string | undefined {
  const [from = "", field] = namesOfPointer(pointer);
  if (from === PARAMS) {
    const parameter = parameters.find(({ name }) => name === field);
    if (field === undefined) return undefined;
    if (!parameter) return `${pointer}: the tool has no parameter '${field}'`;
    return parameter.required || parameter.default !== undefined
      ? undefined
      : `${pointer}: the parameter may be missing; right would be required, or a default`;
  }
  if (!before.includes(from)) return `${pointer}: there is no step '${from}' before this one`;
  if (field !== undefined && !FIELDS.some((one) => one === field))
    return `${pointer}: right would be one of: ${FIELDS.map((one) => `/${from}/${one}`).join(", ")}`;
  return undefined;
}
