/** The tools of this device: its own and those of skills, where each runs, and why some are missing. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Permission, Tool } from "@edgecall/core/tools/contract.ts";
import type { Log } from "@edgecall/node/log.ts";
import { jobFolderIn } from "../calls/job-files.ts";
import type { Unavailable } from "../calls/offered-tools.ts";
import type { Settings } from "../config/settings.ts";
import { withProgramCheck } from "../env/absent-programs.ts";
import { boundedWrites } from "../env/bounded-writes.ts";
import type { Environment } from "../env/environment.ts";
import { local } from "../env/local.ts";
import { Nodes } from "../env/nodes/nodes.ts";
import { type Engine, type SandboxEngine, sandboxEngine } from "../env/sandbox/sandbox-engine.ts";
import { SANDBOX_LIMITS } from "../env/sandbox/sandbox-profile.ts";
import type { SkillsOptions } from "../skills/load-skills.ts";
import { skill, skillMissing } from "../skills/skill-loader.ts";
import { Skills } from "../skills/skills.ts";
import { HeldLines } from "../tools/machine/gpio-held-lines.ts";
import { task, taskMissing } from "../tools/session/task.ts";
import { machineGroups, workGroups } from "./all.ts";
import { alone, type Group } from "./group.ts";
import { openMcp } from "./mcp.ts";
import { namesWithoutTool } from "./names-without-tool.ts";
import type { MachinePlaces, Places, ToolboxState } from "./places.ts";
import { type Probed, Probes } from "./probes.ts";
import type { SkillSource } from "./tool-catalog.ts";

export type Toolbox = {
  /** The device's own tools, which take precedence over a skill's tool of the same name. */
  tools: readonly Tool[];
  unavailable: readonly Unavailable[];
  skills: SkillSource;
  /** With `[serve]`: where other agents work. */
  served?: Environment | undefined;
  /** Calls the listener when `tools` changed: a program answered late, or an MCP server connected with other tools. */
  onChange?(listener: () => void): void;
  /** Releases what tools hold between calls. */
  close(): Promise<void>;
};

/** @param more further tools; a later one replaces an earlier one of the same name */
export async function openToolbox(
  settings: Settings,
  state: ToolboxState,
  more: readonly Tool[] = [],
  log: Log = () => {},
): Promise<Toolbox> {
  const here = await machineOf(settings);
  const { places, skills, skillsCanRun } = await workOf(here, settings);
  const served = settings.serve && servedPlace(here, settings);
  const closing: Array<() => Promise<void>> = [];
  const groups = [
    ...skillsCanRun,
    ...machineGroups(here, settings.tools),
    ...workGroups(places, settings.tools, state, (close) => closing.push(close)),
    alone(task(state, settings), () => taskMissing(settings.llm)),
    alone(skill(state), () => skillMissing(skills.current.guides, settings.tools.skillsPath)),
    ...more.map((tool) => alone(tool)),
  ];
  const listeners = new Set<() => void>();
  const probes = new Probes(groups, {
    log,
    changed() {
      own = offered(probes.all, settings);
      for (const listener of listeners) listener();
    },
  });
  await probes.start();
  let own = offered(probes.all, settings);
  const mcp = await openMcp(settings, places, (tool) => leftOut(tool, settings), log);
  const withoutTool = () => {
    const names = [...mcp.names(settings), ...groups.flatMap(({ names }) => names)];
    return namesWithoutTool(settings, names, skills.current);
  };
  for (const { why } of withoutTool()) log("warn", "settings.no_such_tool", { error: why });
  const unwatch = skills.watch();
  return {
    get tools() {
      return mcp.withOwn(own.tools);
    },
    get unavailable() {
      return [...own.unavailable, ...mcp.unavailable(), ...withoutTool()];
    },
    skills,
    served,
    onChange(listener) {
      listeners.add(listener);
      mcp.onChange(listener);
    },
    async close() {
      probes.close();
      unwatch();
      await mcp.close();
      await Promise.all([places.held.close(), places.nodes.close(), ...closing.map((close) => close())]);
      await Promise.all([places.local.close(), places.work.environment.close(), served?.close()]);
    },
  };
}

/** The kernel holds the size of a file. A little more than a call may write, so that the reason is told. */
function fileLimit({ callBytes }: Settings["tools"]["writes"]): { fileBytes: number } {
  return { fileBytes: Math.min(SANDBOX_LIMITS.fileBytes, callBytes + 1024 ** 2) };
}

