/** Loads the skills of a folder: tools, instructions, and what is not offered and why. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Permission, Tool } from "@edgecall/core/tools/contract.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { ToolMetadata } from "../calls/offered-tools.ts";
import type { Environment } from "../env/environment.ts";
import { isBelow } from "../env/local-exec.ts";
import type { SandboxEngine } from "../env/sandbox/sandbox-engine.ts";
import { type Composition, composedTool, unboundTool } from "./composed-tool.ts";
import { findProgram, writableByAll } from "./find-program.ts";
import { readSkillFile, SKILL_FILE_MAX_BYTES, type Skipped, type ToolDefinition } from "./skill-file.ts";
import { type Guide, readGuide } from "./skill-guide.ts";
import { skillTool } from "./skill-tool.ts";
import { Stamps } from "./stamps.ts";
import { compareVersions } from "./versions.ts";

/** An advert has at most 256 tools, including the agent's own. */
export const MAX_SKILL_TOOLS = 128;
const MAX_SKILLS = 64;
/** The wire's limit for `name@version` in events. */
const FULL_NAME_MAX = 64;

export type SkillsOptions = {
  /** `[tools] skills_path`; absolute. */
  path: string;
  /** `[tools.paths] bin`; absolute. */
  bin?: string | undefined;
  /** The folder that the agent may write, which must not contain skills. Absolute. */
  workspace: string;
  /** The place where tools of each engine run. An absent engine is refused by name. */
  environments: Partial<Record<SandboxEngine, Environment>>;
  /** Returns why an engine is missing from `environments`. */
  lack?(engine: Exclude<SandboxEngine, "none">): string | undefined;
  /** For tools that name no engine. */
  engine: SandboxEngine;
  /** `[tools] unsandboxed`: the tools that may run with `sandboxing = "none"`, where the agent has a sandbox. */
  unsandboxed?: readonly string[] | undefined;
  /** `[agent] capabilities`; undefined = no list: everything is offered. */
  held?: readonly Permission[] | undefined;
  /** `[tools] enabled`; undefined = no list: everything is offered. */
  enabled?: readonly string[] | undefined;
  /** `[tools] timeout_ms`: for tools that name none; undefined = the seed's table. */
  timeoutMs?: number | undefined;
  platform?: NodeJS.Platform;
  /** Returns the folder of a job, which its token names. Without it, jobs end with the agent. */
  jobFolder?: (token: string) => string;
};

/**
 * @property bind of a tool with steps: makes the tool that runs them, or says why it cannot be offered. `tool` is only its
 *   name until then
 */
export type SkillTool = {
  tool: Tool;
  metadata: ToolMetadata;
  bind?: (find: (name: string) => Tool | undefined) => Tool | { reason: string };
};

/** An immutable snapshot. */
export type SkillSet = {
  /** The newest version of each tool. */
  tools: readonly SkillTool[];
  /** Every tool with a version, as `name@version`. These can be called but are not offered. */
  versions: ReadonlyMap<string, Tool>;
  guides: readonly Guide[];
  skipped: readonly Skipped[];
  /** Everything that was read; the other fields are made from it. */
  read: SkillsRead;
};

type Loaded = SkillTool & { folder: string };
type SkillsRead = { tools: readonly Loaded[]; guides: readonly Guide[]; skipped: readonly Skipped[] };

export const NO_SKILLS: SkillSet = setOf({ tools: [], guides: [], skipped: [] });

type Reading = { options: SkillsOptions; stamps: Stamps; skipped: Skipped[] };

/** Never rejects: unreadable skills are left out, with the reason. */
export async function loadSkills(options: SkillsOptions): Promise<{ set: SkillSet; stamps: Stamps }> {
  const reading: Reading = { options, stamps: new Stamps(), skipped: [] };
  const folders = await skillFolders(reading);
  const read = await Promise.all(folders.map((name) => readFolder(name, reading)));
  const set = setOf({
    tools: read.flatMap(({ tools }) => tools),
    guides: read.flatMap(({ guide }) => guide ?? []),
    skipped: reading.skipped,
  });
  return { set, stamps: reading.stamps };
}

/**
 * Returns the set without some skills. None of their tools can be called, in any version, and tools that they hid are offered
 * again.
 * @param why the reason in `skipped` for each one left out
 */
export function withoutSkills(set: SkillSet, isLeftOut: (skill: string) => boolean, why: string): SkillSet {
  const { tools, guides, skipped } = set.read;
  const names = [...tools.map(({ metadata }) => metadata.skill), ...guides.map(({ name }) => name)];
  const leftOut = [...new Set(names)].filter(isLeftOut);
  if (leftOut.length === 0) return set;
  return setOf({
    tools: tools.filter(({ metadata }) => !leftOut.includes(metadata.skill)),
    guides: guides.filter(({ name }) => !leftOut.includes(name)),
    skipped: [...skipped, ...leftOut.map((skill) => ({ skill, reason: why }))],
  });
}

/**
 * Returns the set with its tools with steps bound to the tools of this device. Those that cannot be are left out.
 * @param own the device's own tools, which take precedence over a skill's tool of the same name
 */
