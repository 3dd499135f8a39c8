/** The errors of a call: their names on the wire, and their texts for the model and for people. */
import type { Advised } from "./advice.ts";
import { oneLine } from "./one-line.ts";

/** Characters of a parameter's name in an error. */
const NAME_MAX = 64;

/** The seed's five error types, and two for calls over a network. */
export const ERROR_TYPES = [
  "timeout",
  "not_found",
  "permission_denied",
  "invalid_params",
  "execution_failed",
  /** The agent was not online, so the call has certainly not run. */
  "offline",
  /** The call may have run. It is never a success, and repeating it blindly is never safe. */
  "outcome_unknown",
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

/** Detailed error codes, each with the error type that travels on the wire. */
export const ERROR_CODES = {
  invalid_params: "invalid_params",
  not_found: "execution_failed",
  access_denied: "permission_denied",
  exists: "execution_failed",
  is_directory: "execution_failed",
  not_directory: "execution_failed",
  is_binary: "execution_failed",
  beyond_eof: "invalid_params",
  no_match: "execution_failed",
  not_unique: "execution_failed",
  no_change: "execution_failed",
  overlap: "invalid_params",
  exit_nonzero: "execution_failed",
  signal: "execution_failed",
  timeout: "timeout",
  aborted: "execution_failed",
  spawn_failed: "execution_failed",
  cwd_missing: "execution_failed",
  io: "execution_failed",
  blocked: "permission_denied",
  approval_denied: "permission_denied",
  approval_expired: "permission_denied",
  too_large: "execution_failed",
  unsupported_scheme: "invalid_params",
  private_address: "permission_denied",
  bad_redirect: "execution_failed",
  unknown_tool: "not_found",
  tool_failed: "execution_failed",
  unavailable: "execution_failed",
  /** Nobody answered a question in time. */
  unanswered: "timeout",
  offline: "offline",
  outcome_unknown: "outcome_unknown",
} as const satisfies Record<string, ErrorType>;
export type ErrorCode = keyof typeof ERROR_CODES;

export function errorTypeOf(code: ErrorCode): ErrorType {
  return ERROR_CODES[code];
}

/** Only devices use this text and the next one. They are separate functions to keep them out of the Worker's bundle. */
export function permissionDenied(name: string, permission: string): Advised {
  return {
    text: `Error: Permission denied for tool '${name}' (requires: ${permission}).`,
    advice: `This agent does not have ${permission} access. Explain to the user.`,
  };
}

/** The agent's genome blocks the action, whatever its policy allows. */
export function blockedAction(name: string): Advised {
  return {
    text: `Error: Permission denied for tool '${name}' (blocked by this agent's genome). Nothing was run.`,
    advice: "Do not try it another way. Explain to the user.",
  };
}

/** The error texts for a model. Texts of the tool-loop design are used word for word. */
export const errorText = {
  unknownTool(name: string, available: readonly string[]): Advised {
    return {
      text: `Error: Tool '${name}' not found. Available tools: ${available.join(", ") || "none"}.`,
      advice: "Please choose an available tool or explain to the user.",
    };
  },
  /** @param what the most important argument, e.g. `Command: 'sleep 60'.`; absent when there is none */
  timeout(name: string, timeoutMs: number, what?: string): Advised {
    return {
      text: `Error: Tool '${name}' timed out after ${seconds(timeoutMs)}.${what ? ` ${what}` : ""}`,
      advice: "Try again with a shorter timeout or explain to the user.",
    };
  },
  invalidParams(name: string, problem: string, schema: Record<string, unknown>): Advised {
    const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
    const optional = Object.keys(asRecord(schema.properties)).filter((key) => !required.includes(key));
    // The names may be those of a tool of an MCP server, or of a client's.
    const listed = (names: string[]) => `[${names.map((one) => oneLine(one, NAME_MAX)).join(", ")}]`;
    return {
      text: `Error: Invalid parameters for '${name}': ${problem}.\nRequired: ${listed(required)}. Optional: ${listed(optional)}.`,
    };
  },
  nobodyToAsk(name: string): Advised {
    return {
      text: `Error: Tool '${name}' asked something, and there is nobody here to ask.`,
      advice: "Explain to the user.",
    };
  },
  noJobs(name: string): Advised {
    return {
      text: `Error: Tool '${name}' works on after its call, and jobs are not possible here.`,
      advice: "Explain to the user.",
    };
  },
  offline(agentId: string, lastSeen: string): Advised {
    return {
      text: `Error: Agent '${agentId}' is not online (last seen ${lastSeen}). Nothing was run.`,
      advice: "Tell the user, or ask an agent that is online.",
    };
  },
  outcomeUnknown(what: string): Advised {
    return {
      text: `Error: The outcome of ${what} is unknown: it may or may not have run.`,
      advice:
        "Do not repeat it blindly and do not say that it is done. Tell the user what is unknown and how to check.",
    };
  },
  /** @param started whether the tool had already started */
  cancelled(name: string, started: boolean): Advised {
    return started
      ? {
          text: `Error: Tool '${name}' was cancelled while it ran. A part of its work may be done.`,
          advice: "Tell the user so; do not call it again unless the user asks.",
        }
      : {
          text: `Error: Tool '${name}' was cancelled before it started. Nothing was run.`,
          advice: "Do not call it again unless the user asks.",
        };
  },
};

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
