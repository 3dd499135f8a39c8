/** The tables of docs/reference/agent-toml.md: sentences and defaults of pi-agent/agent.example.toml, values of the schema of each key. */
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { type Key, SECTIONS, type Section } from "@edgecall/pi-agent/config/settings-keys.ts";
import { code, table } from "./regions.ts";

type Shown = { about: string; value: string; note: string };
type Read = { about: string; keys: Map<string, Shown> };

const SECTION = /^\[([\w.]+)\]$/;
/** A key with its default, or with an example: `# url = "…"    # no default`. */
const KEY = /^(?:# )?(\w+) = (.*?)(?:\s+# (no default|not beside \w+))?$/;

/** @param example the text of agent.example.toml @throws naming a key without a sentence */
export function agentTables(example: string): Record<string, string> {
  const read = readExample(example);
  // Some defaults begin with the agent's id: the page names it, and not the example's.
  const id = read.get("")?.keys.get("agent_id")?.value.replaceAll('"', "") ?? "";
  const sections = (Object.keys(SECTIONS) as Section[]).map((name) => {
    const shown = read.get(name);
    const keys: Readonly<Record<string, Key>> = SECTIONS[name];
    const rows = Object.entries(keys).map(([key, { schema, right }]) => {
      const { about, value, note } = shown?.keys.get(key) ?? { about: "", value: "", note: "" };
      const full = name === "" ? key : `${name}.${key}`;
      if (about === "") throw new Error(`pi-agent/agent.example.toml: no sentence above ${full}`);
      const { type } = jsonSchema(schema) as { type?: string };
      const values = right ?? (type === "string" || type === undefined ? "text" : type);
      const hasExample = note === "" || value === '""' || values.includes("e.g.");
      const example = hasExample ? "" : `; e.g. ${code(value)}`;
      const standard =
        name === "" && key === "agent_id"
          ? "required"
          : note
            ? "–"
            : code(value.replace(`"${id}.`, '"AGENT_ID.'));
      return [code(key), standard, `${values}${example}`, linked(about)];
    });
    const title = name === "" ? "The top of the file" : code(`[${name}]`);
    return [`## ${title}`, linked(shown?.about ?? ""), table(["key", "default", "values", ""], rows)]
      .filter((part) => part !== "")
      .join("\n\n");
  });
  return { keys: sections.join("\n\n") };
}

function readExample(example: string): Map<string, Read> {
  const sections = new Map<string, Read>([["", { about: "", keys: new Map() }]]);
  let section = sections.get("");
  let comment: string[] = [];
  for (const line of example.split("\n")) {
    const name = SECTION.exec(line)?.[1];
    const [, key, value = "", note = ""] = KEY.exec(line) ?? [];
    if (name !== undefined) {
      section = { about: comment.join(" "), keys: new Map() };
      sections.set(name, section);
    } else if (key !== undefined) section?.keys.set(key, { about: comment.join(" "), value, note });
    else if (line.startsWith("# ")) {
      comment.push(line.slice(2).trim());
      continue;
    }
    comment = [];
  }
  return sections;
}

/** Makes paths of pages into links from docs/reference/. */
const linked = (text: string) =>
  text.replace(/docs\/([\w/-]+)\.md(#[\w-]+)?/g, (_, page: string, anchor = "") => {
    const to = page.startsWith("reference/") ? page.slice("reference/".length) : `../${page}`;
    return `[${page.replace(/^.*\//, "")}](${to}.md${anchor})`;
  });
