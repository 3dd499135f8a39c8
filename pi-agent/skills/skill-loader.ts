import { z } from "@edgecall/core/protocol/parse.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import type { Guide } from "./skill-guide.ts";

/** @param state read at each call */
export function skill(state: { readonly guides: readonly Guide[] }): Tool {
  return defineTool({
    name: "skill",
    description:
      "Load a skill: the owner's instructions for a kind of work on this device. Call it before such work and follow what it says.",
    input: z.strictObject({
      name: z.string().check(z.minLength(1), z.maxLength(64), z.describe("Name of the skill")),
    }),
    effect: "read",
    idempotent: true,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    async execute({ name }): Promise<ToolResult> {
      const { guides } = state;
      const found = guides.find((guide) => guide.name === name);
      if (!found) return faultResult("not_found", notFound(name, guides));
      return textResult(
        `Skill '${found.name}'. Files that it names are in ${found.folder}.\n\n${found.instructions}`,
        { skill: found.name, folder: found.folder },
      );
    },
  });
}

/** @returns why the tool is not advertised */
export async function skillMissing(guides: readonly Guide[], path: string): Promise<string | undefined> {
  return guides.length > 0 ? undefined : `no skills with instructions: put one at ${path}/NAME/SKILL.md`;
}

function notFound(name: string, guides: readonly Guide[]): Advised {
  const names = guides.map((guide) => guide.name).join(", ") || "none";
  return {
    text: `Error: There is no skill '${name}'. Skills: ${names}.`,
    advice: "Call skill with one of these names, or go on without.",
  };
}
