/** The agent's present model, limits, tools and jobs. They change while it runs, so a tool reads them at each call. */
import type { LoopLimits } from "@edgecall/core/loop/next.ts";
import type { ModelSettings } from "@edgecall/core/loop/request.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { JobList } from "./jobs.ts";

export type CurrentState = {
  /** Undefined: no model. */
  readonly llm: ModelSettings | undefined;
  readonly limits: LoopLimits;
  /** All tools that this agent offers. */
  readonly tools: readonly Tool[];
  /** Absent outside of an agent. */
  readonly jobs?: JobList;
};
