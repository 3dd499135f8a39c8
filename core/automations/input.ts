/** Reads the input of the tool `automate`. What is wrong in one field keeps no other from being read. */
import { isObject } from "../protocol/is-object.ts";
import { isTooDeep, type Parsed, wrong } from "../protocol/parse.ts";
import { closest } from "../text/closest.ts";
import { AUTOMATE_TOOL, type AutomateInput } from "./tool.ts";

/** @property field `when.0.reading`; "": the whole */
export type Fault = { field: string; error: string };

/** A field that is wrong is undefined; so is an item of a list. */
export type GivenInput = {
  [Name in keyof AutomateInput]?: AutomateInput[Name] extends (infer Item)[] | undefined
    ? (Item | undefined)[] | undefined
    : AutomateInput[Name] | undefined;
};

/** @param text JSON */
export function readInput(text: string): Parsed<{ input: GivenInput; faults: Fault[] }> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return wrong(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(value) || isTooDeep(value)) return wrong("expected an object with name, when or at, and do");
  const given = AUTOMATE_TOOL.prepare?.(value) ?? value;
  const read = AUTOMATE_TOOL.input.safeParse(given);
  if (read.success) return { ok: true, value: { input: read.data as AutomateInput, faults: [] } };
  const faults = read.error.issues.flatMap((issue): Fault[] => {
    const path = issue.path.map(String);
    if (issue.code !== "unrecognized_keys") return [{ field: path.join("."), error: reason(issue) }];
    return issue.keys.map((key) => ({ field: [...path, key].join("."), error: unknownText(key, path) }));
  });
  return { ok: true, value: { input: withoutWrong(given, faults), faults } };
}

function reason({ message }: { message: string }): string {
  return message.replace(/^Invalid (?:input|option): /, "");
}

const FIELDS = {
  "": "name when match at days only_if only_between do over at_most_minutes say".split(" "),
  when: "agent_id reading is value for_minutes".split(" "),
  do: "agent_id action parameters wait_minutes".split(" "),
} as const;

function unknownText(key: string, [list = ""]: readonly string[]): string {
  const fields = list === "when" || list === "do" ? FIELDS[list] : FIELDS[""];
  const near = closest(key, fields);
  return `there is no such field${near === undefined ? `; there are ${fields.join(", ")}` : `. Did you mean '${near}'?`}`;
}

function withoutWrong(given: Record<string, unknown>, faults: readonly Fault[]): GivenInput {
  const wrongFields = new Set(faults.map(({ field }) => field.split(".")[0]));
  const kept = Object.entries(given).map(([name, value]) => {
    if (!wrongFields.has(name)) return [name, value];
    if ((name !== "when" && name !== "do") || !Array.isArray(value)) return [name, undefined];
    const isWrong = (at: number) =>
      faults.some(
        ({ field }) => field === name || field === `${name}.${at}` || field.startsWith(`${name}.${at}.`),
      );
    return [name, value.map((item: unknown, at) => (isWrong(at) ? undefined : item))];
  });
  // SAFETY: what the schema found wrong is left out, and no field that is left is another type.
  return Object.fromEntries(kept.filter(([name]) => FIELDS[""].includes(String(name)))) as GivenInput;
}
