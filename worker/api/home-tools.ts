/** Tools that a home runs itself, for the model of a conversation or of a device. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import type { Viewer } from "./may-see.ts";
import type { NewOrigin } from "./turns.ts";

export const HOME_TOOLS = [
  "agents_list",
  "find_agents",
  "session_status",
  "sessions_history",
  "sessions_list",
  "sessions_send",
  "sessions_spawn",
] as const;
export type HomeToolName = (typeof HOME_TOOLS)[number];

export type HomeToolRequest = {
  /** The call's UUID. The same id is the same call. */
  id: string;
  name: HomeToolName;
  args: Record<string, unknown>;
  /** Why the arguments could not be read. */
  problem?: string;
  /** Whose eyes it has: of a person's turn the person's; of a device `agent:NAME`, a guest. */
  viewer: Viewer;
  /** `call`: as the conversation knows it. `depth`: how many sessions are above it. */
  from: { conversation: string | null; call: string; depth: number };
  /** Of a turn that the tool begins. */
  origin: Pick<NewOrigin, "principal" | "role" | "channel" | "limits" | "model">;
  /** The sources of the words that the arguments may repeat. */
  sources: Source[];
  /** Tokens. */
  budgetLeft?: number;
  /** Sessions of this conversation that have not ended. */
  running?: number;
};

/** `waitsUntil` (epoch ms): the outcome comes over `sessionEnded`, at the latest then. */
export type HomeToolReply = { outcome: Outcome } | { waitsUntil: number };
