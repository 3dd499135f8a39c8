/** Checks the sections of agent.toml against settings-keys.ts, and collects all problems. */
import type { Parsed, z } from "@edgecall/core/protocol/parse.ts";
import { closest } from "@edgecall/core/text/closest.ts";
import type { Node } from "../env/nodes/node.ts";
import { type McpServerSettings, readMcpServers } from "./mcp-servers.ts";
import { readNodes } from "./node-settings.ts";
import { type PolicyRules, RULES, type Rule } from "./policy-rules.ts";
import { serveProblems } from "./serve-settings.ts";
import { type Key, SECTIONS, type Section } from "./settings-keys.ts";

/** Sections of EvoClaw without a meaning for this agent. They are accepted, so that its files work here. */
const FOREIGN_SECTIONS = ["orchestrator", "trading", "monitor", "skills", "risk"];

export type Values<S extends Section> = {
  [K in keyof (typeof SECTIONS)[S]]: (typeof SECTIONS)[S][K] extends Key<infer Schema>
    ? z.output<Schema>
    : never;
};
/** The empty name is the top level. */
export type Sections = { [S in Section]: Values<S> } & {
  policy: PolicyRules;
  mcp: readonly McpServerSettings[];
  nodes: readonly Node[];
};

export function checkSections(table: Record<string, unknown>) {
  const problems: string[] = [];
  const notes: string[] = [];
  const top: Record<string, unknown> = {};
  let mcp: readonly McpServerSettings[] = [];
  let nodes: readonly Node[] = [];
  const found = new Map<string, Record<string, unknown>>();
  for (const [key, value] of Object.entries(table)) {
    if (FOREIGN_SECTIONS.includes(key)) notes.push(`[${key}] means nothing to this agent and is left alone`);
    else if (key === "mcp") mcp = listOf(readMcpServers(value), problems);
    else if (key === "nodes") nodes = listOf(readNodes(value), problems);
    else if (key !== "" && (key in SECTIONS || key === "policy")) {
      if (isTable(value)) addTables(found, key, value);
      else problems.push(`${key}: must be a section, [${key}]`);
    } else if (isTable(value) && !Object.hasOwn(SECTIONS[""], key)) problems.push(noSection(key));
    else top[key] = value;
  }
  const read = (Object.keys(SECTIONS) as Section[]).map((name) => [
    name,
    checkSection(name, name === "" ? top : (found.get(name) ?? {}), problems),
  ]);
  const sections: Sections = {
    // SAFETY: each value was checked against its key's schema, or is a problem.
    ...(Object.fromEntries(read) as { [S in Section]: Values<S> }),
    policy: checkPolicy(found.get("policy") ?? {}, problems),
    mcp,
    nodes,
  };
  return { sections, problems, notes };
}

/** The sections that can stand at the top of the file. */
const SECTION_NAMES = [
  ...Object.keys(SECTIONS).filter((name) => name !== "" && !name.includes(".")),
  "nodes",
  "policy",
  "mcp",
];

function noSection(key: string): string {
  const meant = closest(key, SECTION_NAMES);
  const hint = meant ? `did you mean [${meant}]? ` : "";
  return `[${key}]: there is no such section; ${hint}Sections: ${SECTION_NAMES.map((name) => `[${name}]`).join(", ")}`;
}

/** Adds a section and its subsections: `[tools.paths]` is a section of its own, and no key of `[tools]`. */
function addTables(
  found: Map<string, Record<string, unknown>>,
  name: string,
  table: Record<string, unknown>,
): void {
  const own: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(table)) {
    if (`${name}.${key}` in SECTIONS && isTable(value)) found.set(`${name}.${key}`, value);
    else own[key] = value;
  }
  found.set(name, own);
}

const A_RULE = '"allow", "ask" or "deny"';

/**
 * The keys of `[policy]` are names of tools and permissions. Unknown tools are only found at the agent's start. `tainted` is
 * a rule for all, and no tool's name.
 */
function checkPolicy(values: Record<string, unknown>, problems: string[]): PolicyRules {
  const rules = new Map<string, Rule>();
  const named = new Map<string, Rule>();
  const read = (key: string, value: unknown, right: string): Rule | undefined => {
    const rule = RULES.find((it) => it === value);
    if (value !== undefined && rule === undefined)
      problems.push(`policy.${key}: wrong; right would be: ${right}`);
    return rule;
  };
  const { tainted, ...others } = values;
  for (const [name, value] of Object.entries(others)) {
    const right = isTable(value) ? A_RULE : `${A_RULE}, or { rule = …, tainted = … } of these`;
    const parts: Record<string, unknown> = isTable(value) ? value : { rule: value };
    const unknown = Object.keys(parts).filter((key) => key !== "rule" && key !== "tainted");
    for (const key of unknown) problems.push(`policy.${name}.${key}: unknown; known there: rule, tainted`);
    const rule = read(isTable(value) ? `${name}.rule` : name, parts.rule, right);
    const whenTainted = read(`${name}.tainted`, parts.tainted, A_RULE);
    if (rule) rules.set(name, rule);
    if (whenTainted) named.set(name, whenTainted);
  }
  const all = read("tainted", tainted, A_RULE);
  return all || named.size > 0 ? Object.assign(rules, { tainted: { all, named } }) : rules;
}

