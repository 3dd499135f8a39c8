/** The tools of this device: its own and those of skills, where each of them runs, and why some are not there. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ModelSettings } from "@edgecall/core/loop/model.ts";
import type { LoopLimits } from "@edgecall/core/loop/next.ts";
import type { Permission, Tool } from "@edgecall/core/tools/contract.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Settings } from "../config/settings.ts";
import { refusingAbsent } from "../env/absent-programs.ts";
import { boundedWrites } from "../env/bounded-writes.ts";
import { local } from "../env/local.ts";
import { Nodes } from "../env/nodes.ts";
import { type Engine, type SandboxEngine, sandboxEngine } from "../env/sandbox/sandbox-engine.ts";
import { openMcp } from "../mcp/offer.ts";
import type { SkillsOptions } from "../skills/load-skills.ts";
import type { Guide } from "../skills/skill-guide.ts";
import { Skills } from "../skills/skills.ts";
import { HeldLines } from "../tools/machine/gpio-held-lines.ts";
import { skill, skillMissing } from "../tools/session/skill.ts";
import { task, taskMissing } from "../tools/session/task.ts";
import { alone, type Group, type MachinePlaces, machineGroups, type Places, workGroups } from "./all.ts";
import { namesWithoutTool } from "./names-without-tool.ts";
import type { SkillSource } from "./offer.ts";
import { type Probed, Probes } from "./probes.ts";

export type Unavailable = { name: string; why: string };

export type Toolbox = {
  /** The device's own; a skill's tool of the same name stands behind them. */
  tools: readonly Tool[];
  unavailable: readonly Unavailable[];
  skills: SkillSource;
  /** Called when `tools` became others: a program answered late, an MCP server came, or came back with other tools. */
  onChange?(listener: () => void): void;
  /** Lets go of what tools hold beyond their calls. */
  close(): Promise<void>;
};

/** What tools need that is known once the agent runs, and changes while it does. */
export type Later = {
  llm(): ModelSettings | undefined;
  limits(): LoopLimits;
  /** All that this agent offers. */
  tools(): readonly Tool[];
  /** Of the skills that are enabled. */
  guides(): readonly Guide[];
};

/** @param more tools beside the device's own; the later of one name wins */
export async function openToolbox(
  settings: Settings,
  later: Later,
  more: readonly Tool[] = [],
  log: Log = () => {},
): Promise<Toolbox> {
  const here = await machineOf(settings);
  const { places, skills, skillsCanRun } = await workOf(here, settings);
  const closing: Array<() => Promise<void>> = [];
  const groups = [
    ...skillsCanRun,
    ...machineGroups(here, settings.tools),
    ...workGroups(places, settings.tools, later, (close) => closing.push(close)),
    alone(task(later), () => taskMissing(settings.llm)),
    alone(skill(later.guides), () => skillMissing(skills.current.guides, settings.tools.skillsPath)),
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
  const mcp = await openMcp(
    settings,
    places,
    (tool) => notHeld(tool, settings.permissions) ?? notEnabled(tool, settings.tools.enabled),
  );
  const withoutTool = () => {
    const names = [...mcp.names(settings), ...groups.flatMap(({ names }) => names)];
    return namesWithoutTool(settings, names, skills.current);
  };
  for (const { why } of withoutTool()) log("warn", "settings.no_such_tool", { error: why });
  const unwatch = skills.watch();
  return {
    get tools() {
      return mcp.beside(own.tools);
    },
    get unavailable() {
      return [...own.unavailable, ...mcp.unavailable(), ...withoutTool()];
    },
    skills,
    onChange(listener) {
      listeners.add(listener);
      mcp.onChange(listener);
    },
    async close() {
      probes.close();
      unwatch();
      await mcp.close();
      await Promise.all([places.held.close(), places.nodes.close(), ...closing.map((close) => close())]);
      await Promise.all([places.local.close(), places.work.environment.close()]);
    },
  };
}

async function machineOf({
  root,
  stateDir,
  tools: { workspace, readable, writes },
}: Settings): Promise<MachinePlaces> {
  const spillDir = join(stateDir, "spill");
  await Promise.all([workspace, spillDir].map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  // What was too much to show can be read on.
  const minFreeBytes = writes.freeBytes;
  const plain = local({ cwd: workspace, readable: [...readable, spillDir], root, minFreeBytes });
  const here = { ...plain, exec: refusingAbsent(plain.exec) };
  return { local: here, held: new HeldLines(here.exec), spillDir, stateDir, root };
}

/** The place where programs run, and the skills that run there once it works. */
async function workOf(
  here: MachinePlaces,
  { tools, permissions }: Settings,
): Promise<{ places: Places; skills: Skills; skillsCanRun: Group[] }> {
  const { workspace, sandbox, skillsPath, binPath } = tools;
  // Skills are read in the sandbox as well: their programs are run from where they are.
  const readable = [
    ...tools.readable,
    here.spillDir,
    skillsPath,
    ...(binPath === undefined ? [] : [binPath]),
  ];
  const engineOf = (kind: SandboxEngine): Engine => {
    const engine = sandboxEngine(kind, { workspace, readable, stateDir: here.stateDir });
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
  const work = engineOf(sandbox);
  const engines = new Map<SandboxEngine, Engine>([[sandbox, work]]);
  // Without a sandbox, for the skills' tools that their owner names: in the workspace, and bounded like all others.
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
    // Trying a kind costs a start of it: beside the agent's own, only those are tried that a skill names.
    lack(kind) {
      if (!engines.has(kind)) engines.set(kind, engineOf(kind));
      return engines.get(kind)?.lack;
    },
    unsandboxed: tools.unsandboxed,
    held: permissions,
    enabled: tools.enabled,
    timeoutMs: tools.timeoutMs,
  });
  const skillsCanRun = [...engines].map(
    ([kind, engine]): Group => ({
      names: [],
      async missing() {
        try {
          return await engine.missing();
        } finally {
          // So that the skills' tools tell why they are not there.
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
  const { knownHosts } = tools.nodes;
  const nodes = await Nodes.open(join(here.stateDir, "nodes.json"), knownHosts ? { knownHosts } : {});
  return { places: { ...here, work, nodes }, skills, skillsCanRun };
}

function offered(
  probed: readonly Probed[],
  { tools: { enabled }, permissions }: Settings,
): { tools: Tool[]; unavailable: Unavailable[] } {
  const tools = new Map<string, Tool>();
  const unavailable = new Map<string, string>();
  for (const group of probed) {
    for (const name of group.names) if (group.why !== undefined) unavailable.set(name, group.why);
    for (const tool of group.tools) {
      const refused = notHeld(tool, permissions) ?? notEnabled(tool, enabled);
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

/** The seed's capability filter: with a list, what needs something that is not in it is not there. */
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
