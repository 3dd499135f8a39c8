/**
 * Every tool that this device could have, in groups, each with what it needs. What is missing is found out by
 * trying it: a tool that could only fail is not offered, and `tools_list` says why.
 */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { Environment, ExecOps } from "../env/environment.ts";
import type { Engine } from "../env/sandbox-engine.ts";
import type { ToolSettings } from "../settings.ts";
import { append } from "./append.ts";
import { applyPatch } from "./apply-patch.ts";
import { bash } from "./bash.ts";
import { cpu } from "./cpu.ts";
import { disk } from "./disk.ts";
import { edit } from "./edit.ts";
import { find } from "./find.ts";
import { gitBranch } from "./git-branch.ts";
import { gitCommit } from "./git-commit.ts";
import { gitDiff } from "./git-diff.ts";
import { gitLog } from "./git-log.ts";
import { gitMissing } from "./git-run.ts";
import { gitStatus } from "./git-status.ts";
import { glob } from "./glob.ts";
import { gpioMissing } from "./gpio-access.ts";
import type { HeldLines } from "./gpio-held-lines.ts";
import { gpioList } from "./gpio-list.ts";
import { gpioRead } from "./gpio-read.ts";
import { gpioWrite } from "./gpio-write.ts";
import { grep } from "./grep.ts";
import { i2cDetect, i2cDetectMissing } from "./i2c-detect.ts";
import { journal, journalMissing } from "./journal.ts";
import { listProcesses } from "./list-processes.ts";
import { ls } from "./ls.ts";
import { memory } from "./memory.ts";
import { networkInfo } from "./network-info.ts";
import { ping, pingMissing } from "./ping.ts";
import { LINUX_ONLY, platformMissing } from "./platforms.ts";
import { question } from "./question.ts";
import { read } from "./read.ts";
import { rgMissing } from "./ripgrep.ts";
import { services, servicesMissing } from "./services.ts";
import { snapshot, snapshotMissing } from "./snapshot.ts";
import { systemInfo } from "./system-info.ts";
import { temperature } from "./temperature.ts";
import { todo } from "./todo.ts";
import { websearchMissing, webTools } from "./web.ts";
import { write } from "./write.ts";

/** Tools that stand or fall together. */
export type Group = {
  names: readonly string[];
  /** Why they cannot be offered, in words; undefined when they can. */
  missing(): Promise<string | undefined>;
  make(): Tool[];
};

/** Where tools are, and what they may use. */
export type Places = {
  /** This machine: the machine's own tools, which are no shell. */
  local: Environment;
  /** Files of the workspace directly, programs in the sandbox; or why there is none. */
  work: Engine;
  held: HeldLines;
  /** Where output goes that is too much to show. */
  spillDir: string;
  stateDir: string;
  /** /proc, /sys and /etc are read below it. */
  root: string;
};

export function deviceGroups(places: Places, settings: ToolSettings): Group[] {
  return [
    ...machineGroups(places, settings),
    ...fileGroups(places, settings),
    ...shellGroups(places, settings),
    ...webGroups(settings),
    always([question(), ...todo(places)]),
  ];
}

function machineGroups({ local: { exec }, root, held }: Places, { gpio }: ToolSettings): Group[] {
  const place = { exec, root };
  const pins = gpio.pins && { pins: gpio.pins };
  return [
    group(kernelTools(place), async () => platformMissing(LINUX_ONLY)),
    group([ping({ exec })], () => pingMissing(exec)),
    group([services({ exec })], () => servicesMissing(place)),
    group([journal({ exec })], () => journalMissing(place)),
    group(
      [gpioList({ exec }), gpioRead({ exec, held }), gpioWrite({ exec, held, chips: gpio.chips, ...pins })],
      () => gpioMissing(exec),
    ),
    group([i2cDetect(place)], () => i2cDetectMissing(place)),
    group([snapshot(place)], () => snapshotMissing(place)),
  ];
}

/** What the kernel tells of itself, below `root`. */
export function kernelTools(place: { root: string; exec?: ExecOps }): Tool[] {
  const tools = [temperature, cpu, memory, disk, networkInfo, listProcesses].map((make) => make(place));
  return [...tools, systemInfo(place)];
}

/** A read costs no process: the guard of local files holds against what runs in the sandbox meanwhile. */
function fileGroups({ local, work }: Places, settings: ToolSettings): Group[] {
  const environment = work.ok ? work.environment : local;
  const searching = async () => (work.ok ? await rgMissing(environment) : work.missing);
  return [
    always([
      read(environment, { maxBytes: settings.maxReadBytes, maxLines: settings.maxReadLines }),
      ls(environment),
      write(environment),
      append(environment),
      edit(environment),
      applyPatch(environment),
    ]),
    group([glob(environment), grep(environment), find(environment)], searching),
  ];
}

function shellGroups({ work, local, spillDir }: Places, settings: ToolSettings): Group[] {
  const environment = work.ok ? work.environment : local;
  const here = async () => (work.ok ? undefined : work.missing);
  const shell = bash(environment, {
    timeoutMs: settings.bashTimeoutMs,
    spill: { folder: spillDir },
    guard: { root: environment.cwd, readable: settings.readable, onDanger: "ask" },
    grants: settings.grants,
  });
  const git = [gitStatus, gitDiff, gitCommit, gitLog, gitBranch].map((make) => make(environment));
  return [group([shell], here), group(git, async () => (await here()) ?? (await gitMissing(environment)))];
}

function webGroups({ web }: ToolSettings): Group[] {
  if (!web) return [missing(["webfetch", "websearch", "codesearch"], NO_WEB)];
  const tools = webTools(web);
  return [always(tools), { names: ["websearch"], missing: () => websearchMissing(web), make: () => [] }];
}

const NO_WEB =
  "the gateway has it, where there is no home network to reach; enabled = true in [tools.web] of agent.toml offers it here as well";

/** A tool by itself. @param isMissing what it needs; nothing when absent */
export function alone(
  tool: Tool,
  isMissing: () => Promise<string | undefined> = async () => undefined,
): Group {
  return group([tool], isMissing);
}

function always(tools: Tool[]): Group {
  return group(tools, async () => undefined);
}

function missing(names: string[], why: string): Group {
  return { names, missing: async () => why, make: () => [] };
}

function group(tools: Tool[], isMissing: () => Promise<string | undefined>): Group {
  return { names: tools.map(({ name }) => name), missing: isMissing, make: () => tools };
}
