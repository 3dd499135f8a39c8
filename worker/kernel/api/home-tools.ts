/** Tools that a home runs itself, for the model of a conversation or of a device. */
import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { Source } from "@edgecall/core/loop/taint.ts";
import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import type { ToolDefinition } from "@edgecall/core/tools/registry.ts";
import type { Settings } from "../settings/settings.ts";
import { FIND_AGENTS, type RoomUsed } from "./edge-call.ts";
import { findAgentsTool } from "./find-agents.ts";
import type { Viewer } from "./may-see.ts";
import type { NewOrigin } from "./turns.ts";

/** Tools of a feature that a home runs. The kernel has one more, `find_agents`. */
export type HomeTools = {
  /** By name. */
  readonly all: Readonly<Record<string, Pick<Tool, "name" | "description" | "input">>>;
  /** For a model, as short as they can be, since they are in every model call. @param isLarge the home has too many agents to list */
  definitions(isLarge: boolean): ToolDefinition[];
  readonly roomUsed: RoomUsed;
  /** For connected programs, which may name actions. Absent: they have none of these. */
  readonly forPrograms?: {
    /** By the tool's name. */
    readonly titles: Readonly<Record<string, string>>;
    isOffered(settings: Settings): boolean;
  };
};

/** A feature in the list of one of the two objects. */
export type WithTools<Tools extends HomeTools = HomeTools> = { readonly tools?: Tools };

/** @returns the tools that have this one; undefined: it is no feature's */
export function toolsWith<Tools extends HomeTools>(
  features: ReadonlyArray<WithTools<Tools>>,
  name: string,
): Tools | undefined {
  return features.find(({ tools }) => tools && Object.hasOwn(tools.all, name))?.tools;
}

export function isHomeTool(features: readonly WithTools[], name: string): boolean {
  return name === FIND_AGENTS || toolsWith(features, name) !== undefined;
}

export type HomeToolRequest = {
  /** The call's UUID. The same id is the same call. */
  id: string;
  name: string;
  args: Record<string, unknown>;
  /** The reason why the arguments could not be read. */
  problem?: string;
  /** Whose eyes it has: of a person's turn the person's; of a device `agent:NAME`, a guest. */
  viewer: Viewer;
  /**
   * `call`: as the conversation knows it. `depth`: how many sessions are above it. `others`: other people wrote in the conversation
   * too. A device's request has neither: the conversation is asked. `agent`: the device that asks, and the principal of its own call. `privateChat`: as in `Origin`.
   */
  from: {
    conversation: string | null;
    privateChat?: string | undefined;
    call: string;
    depth?: number;
    others?: boolean;
    agent?: { id: string; person: string };
  };
  /** Of a turn that the tool begins. */
  origin: Pick<NewOrigin, "principal" | "role" | "channel" | "limits" | "model" | "trace" | "reply">;
  /** The sources of the words that the arguments may repeat. */
  sources: Source[];
  /** In which a person reads what is said. Absent: English. */
  language?: Language;
  /** Tokens. Absent: the conversation has no budget. */
  budgetLeft?: number;
  /** Sessions that this conversation began: those that have not ended, and those of the last hour. Absent: Home counts those of a device. */
  begun?: BegunSessions;
};

export type BegunSessions = { running: number; lastHour: number };

/**
 * `waitsUntil` (epoch ms): the outcome comes over `sessionEnded`, at the latest then; with a `question`, whose answer a person gives, the
 * call is made again then.
 */
export type HomeToolReply = { outcome: Outcome } | { waitsUntil: number; question?: string };

/** The names of a tool's own parameters; none for a tool that Home does not run. */
export function homeToolParameters(features: readonly WithTools[], name: string): string[] {
  const tool = name === FIND_AGENTS ? findAgentsTool : toolsWith(features, name)?.all[name];
  return Object.keys((tool && jsonSchema(tool.input).properties) ?? {});
}

/** The tools that begin a turn in a session, or wait for one. */
export function asksSession(name: string): boolean {
  return name === "sessions_send" || name === "sessions_spawn";
}

/** The id of a session that a call began, below `HOME/api/`. */
export function sessionId(call: string): string {
  return `${SESSION_PREFIX}${call}`;
}
export const SESSION_PREFIX = "session-";
