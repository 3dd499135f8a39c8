/** The pages of docs/reference/ whose tables are made of the code. */
import { readFileSync } from "node:fs";
import type { ApiDocument } from "../document.ts";
import { agentTables } from "./agent-toml-page.ts";
import { cliSections } from "./cli-page.ts";
import { withRegions } from "./regions.ts";
import { routeSections } from "./routes-page.ts";
import { settingsTables } from "./settings-page.ts";
import { toolSections } from "./tools-page.ts";
import { wireSections } from "./wire-page.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/** @returns the whole text of each page, by its path in the repository */
export async function referencePages(document: ApiDocument): Promise<Record<string, string>> {
  const page = (name: string, texts: Record<string, string>) => {
    const path = `docs/reference/${name}.md`;
    return [path, withRegions(read(path), texts)] as const;
  };
  return Object.fromEntries([
    page("settings", settingsTables()),
    page("agent-toml", agentTables(read("pi-agent/agent.example.toml"))),
    page("tools", await toolSections()),
    page("routes", routeSections(document)),
    page("wire", wireSections()),
    page("cli", cliSections()),
  ]);
}
