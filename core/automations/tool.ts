/** The tool by which a model asks for a rule that acts. The bridge reads its values; an owner allows what comes of it. */
import { CONDITIONS_MAX, STEPS_MAX } from "../protocol/automation.ts";
import { z } from "../protocol/parse.ts";
import { CONDITIONS } from "../protocol/rules.ts";
import type { Tool } from "../tools/contract.ts";
import { withoutEmpty } from "../tools/session-tools.ts";

const value = z.optional(z.union([z.number(), z.string(), z.boolean()]));

const When = z.strictObject({
  agent_id: z.string(),
  reading: z.string(),
  is: z.enum(CONDITIONS),
  value,
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
  when: z.optional(z.array(When).check(z.maxLength(CONDITIONS_MAX))),
  match: z.optional(z.enum(["all", "any"])),
  at: z.optional(z.string().check(z.describe("HH:MM, sunrise, sunset-30; in place of when"))),
  days: z.optional(z.string().check(z.describe("mo,tu"))),
  only_if: z.optional(z.enum(["nobody_home", "somebody_home"])),
  only_between: z.optional(z.string().check(z.describe("HH:MM-HH:MM"))),
  do: z.array(Do).check(z.maxLength(STEPS_MAX)),
  over: z.optional(z.enum(["leave", "off", "undo"]).check(z.describe("when `when` is no longer so"))),
  at_most_minutes: z.optional(z.number()),
  say: z.optional(z.string()),
});
export type AutomateInput = z.infer<typeof Automate>;

export const AUTOMATE_TOOL: Pick<Tool, "name" | "description" | "input" | "prepare"> = {
  name: "automate",
  description: "Make a rule by which the home acts by itself. An owner allows it on a card.",
  input: Automate,
  prepare: withoutEmpty,
};
