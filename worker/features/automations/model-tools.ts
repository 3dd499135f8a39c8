/** The tool of rules that act, as a model is offered it. Home runs it (home/make.ts). */
import { AUTOMATE_TOOL } from "@edgecall/core/automations/tool.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { toolDefinition } from "@edgecall/core/tools/registry.ts";
import type { HomeTools } from "../../kernel/api/home-tools.ts";

export const AUTOMATE = AUTOMATE_TOOL.name;

/** A large home's agents need the room: there it is `do: "automate"` of `rules`, and an error names its parameters. */
export const automationTools: HomeTools = {
  all: { [AUTOMATE]: AUTOMATE_TOOL },
  definitions: (isLarge) =>
    isLarge ? [] : [toolDefinition(AUTOMATE, AUTOMATE_TOOL.description, jsonSchema(AUTOMATE_TOOL.input))],
  roomUsed: "some",
};
