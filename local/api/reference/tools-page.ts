/** The tools of docs/reference/tools.md, of their contracts. */
import { rmSync } from "node:fs";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { everyTool, settings } from "@edgecall/pi-agent/testing/every-tool.ts";
import type { Schema } from "../type-schema.ts";
import { TOOL_TOPICS } from "./about-tools.ts";
import { fieldTable } from "./fields.ts";
import { code } from "./regions.ts";

/** @throws naming the tools that stand in no topic, or more than once */
export async function toolSections(): Promise<Record<string, string>> {
  const { tools, close } = await everyTool();
  await close();
  rmSync(settings.stateDir, { recursive: true, force: true });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const named = Object.values(TOOL_TOPICS).flatMap((topic) => Object.keys(topic));
  const wrong = new Set([...named, ...byName.keys()]);
  for (const name of byName.keys()) if (named.filter((one) => one === name).length === 1) wrong.delete(name);
  if (wrong.size > 0)
    throw new Error(`about-tools.ts: once each, and none besides: ${[...wrong].join(", ")}`);
  const topics = Object.entries(TOOL_TOPICS).map(([title, topic]) => {
    const sections = Object.entries(topic).flatMap(([name, needs]) => {
      const tool = byName.get(name);
      return tool ? [sectionOf(tool, needs)] : [];
    });
    return [`## ${title}`, ...sections].join("\n\n");
  });
  return { tools: topics.join("\n\n") };
}

function sectionOf(tool: Tool, needs: string): string {
  const permissions = tool.permissions ?? (tool.permission ? [tool.permission] : []);
  const facts = [
    `effect ${code(tool.effect)}${tool.taints ? ", taints" : ""}`,
    permissions.length > 0 ? `permission ${permissions.map(code).join(" and ")}` : "no permission",
    `time-out ${tool.timeoutMs / 1_000} s, at most ${tool.maxTimeoutMs / 1_000} s`,
    ...(tool.sandbox ? ["runs in the sandbox"] : []),
    ...(needs ? [`needs ${needs}`] : []),
  ];
  const fields = fieldTable(jsonSchema(tool.input) as Schema);
  const parts = [`### ${code(tool.name)}`, tool.description, `${sentence(facts.join("; "))}.`, fields];
  return parts.filter((part) => part !== "").join("\n\n");
}

const sentence = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;
