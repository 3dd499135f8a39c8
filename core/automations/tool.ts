/** The tool by which a model asks for a rule that acts. The bridge reads its values; an owner allows what comes of it. */
import { isObject } from "../protocol/is-object.ts";
import { z } from "../protocol/parse.ts";
import { CONDITIONS } from "../protocol/rules.ts";
import type { Tool } from "../tools/contract.ts";
import { withoutEmpty } from "../tools/session-tools.ts";

/**
 * A rule that acts does not look at whether a device is online. Bounds and forms are checked where the rule is made, and its errors name
 * what would be right: here they would be in every model call.
 */
const COMPARED = CONDITIONS.filter((is) => is !== "offline" && is !== "online");

const When = z.strictObject({
  agent_id: z.string(),
  reading: z.string(),
  is: z.enum(COMPARED),
  /** Also of a number: `prepare` writes it as a text. */
  value: z.optional(z.string()),
  for_minutes: z.optional(z.number()),
});

const Do = z.strictObject({
  agent_id: z.string(),
  action: z.string(),
  parameters: z.optional(z.record(z.string(), z.unknown())),
  wait_minutes: z.optional(z.number()),
});

const Automate = z.strictObject({
  name: z.string(),
  when: z.optional(z.array(When)),
  match: z.optional(z.enum(["all", "any"])),
  at: z.optional(z.string()),
  days: z.optional(z.string()),
  only_if: z.optional(z.enum(["nobody_home", "somebody_home"])),
  only_between: z.optional(z.string()),
  do: z.array(Do),
  over: z.optional(z.enum(["leave", "off", "undo"])),
  at_most_minutes: z.optional(z.number()),
  say: z.optional(z.string()),
});
export type AutomateInput = z.infer<typeof Automate>;

export const AUTOMATE_TOOL: Pick<Tool, "name" | "description" | "input" | "prepare"> = {
  name: "automate",
  description: "Make a rule that acts. at: HH:MM, sunset-30.",
  input: Automate,
  prepare: (args) =>
    Object.fromEntries(
      Object.entries(withoutEmpty(args)).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map(prepared) : value,
      ]),
    ),
};

/** An item of a list. What a number or a boolean is compared with is read from its text. */
function prepared(one: unknown): unknown {
  if (!isObject(one)) return one;
  const isPlain = typeof one.value === "number" || typeof one.value === "boolean";
  return withoutEmpty(isPlain ? { ...one, value: String(one.value) } : one);
}
