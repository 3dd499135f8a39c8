/**
 * All possible tools of this device, in groups with their requirements. Requirements are tested by trying them. A tool that
 * could only fail is not offered, and `tools_list` says why.
 */
import { UPDATE_ACTION } from "@edgecall/core/protocol/versions.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { jobFolderIn } from "../calls/job-files.ts";
import type { ToolSettings } from "../config/settings.ts";
import type { Environment, ExecOps } from "../env/environment.ts";
import { lookFor, NoAnswer } from "../env/probe.ts";
import { append } from "../tools/files/append.ts";
import { applyPatch } from "../tools/files/apply-patch.ts";
import { edit } from "../tools/files/edit.ts";
import { find, glob } from "../tools/files/find.ts";
import { grep } from "../tools/files/grep.ts";
import { ls } from "../tools/files/ls.ts";
import { read } from "../tools/files/read.ts";
import { rgMissing } from "../tools/files/ripgrep.ts";
import { write } from "../tools/files/write.ts";
import { cpu } from "../tools/machine/cpu.ts";
import { disk } from "../tools/machine/disk.ts";
import { gpioMissing } from "../tools/machine/gpio-access.ts";
import { gpioList } from "../tools/machine/gpio-list.ts";
import { gpioRead } from "../tools/machine/gpio-read.ts";
import { gpioWrite } from "../tools/machine/gpio-write.ts";
import { i2cDetect, i2cDetectMissing } from "../tools/machine/i2c-detect.ts";
import { journal, journalMissing } from "../tools/machine/journal.ts";
import { listProcesses } from "../tools/machine/list-processes.ts";
import { memory } from "../tools/machine/memory.ts";
import { networkInfo } from "../tools/machine/network-info.ts";
import { ping, pingMissing } from "../tools/machine/ping.ts";
import { LINUX_ONLY, platformMissing } from "../tools/machine/platforms.ts";
import { services, servicesMissing } from "../tools/machine/services.ts";
import { snapshot, snapshotMissing } from "../tools/machine/snapshot.ts";
import { systemInfo } from "../tools/machine/system-info.ts";
import { temperature, temperatureMissing } from "../tools/machine/temperature.ts";
import { NO_UPDATES, updateSelf } from "../tools/machine/update-self.ts";
import { atNodes } from "../tools/programs/at-nodes.ts";
import { bash } from "../tools/programs/bash.ts";
import { gitBranch } from "../tools/programs/git-branch.ts";
import { gitCommit } from "../tools/programs/git-commit.ts";
import { gitDiff } from "../tools/programs/git-diff.ts";
import { gitLog } from "../tools/programs/git-log.ts";
import { gitMissing } from "../tools/programs/git-run.ts";
import { gitStatus } from "../tools/programs/git-status.ts";
import { jobs } from "../tools/programs/jobs.ts";
import { nodes, nodesMissing } from "../tools/programs/nodes.ts";
import { question } from "../tools/session/question.ts";
import { todo } from "../tools/session/todo.ts";
import { alone, always, type Group, group, missing } from "./group.ts";
import { pageAndPictureGroups } from "./pages-and-pictures.ts";
import type { MachinePlaces, Places, ToolboxState } from "./places.ts";

/** All groups except those of the machine itself. */
export function workGroups(
  places: Places,
  settings: ToolSettings,
  state: Pick<ToolboxState, "llm" | "jobs">,
  closing: (close: () => Promise<void>) => void,
): Group[] {
  const { environment } = places.work;
  return [
    ...fileGroups(environment, places, settings),
    ...shellGroups(places, settings),
    ...webGroups(settings),
    ...pageAndPictureGroups(environment, settings, state, closing),
    alone(nodes(places.nodes, environment), () => nodesMissing(places.local.exec)),
    always([jobs(state), question(), ...todo(places)]),
  ];
}

export function machineGroups(
  { local: { exec }, root, held }: MachinePlaces,
  { gpio, updates }: ToolSettings,
): Group[] {
  const place = { exec, root };
  const pins = gpio.pins && { pins: gpio.pins };
  return [
    group([temperature(place)], async () => platformMissing(LINUX_ONLY) ?? (await temperatureMissing(place))),
    group(kernelFigures(place), async () => platformMissing(LINUX_ONLY)),
    group([ping({ exec })], () => pingMissing(exec)),
    group([services({ exec })], () => servicesMissing(place)),
    group([journal({ exec })], () => journalMissing(place)),
    group(
      [gpioList({ exec }), gpioRead({ exec, held }), gpioWrite({ exec, held, chips: gpio.chips, ...pins })],
      () => gpioMissing(exec),
    ),
    group([i2cDetect(place)], () => i2cDetectMissing(place)),
    group([snapshot(place)], () => snapshotMissing(place)),
    updates ? alone(updateSelf(updates)) : missing([UPDATE_ACTION], NO_UPDATES),
  ];
}

