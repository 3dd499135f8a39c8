/** How a run of a rule that acts ended, in words. */
import type { TextKey } from "../texts/say.ts";
import type { Automation } from "./automation.ts";

type Run = NonNullable<Automation["now"]>["runs"][number];

export const RUN_STATES: Record<Run["state"], TextKey> = {
  running: "isRunning",
  done: "runDone",
  stopped: "runStopped",
  not_run: "runNot",
  undone: "runUndone",
};