export function withSteps(own: readonly Tool[], set: SkillSet): SkillSet {
  const composed = set.read.tools.filter(({ bind }) => bind);
  if (composed.length === 0) return set;
  // A tool with steps is no step of another one.
  const programs = set.tools.flatMap(({ tool, bind }) => (bind ? [] : [tool]));
  const callable = new Map([...programs, ...own].map((tool) => [tool.name, tool]));
  const bound = new Map<Tool, Tool>();
  const skipped: Skipped[] = [];
  for (const { tool, metadata, bind } of composed) {
    const made = bind?.((name) => callable.get(name));
    if (made && "reason" in made) skipped.push({ skill: metadata.skill, tool: tool.name, ...made });
    else if (made) bound.set(tool, made);
  }
  return {
    ...set,
    tools: set.tools.flatMap((one) => (one.bind ? boundOf(one, bound.get(one.tool)) : [one])),
    versions: new Map(
      [...set.versions].flatMap(([name, tool]) => {
        const isComposed = composed.some((one) => one.tool === tool);
        const now = isComposed ? bound.get(tool) : tool;
        return now ? [[name, now] as const] : [];
      }),
    ),
    skipped: [...set.skipped, ...skipped].sort(byName),
  };
}

function boundOf({ metadata }: SkillTool, tool: Tool | undefined): SkillTool[] {
  if (!tool) return [];
  const { permissions = [], timeoutMs: timeout_ms } = tool;
  return [{ tool, metadata: { ...metadata, permissions, timeout_ms } }];
}

function setOf(read: SkillsRead): SkillSet {
  const skipped = [...read.skipped];
  const { offered, versions } = byVersion(read.tools, skipped);
  const guides = oneOfEachName(read.guides, skipped);
  return {
    tools: offered.slice(0, MAX_SKILL_TOOLS),
    versions,
    guides,
    skipped: [...skipped, ...offered.slice(MAX_SKILL_TOOLS).map(tooMany)].sort(byName),
    read,
  };
}

async function skillFolders({ options: { path, workspace }, stamps, skipped }: Reading): Promise<string[]> {
  const none = (reason: string) => {
    skipped.push({ skill: "*", reason });
    return [];
  };
  const stats = await stamps.look(path);
  if (!stats) return [];
  if (isBelow(workspace, path))
    return none(`${path} lies in the workspace: whoever writes there could add tools`);
  if (writableByAll(stats.mode)) return none(`${path} is writable by everyone: chmod o-w ${path}`);
  try {
    const names = (await readdir(path)).filter((name) => !name.startsWith(".")).sort();
    const isFolder = await Promise.all(
      names.map(async (name) => (await stamps.look(join(path, name)))?.isDirectory() === true),
    );
    const folders = names.filter((_, index) => isFolder[index]);
    for (const skill of folders.slice(MAX_SKILLS)) {
      skipped.push({ skill, reason: `more than ${MAX_SKILLS} skills` });
    }
    return folders.slice(0, MAX_SKILLS);
  } catch (error) {
    return none(`${path} cannot be read: ${messageOf(error)}`);
  }
}

async function readFolder(name: string, reading: Reading): Promise<{ tools: Loaded[]; guide?: Guide }> {
  const { stamps, skipped } = reading;
  const folder = join(reading.options.path, name);
  const stats = await stamps.look(folder);
  if (stats && writableByAll(stats.mode)) {
    skipped.push({ skill: name, reason: `${folder} is writable by everyone: chmod o-w ${folder}` });
    return { tools: [] };
  }
  const [declared, instructions] = await Promise.all([
    readText(join(folder, "skill.toml"), name, reading),
    readText(join(folder, "SKILL.md"), name, reading),
  ]);
  if (declared === undefined && instructions === undefined) {
    if (!skipped.some(({ skill }) => skill === name)) {
      skipped.push({ skill: name, reason: "neither skill.toml nor SKILL.md in it" });
    }
    return { tools: [] };
  }
  const tools = declared === undefined ? [] : await readTools(declared, name, reading);
  const guide = instructions === undefined ? undefined : readGuide(instructions, folder);
  if (typeof guide === "string") skipped.push({ skill: name, reason: guide });
  return { tools, ...(typeof guide === "object" && { guide }) };
}

async function readText(
  path: string,
  skill: string,
  { stamps, skipped }: Reading,
): Promise<string | undefined> {
  const stats = await stamps.look(path);
  if (!stats) return undefined;
  const refuse = (reason: string) => void skipped.push({ skill, reason: `${path}: ${reason}` });
  if (!stats.isFile()) return refuse("not a file");
  if (writableByAll(stats.mode)) return refuse(`writable by everyone: chmod o-w ${path}`);
  if (stats.size > SKILL_FILE_MAX_BYTES) return refuse(`more than ${SKILL_FILE_MAX_BYTES} bytes`);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    return refuse(messageOf(error));
  }
}

async function readTools(source: string, name: string, reading: Reading): Promise<Loaded[]> {
  const file = readSkillFile(source, name, reading.options.timeoutMs);
  reading.skipped.push(...file.skipped);
  const loaded = await Promise.all(file.tools.map((one) => loadTool(one, name, reading)));
  return loaded.flatMap((one) => one ?? []);
}