function listOf<T>(read: Parsed<T[]>, problems: string[]): readonly T[] {
  if (read.ok) return read.value;
  problems.push(read.error);
  return [];
}

function checkSection(
  name: Section,
  values: Record<string, unknown>,
  problems: string[],
): Record<string, unknown> {
  const shape: Readonly<Record<string, Key>> = SECTIONS[name];
  const full = (key: string) => (name ? `${name}.${key}` : key);
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(shape, key)) {
      const where = name ? `[${name}]` : "at the top level";
      const meant = closest(key, Object.keys(shape));
      const hint = meant ? `did you mean ${meant}? ` : "";
      problems.push(`${full(key)}: unknown; ${hint}known ${where}: ${Object.keys(shape).join(", ")}`);
    }
  }
  const read: Record<string, unknown> = {};
  for (const [key, { schema, right }] of Object.entries(shape)) {
    const result = schema.safeParse(values[key]);
    if (result.success) read[key] = result.data;
    else {
      const what = values[key] === undefined ? "missing" : (result.error.issues[0]?.message ?? "wrong");
      problems.push(`${full(key)}: ${what}${right ? `; right would be: ${right}` : ""}`);
    }
  }
  return read;
}

/** The environment overrides the file, since services and containers pass secrets that way. */
export function withEnvironment(
  llm: Values<"llm">,
  env: Record<string, string | undefined>,
  problems: string[],
): Values<"llm"> {
  const merged: Record<string, unknown> = { ...llm };
  const names = {
    LLM_BASE_URL: "base_url",
    LLM_API: "api",
    LLM_API_KEY: "api_key",
    LLM_MODEL: "model",
    MAX_TOKENS: "max_tokens",
    TEMPERATURE: "temperature",
  } as const;
  for (const [name, key] of Object.entries(names) as [
    keyof typeof names,
    (typeof names)[keyof typeof names],
  ][]) {
    const value = env[name];
    if (value === undefined || value === "") continue;
    const typed = key === "max_tokens" || key === "temperature" ? Number(value) : value;
    const { schema, right }: Key = SECTIONS.llm[key];
    const result = schema.safeParse(typed);
    if (result.success) merged[key] = result.data;
    else problems.push(`environment ${name}: right would be: ${right ?? "text"}`);
  }
  return merged as Values<"llm">;
}

export function checkTogether(sections: Sections, llm: Values<"llm">): string[] {
  const problems: string[] = [];
  const { agent_type: type } = sections[""];
  if (type !== undefined && (sections.agent.type ?? type) !== type) {
    problems.push(`agent.type: "${sections.agent.type}", but agent_type is "${type}"; give one of the two`);
  }
  const { url, broker, port, tls } = sections.mqtt;
  if (url !== undefined && (broker !== undefined || port !== undefined)) {
    problems.push("mqtt.url: give either url or broker and port, not both");
  }
  if (url !== undefined && tls === true && /^(mqtt|tcp):/.test(url)) {
    problems.push("mqtt.tls: true, but mqtt.url is without TLS; right would be: mqtts://host:8883");
  }
  if (llm.relay === true && llm.api_key) {
    problems.push("llm.api_key: not beside llm.relay, which needs none; take one of the two out");
  }
  if (llm.relay === true && llm.api === "anthropic") {
    problems.push('llm.api: not beside llm.relay, whose form is "openai"; take one of the two out');
  }
  if (llm.relay === true && !/\/v1\/relay\/[a-z0-9-]+\/?$/.test(llm.base_url ?? "")) {
    problems.push("llm.base_url: with llm.relay it is the gateway's: https://…/v1/relay/HOME");
  }
  if (llm.base_url !== undefined && llm.model === undefined) {
    problems.push(
      'llm.model: missing beside llm.base_url; right would be: the model\'s name, e.g. "qwen3:4b"',
    );
  }
  if (llm.base_url === undefined && llm.model !== undefined) {
    problems.push(`llm.base_url: missing beside llm.model; right would be: ${SECTIONS.llm.base_url.right}`);
  }
  problems.push(...serveProblems(sections.serve), ...presetProblems(sections));
  return problems;
}

/** The preset `remote` works on one node, and nothing else uses the key. */
function presetProblems({ tools: { preset, node }, nodes }: Sections): string[] {
  if (preset !== "remote")
    return node === undefined ? [] : ['tools.node: only beside preset = "remote"; take it out'];
  if (node === undefined)
    return ['tools.node: missing beside preset = "remote"; right would be: a name of [[nodes]]'];
  if (nodes.some(({ name }) => name === node)) return [];
  const names = nodes.map(({ name }) => `"${name}"`).join(", ") || "there is none";
  return [`tools.node: no [[nodes]] has the name "${node}"; right would be: ${names}`];
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
