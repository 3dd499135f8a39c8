/** The answers of the gateway's routes that several commands read, under short names. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { AgentView, TurnQuestion } from "@edgecall/client/routes.ts";

export type { AgentView as Agent, CallRecord as Call, TurnResult as Turn } from "@edgecall/client/routes.ts";
export type Question = Omit<TurnQuestion, "call" | "expires_at">;
export type Status = AnswerOf<"GET /v1/status">;

/** @returns "running", "idle" or "offline"; an older gateway knows no more than "online" */
export function statusOf({
  online,
  status,
}: {
  online: boolean;
  status?: AgentView["status"] | undefined;
}): string {
  return online ? (status ?? "online") : "offline";
}