async function machineOf({
  root,
  stateDir,
  tools: { workspace, readable, writes },
}: Settings): Promise<MachinePlaces> {
  const spillDir = join(stateDir, "spill");
  await Promise.all([workspace, spillDir].map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  // Output that was too long to show can be read from its file.
  const minFreeBytes = writes.freeBytes;
  const plain = local({ cwd: workspace, readable: [...readable, spillDir], root, minFreeBytes });
  const here = { ...plain, exec: withProgramCheck(plain.exec) };
  return { local: here, held: new HeldLines(here.exec), spillDir, stateDir, root };
}

/** The workspace in a sandbox of the same kind, without what belongs to this agent's own callers: long outputs, skills. */
function servedPlace(
  { stateDir }: MachinePlaces,
  { root, tools: { workspace, readable, sandbox, writes } }: Settings,
): Environment {
  const { environment } = sandboxEngine(sandbox, {
    workspace,
    readable,
    stateDir,
    limits: fileLimit(writes),
  });
  const { files } = local({ cwd: workspace, readable, root, minFreeBytes: writes.freeBytes });
  return { ...environment, files, exec: boundedWrites(environment.exec, workspace, writes) };
}

/** Opens the place where programs run, and the skills that run there once it works. */
async function workOf(
  here: MachinePlaces,
  { tools, permissions }: Settings,
): Promise<{ places: Places; skills: Skills; skillsCanRun: Group[] }> {
  const { workspace, sandbox, skillsPath, binPath } = tools;
  // The sandbox can read the skills' folder, because their programs run from there.
  const readable = [
    ...tools.readable,
    here.spillDir,
    skillsPath,
    ...(binPath === undefined ? [] : [binPath]),
  ];
  const engineOf = (kind: SandboxEngine): Engine => {
    const engine = sandboxEngine(kind, {
      workspace,
      readable,
      stateDir: here.stateDir,
      limits: fileLimit(tools.writes),
    });
    return {
      environment: {
        ...engine.environment,
        files: here.local.files,
        exec: boundedWrites(engine.environment.exec, workspace, tools.writes),
      },
      missing: () => engine.missing(),
      get lack() {
        return engine.lack;
      },
    };
  };
  const engines = new Map<SandboxEngine, Engine>();
  const shared = (kind: SandboxEngine): Engine => {
    const engine = engines.get(kind) ?? engineOf(kind);
    engines.set(kind, engine);
    return engine;
  };
  const work = shared(sandbox);
  const ofTools = {
    bash: shared(tools.engines.bash ?? sandbox),
    git: shared(tools.engines.git ?? sandbox),
  };
  // Without a sandbox, for skill tools that the owner names: in the workspace, with the same limits.
  const plain = here.local.exec;
  const environments: SkillsOptions["environments"] =
    tools.unsandboxed.length === 0
      ? {}
      : { none: { ...here.local, exec: boundedWrites(plain, workspace, tools.writes) } };
  const skills = await Skills.open({
    path: skillsPath,
    bin: binPath,
    workspace,
    environments,
    engine: sandbox,
    // Trying a kind means starting it, so besides the agent's own only kinds that a skill names are tried.
    lack: (kind) => shared(kind).lack,
    unsandboxed: tools.unsandboxed,
    held: permissions,
    enabled: tools.enabled,
    timeoutMs: tools.timeoutMs,
    jobFolder: jobFolderIn(here.stateDir),
  });
  const skillsCanRun = [...engines].map(
    ([kind, engine]): Group => ({
      names: [],
      async missing() {
        try {
          return await engine.missing();
        } finally {
          // So that the skills' tools can report why they are missing.
          if (engine.lack !== undefined) await skills.reload();
        }
      },
      async make() {
        environments[kind] = engine.environment;
        await skills.reload();
        return [];
      },
    }),
  );
  const nodes = await Nodes.open(join(here.stateDir, "nodes.json"), tools.nodes);
  return { places: { ...here, work, engines: ofTools, nodes }, skills, skillsCanRun };
}

function offered(
  probed: readonly Probed[],
  settings: Settings,
): { tools: Tool[]; unavailable: Unavailable[] } {
  const tools = new Map<string, Tool>();
  const unavailable = new Map<string, string>();
  for (const group of probed) {
    for (const name of group.names) if (group.why !== undefined) unavailable.set(name, group.why);
    for (const tool of group.tools) {
      const refused = leftOut(tool, settings);
      if (refused === undefined) tools.set(tool.name, tool);
      else unavailable.set(tool.name, refused);
    }
  }
  for (const name of tools.keys()) unavailable.delete(name);
  return {
    tools: [...tools.values()],
    unavailable: [...unavailable]
      .map(([name, why]) => ({ name, why }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** @returns why the settings leave a tool out */
export function leftOut(tool: Tool, { permissions, tools }: Settings): string | undefined {
  return notHeld(tool, permissions) ?? notEnabled(tool, tools.enabled);
}

/** The seed's capability filter: returns why a tool that needs an unlisted permission is left out. */
function notHeld(tool: Tool, held: readonly Permission[] | undefined): string | undefined {
  const needs = tool.permissions ?? (tool.permission ? [tool.permission] : []);
  if (held === undefined || needs.length === 0 || needs.some((need) => held.includes(need))) return undefined;
  return `it needs ${needs.join(" or ")}, and capabilities in [agent] of agent.toml does not have it`;
}

function notEnabled(tool: Tool, enabled: readonly string[] | undefined): string | undefined {
  return enabled === undefined || enabled.includes(tool.name)
    ? undefined
    : "enabled in [tools] of agent.toml does not name it";
}
