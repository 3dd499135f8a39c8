/** The reports that the agent publishes: EvoClaw's shape, with a bound on their size. */
import { errorFields } from "@edgecall/core/tools/advice.ts";
import type { Settings } from "../config/settings.ts";

/** A command's answer before it is wrapped. */
export type Reply = {
  type: "result" | "error";
  payload: Record<string, unknown>;
  /** Runs once the broker has the answer. */
  afterwards?: () => void;
};

/** This fits one frame to the gateway, and the packet size of the broker that we ship (262,144 bytes). */
const REPORT_MAX_BYTES = 240 * 1024;

/** @param route of the command that this answers */
export function reportText(
  agent: Pick<Settings, "agentId" | "agentType">,
  type: Reply["type"] | "heartbeat",
  payload: Record<string, unknown>,
  route?: string,
): string {
  return JSON.stringify({
    agent_id: agent.agentId,
    agent_type: agent.agentType,
    report_type: type,
    payload,
    timestamp: Math.floor(Date.now() / 1_000),
    ...(route !== undefined && { route }),
  });
}

/** Turns a reply into a report. Each has `request_id`. */
export function replyText(
  agent: Pick<Settings, "agentId" | "agentType">,
  requestId: string,
  reply: Reply,
  route?: string,
): string {
  const text = reportText(agent, reply.type, { ...reply.payload, request_id: requestId }, route);
  const bytes = Buffer.byteLength(text);
  if (bytes <= REPORT_MAX_BYTES) return text;
  const tooLarge = {
    status: "error",
    ...(typeof reply.payload.tool === "string" && { tool: reply.payload.tool }),
    ...errorFields({
      text: `Error: The result is too large to send: ${bytes} bytes, at most ${REPORT_MAX_BYTES}. It was run.`,
      advice: "Ask for less.",
    }),
    error_type: "execution_failed",
    request_id: requestId,
  };
  return reportText(agent, "result", tooLarge, route);
}

export function failed(error: string): Reply {
  return { type: "error", payload: { error } };
}

export function succeeded(payload: Record<string, unknown>): Reply {
  return { type: "result", payload };
}

/** True if a reply reports a failure, in either of EvoClaw's two ways. */
export function isFailure(reply: Reply): boolean {
  return reply.type === "error" || reply.payload.status === "error";
}

/** The code of a failure; undefined: it is none. */
export function failureOf(reply: Reply): string | undefined {
  if (!isFailure(reply)) return undefined;
  const { error_type } = reply.payload;
  return typeof error_type === "string" ? error_type : "execution_failed";
}
