/** Words for the ends of runs of rules that act. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { TextKey } from "./texts/say.ts";

type Run = NonNullable<AnswerOf<"GET /v1/automations">["automations"][number]["now"]>["runs"][number];

export const RUN_STATES: Record<Run["state"], TextKey> = {
  running: "isRunning",
  done: "runDone",
  stopped: "runStopped",
  not_run: "runNot",
  undone: "runUndone",
};
