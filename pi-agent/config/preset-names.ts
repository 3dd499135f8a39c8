/** The tools of each preset. `[tools] preset` offers these; `presets.ts` makes them for a folder. */
export const PRESETS = {
  coding: ["read", "bash", "edit", "write"],
  read_only: ["read", "grep", "find"],
  all: ["read", "bash", "edit", "write", "grep", "find"],
  /** The six on the machine that `[tools] node` names. */
  remote: ["read", "bash", "edit", "write", "grep", "find"],
} as const satisfies Record<string, readonly string[]>;
type Preset = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as Preset[];
