/** All tools that an agent can have, also those that this machine lacks programs for. They are never called, so they need nothing to work with. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { readSettings } from "../config/settings.ts";
import { local } from "../env/local.ts";
import { Nodes } from "../env/nodes/nodes.ts";
import { skill } from "../skills/skill-loader.ts";
import { machineGroups, workGroups } from "../toolbox/all.ts";
import { HeldLines } from "../tools/machine/gpio-held-lines.ts";
import { task } from "../tools/session/task.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-every-tool-"));
const limits = { maxModelCalls: 1, maxFailedBatches: 1, maxParallel: 1 };
export const state = { llm: undefined, limits, tools: [], guides: [] };

/** Switches on everything that is off by default. */
export const { settings } = readSettings(
  'agent_id = "x"\n[tools]\nskills_path = "none"\n[tools.web]\nenabled = true\nbrave_api_key = "k"',
  { file: join(folder, "agent.toml"), env: { STATE_DIRECTORY: folder, EDGECALL_UPDATES: join(folder, "u") } },
);

/** @returns the tools and what closes them */
export async function everyTool(): Promise<{ tools: Tool[]; close(): Promise<void> }> {
  const here = local({ cwd: folder });
  const closing: Array<() => Promise<void>> = [];
  const machine = {
    local: here,
    held: new HeldLines(here.exec),
    spillDir: folder,
    stateDir: folder,
    root: "/",
  };
  const work = { environment: here, missing: async () => undefined, lack: undefined };
  const groups = [
    ...machineGroups(machine, settings.tools),
    ...workGroups(
      {
        ...machine,
        work,
        engines: { bash: work, git: work },
        nodes: await Nodes.open(join(folder, "nodes.json")),
      },
      settings.tools,
      state,
      (close) => closing.push(close),
    ),
  ];
  const made = await Promise.all(groups.map((group) => group.make()));
  return {
    tools: [...made.flat(), task(state, machine), skill(state)],
    close: async () => {
      await Promise.all([here.close(), ...closing.map((close) => close())]);
    },
  };
}
