/** The tool of history as a model is offered it. Home runs it (home/past.ts). */
import { PAST_TOOL } from "@edgecall/core/history/past-tool.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { toolDefinition } from "@edgecall/core/tools/registry.ts";
import type { HomeTools } from "../../kernel/api/home-tools.ts";

type Shown = { type?: unknown; enum?: unknown; description?: unknown };

/** In a large home, whose agents need the room. */
const FOLDED_TEXT = "The past of a device's reading. An error names more params.";
const FOLDED_SCHEMA = {
  type: "object",
  properties: { agent_id: { type: "string" }, reading: { type: "string" }, ask: { type: "string" } },
};

/** Some of what it takes: an error names the others. */
const BY: Shown = { type: "string", description: "week" };

/** Without bounds, which an error names. */
function shown({ type, enum: values, description }: Shown): Shown {
  return {
    ...(values === undefined ? { type } : { enum: values }),
    ...(description !== undefined && { description }),
  };
}

export const historyTools: HomeTools = {
  all: { [PAST_TOOL.name]: PAST_TOOL },
  definitions(isLarge) {
    if (isLarge) return [toolDefinition(PAST_TOOL.name, FOLDED_TEXT, FOLDED_SCHEMA)];
    const { properties, required } = jsonSchema(PAST_TOOL.input) as {
      properties: Record<string, Shown>;
      required: string[];
    };
    const short = Object.entries({ ...properties, by: BY }).map(([name, schema]) => [name, shown(schema)]);
    const schema = { type: "object", properties: Object.fromEntries(short), required };
    return [toolDefinition(PAST_TOOL.name, PAST_TOOL.description, schema)];
  },
  roomUsed: "some",
  forPrograms: {
    titles: { [PAST_TOOL.name]: "The past of a reading" },
    isOffered: ({ tools }) => tools.history,
  },
};
