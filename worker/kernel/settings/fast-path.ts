/** Whether plain sentences are answered without a model where there is one. */
import type { Env } from "../env.ts";
import { SettingsError } from "./settings-error.ts";

/** `reads`: questions alone. `off`: only where no model answers. */
export type FastPath = "all" | "reads" | "off";

/** @throws SettingsError */
export function readFastPath({ FAST_PATH: text = "" }: Pick<Env, "FAST_PATH">): FastPath {
  const value = text.trim() || "all";
  if (value === "all" || value === "reads" || value === "off") return value;
  throw new SettingsError(`FAST_PATH: expected all, reads or off, got '${text}'`);
}