/** Tools that read the kernel's files below `root`. For tests: the agent takes `machineGroups`. */
export function kernelTools(place: { root: string; exec?: ExecOps }): Tool[] {
  return [temperature(place), ...kernelFigures(place)];
}

/** Those of the kernel tools that work on every kernel. */
function kernelFigures(place: { root: string; exec?: ExecOps }): Tool[] {
  return [...[cpu, memory, disk, networkInfo, listProcesses].map((make) => make(place)), systemInfo(place)];
}

/** Reads need no process: the path guard protects against programs that run in the sandbox meanwhile. */
function fileGroups(environment: Environment, places: Places, settings: ToolSettings): Group[] {
  const { work } = places;
  const searching = async () => (await work.missing()) ?? (await rgMissing(environment));
  const here = [ls(environment), append(environment), applyPatch(environment)];
  const there = remoteOnly(places, settings);
  if (there)
    return [
      always(here),
      group(inSandbox(environment, [glob(environment)]), searching),
      ...remoteGroups(there, places, settings),
    ];
  const atAny = whereverTheyCan(environment, places, settings);
  return [
    always([...atAny(fileTools(settings)), ...here]),
    group([...inSandbox(environment, [glob(environment)]), ...atAny(searchTools)], searching),
  ];
}

function shellGroups(places: Places, settings: ToolSettings): Group[] {
  const { bash, git } = places.engines;
  const atAny = whereverTheyCan(bash.environment, places, settings);
  const forGit = git.environment;
  const gitTools = [gitStatus, gitDiff, gitCommit, gitLog, gitBranch].map((make) => make(forGit));
  return [
    ...(remoteOnly(places, settings)
      ? []
      : [group(atAny(shellTools(places, settings)), () => bash.missing())]),
    group(inSandbox(forGit, gitTools), async () => (await git.missing()) ?? (await gitMissing(forGit))),
  ];
}

/** Returns the only machine of the preset `remote`. */
function remoteOnly({ nodes }: Places, { nodes: { only } }: ToolSettings): Environment | undefined {
  return only === undefined ? undefined : nodes.environment(only);
}

/** The tools of the preset `remote`. While the machine cannot be reached they are not offered, and never made for this device. */
function remoteGroups(there: Environment, places: Places, settings: ToolSettings): Group[] {
  const reached = async () => {
    await there.files.stat(".").catch((error: unknown) => {
      throw new NoAnswer(messageOf(error));
    });
    return undefined;
  };
  const hasBash = async () => {
    const tried = await lookFor(there.exec, ["bash", "-c", ":"]);
    return tried?.exitCode === 0 ? undefined : `no bash on '${there.name}'`;
  };
  return [
    group(fileTools(settings)(there), reached),
    group(shellTools(places, settings)(there), hasBash),
    group(searchTools(there), () => rgMissing(there)),
  ];
}

const fileTools =
  ({ maxReadBytes: maxBytes, maxReadLines: maxLines }: ToolSettings) =>
  (at: Environment): Tool[] => [read(at, { maxBytes, maxLines }), write(at), edit(at)];

const searchTools = (at: Environment): Tool[] => inSandbox(at, [grep(at), find(at)]);

/** Says of the tools that their programs run in a sandbox, where they do. */
function inSandbox({ kind }: Environment, tools: Tool[]): Tool[] {
  return kind === "sandbox" ? tools.map((tool) => ({ ...tool, sandbox: true })) : tools;
}

const shellTools =
  (
    { spillDir, stateDir }: Pick<Places, "spillDir" | "stateDir">,
    { bashTimeoutMs: timeoutMs, readable, grants }: ToolSettings,
  ) =>
  (at: Environment): Tool[] =>
    inSandbox(at, [
      bash(at, {
        timeoutMs,
        spill: { folder: spillDir },
        guard: { root: at.cwd, readable, onDanger: "ask" },
        grants,
        jobFolder: jobFolderIn(stateDir),
      }),
    ]);

/** Adds the argument `node` only when machines are known or the tool that adds them is offered. */
function whereverTheyCan(home: Environment, { nodes }: Places, { enabled }: ToolSettings) {
  const canBe = nodes.list().length > 0 || (enabled?.includes("nodes") ?? true);
  return (make: (environment: Environment) => Tool[]): Tool[] =>
    canBe ? atNodes(home, nodes, make) : make(home);
}

function webGroups({ web }: ToolSettings): Group[] {
  if (!web) return [missing([...WEB_NAMES, "websearch"], NO_WEB)];
  return [
    {
      names: WEB_NAMES,
      missing: async () => undefined,
      make: async () => (await import("../tools/web/web.ts")).webTools(web),
    },
    {
      names: ["websearch"],
      missing: async () => (await import("../tools/web/web.ts")).websearchMissing(web),
      make: () => [],
    },
  ];
}

const WEB_NAMES = ["webfetch", "codesearch"];
const NO_WEB =
  "the gateway has it, where there is no home network to reach; enabled = true in [tools.web] of agent.toml offers it here as well";
