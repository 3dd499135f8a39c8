/** The tools of rules as a model is offered them. Home runs them (home/tools.ts). */
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { RULE_TOOLS, type RuleToolName } from "@edgecall/core/rules/tools.ts";
import { type ToolDefinition, toolDefinition } from "@edgecall/core/tools/registry.ts";
import type { HomeTools } from "../../kernel/api/home-tools.ts";

const RULE_TOOL_NAMES = Object.keys(RULE_TOOLS) as RuleToolName[];

const TITLES: Record<RuleToolName, string> = {
  watch: "Watch a reading",
  remind: "Remind at a time",
  rules: "Watches and reminders",
  ack: "Acknowledge or snooze",
};

export function isRuleTool(name: string): name is RuleToolName {
  return Object.hasOwn(RULE_TOOLS, name);
}

/** In a large home, whose agents need the room, they are folded in one, whose parameters an error names. */
function definitions(isLarge: boolean): ToolDefinition[] {
  if (isLarge) return [toolDefinition(RULE_TOOLS.rules.name, FOLDED_TEXT, FOLDED_SCHEMA)];
  return RULE_TOOL_NAMES.map((name) => {
    const { description, input } = RULE_TOOLS[name];
    return toolDefinition(name, description, shortened(jsonSchema(input)));
  });
}

export const ruleTools: HomeTools = {
  all: RULE_TOOLS,
  definitions,
  roomUsed: "much",
  forPrograms: { titles: TITLES, isOffered: ({ tools }) => tools.rules },
};

const FOLDED_TEXT =
  "Tell the person when a reading is so (watch), or at a time (remind). An error names the params.";
const FOLDED_SCHEMA = {
  type: "object",
  properties: {
    do: { enum: ["watch", "remind", "automate", "ack", "list", "pause", "resume", "cancel", "history"] },
    params: { type: "object" },
  },
  required: ["do"],
};

/** The tool that a call means, which may have come by the folded one. */
export function unfolded({ name, args }: { name: string; args: Record<string, unknown> }): {
  name: string;
  args: Record<string, unknown>;
} {
  if (name !== RULE_TOOLS.rules.name) return { name, args };
  const { do: what, params, ...rest } = args;
  const given = { ...(typeof params === "object" ? params : {}), ...rest };
  if (what === "watch" || what === "remind" || what === "ack" || what === "automate")
    return { name: what, args: given };
  return { name, args: { ...given, ...(what !== undefined && { do: what }) } };
}

type Shown = { type?: unknown; enum?: unknown; items?: Shown };

/** Without bounds, patterns and the words of parameters, which an error names. */
function shortened({ properties, required }: Record<string, unknown>): Record<string, unknown> {
  const shown = Object.entries(properties as Record<string, Shown>).map(([name, schema]) => [
    name,
    shortSchema(schema),
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(shown),
    ...(required !== undefined && { required }),
  };
}

function shortSchema({ type, enum: values, items }: Shown): Shown {
  return {
    ...(type !== undefined && { type }),
    ...(values !== undefined && { enum: values }),
    ...(items && { items: shortSchema(items) }),
  };
}
