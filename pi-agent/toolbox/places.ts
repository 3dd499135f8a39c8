import type { CurrentState } from "../calls/current-state.ts";
import type { Environment } from "../env/environment.ts";
import type { Nodes } from "../env/nodes/nodes.ts";
import type { Engine } from "../env/sandbox/sandbox-engine.ts";
import type { Guide } from "../skills/skill-guide.ts";
import type { HeldLines } from "../tools/machine/gpio-held-lines.ts";

/** The places where tools run, and the things that they may use. */
export type Places = MachinePlaces & {
  /** Uses the workspace's files directly, and runs programs in the sandbox. */
  work: Engine;
  /** Runs the programs of `bash` and of the git tools, which may be other sandboxes. */
  engines: { bash: Engine; git: Engine };
  /** Other machines, reached by ssh or HTTP. */
  nodes: Nodes;
};

export type MachinePlaces = {
  /** This machine, for the machine tools, which cannot run a shell. */
  local: Environment;
  held: HeldLines;
  /** The folder for output that is too long to show. */
  spillDir: string;
  stateDir: string;
  /** The root for reading /proc, /sys and /etc. */
  root: string;
};

/** The agent's present state, with the guides of the enabled skills. */
export type ToolboxState = CurrentState & { readonly guides: readonly Guide[] };