async function loadTool(
  definition: ToolDefinition,
  name: string,
  reading: Reading,
): Promise<Loaded | undefined> {
  const { path, bin, environments, engine, held, unsandboxed = [], jobFolder } = reading.options;
  const refuse = (reason: string) =>
    void reading.skipped.push({ skill: name, tool: definition.name, reason });
  const unfit = unfitFor(definition, reading.options);
  if (unfit !== undefined) return refuse(unfit);
  const { steps } = definition;
  if (steps) return loadSteps({ ...definition, steps }, name);
  const sandboxing = definition.sandboxing ?? engine;
  const environment = environments[sandboxing];
  const isAllowed = sandboxing === engine || sandboxing !== "none" || unsandboxed.includes(definition.name);
  if (!environment || !isAllowed) return refuse(noEngine(sandboxing, reading.options));
  const folder = join(path, name);
  const roots = [path, ...(bin === undefined ? [] : [bin])];
  const found = await findProgram(definition, { folder, roots, bin }, reading.stamps);
  if ("reason" in found) return refuse(found.reason);
  return {
    folder: name,
    tool: skillTool({ definition, program: found.program, folder, environment, held, jobFolder }),
    metadata: {
      binary: definition.binary ?? found.program,
      timeout_ms: definition.timeoutMs,
      sandbox: sandboxing !== "none",
      permissions: definition.permissions ?? [],
      version: definition.version,
      skill: definition.skill,
    },
  };
}

function loadSteps(definition: Composition, folder: string): Loaded {
  return {
    folder,
    tool: unboundTool(definition),
    bind: (find) => composedTool(definition, find),
    metadata: {
      binary: "steps",
      timeout_ms: definition.timeoutMs,
      sandbox: false,
      permissions: [],
      version: definition.version,
      skill: definition.skill,
    },
  };
}

/** The seed's rule: one of the tool's permissions is enough, and a tool without permissions is always offered. */
function unfitFor(
  { name, permissions = [], platforms }: ToolDefinition,
  { held, enabled, platform = process.platform }: SkillsOptions,
): string | undefined {
  if (enabled && !enabled.includes(name)) return "enabled in [tools] of agent.toml does not name it";
  if (platforms.length > 0 && !platforms.includes(platform)) {
    return `only for ${platforms.join(", ")}; this is ${platform}`;
  }
  if (held === undefined || permissions.length === 0 || permissions.some((one) => held.includes(one))) {
    return undefined;
  }
  return `needs ${permissions.join(" or ")}; this agent holds ${held.join(", ") || "nothing"}`;
}

function noEngine(engine: SandboxEngine, { environments, lack }: SkillsOptions): string {
  if (engine === "none")
    return "sandboxing: none: this agent runs nothing outside of a sandbox unless its owner says so: unsandboxed in [tools] of agent.toml names the tools that may";
  const there = Object.keys(environments).join(", ") || "no other";
  const why = lack?.(engine);
  return `sandboxing: ${engine} is not available on this agent; it has: ${there}${why === undefined ? "" : ` (${engine}: ${why})`}`;
}

/** Offers the newest version of each name; every version can be called by name and version. */
function byVersion(loaded: readonly Loaded[], skipped: Skipped[]) {
  const newestFirst = loaded.toSorted(
    (a, b) => compareVersions(b.metadata.version, a.metadata.version) || (a.folder < b.folder ? -1 : 1),
  );
  const newest = new Map<string, Loaded>();
  const versions = new Map<string, Tool>();
  for (const one of newestFirst) {
    const { tool, metadata, folder } = one;
    const offered = newest.get(tool.name);
    if (!offered) newest.set(tool.name, one);
    const full = `${tool.name}@${metadata.version}`;
    const callable = metadata.version !== "" && full.length <= FULL_NAME_MAX;
    if (callable && !versions.has(full)) versions.set(full, tool);
    else if (offered) {
      const which = callable ? "of the same version" : "without a version that fits behind its name";
      skipped.push({
        skill: folder,
        tool: tool.name,
        reason: `${which}; the one of '${offered.folder}' is offered`,
      });
    }
  }
  const offered = [...newest.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  return { offered: offered.map(({ folder: _, ...one }) => one), versions };
}

function oneOfEachName(guides: readonly Guide[], skipped: Skipped[]): Guide[] {
  const first = new Map<string, Guide>();
  for (const guide of guides) {
    const other = first.get(guide.name);
    if (!other) first.set(guide.name, guide);
    else
      skipped.push({
        skill: guide.name,
        reason: `SKILL.md: ${guide.folder}: its name is taken by ${other.folder}`,
      });
  }
  return [...first.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Sorts by name, because files are read in no fixed order. */
function byName(a: Skipped, b: Skipped): number {
  const [left, right] = [`${a.skill}/${a.tool ?? ""}`, `${b.skill}/${b.tool ?? ""}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

function tooMany({ tool, metadata }: SkillTool): Skipped {
  return { skill: metadata.skill, tool: tool.name, reason: `more than ${MAX_SKILL_TOOLS} tools of skills` };
}
