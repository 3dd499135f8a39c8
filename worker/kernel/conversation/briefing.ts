/** A briefing says what it could not read, also where the model leaves that out. */
import { agentOfCall } from "@edgecall/core/loop/history.ts";
import { EDGE_CALL } from "../api/edge-call.ts";
import { phrasesOf } from "../phrases.ts";
import type { StoredEntry, Turn } from "./store/rows.ts";

/** @param own the turn's entries @returns the answer, with the devices that gave no result and that it does not name */
export function withUnread({ origin }: Turn, own: readonly StoredEntry[], answer: string): string {
  if (origin.event !== "rule") return answer;
  const calls = own.flatMap((entry) => (entry.role === "assistant" ? entry.calls : []));
  const asked = calls.filter(({ name }) => name === EDGE_CALL);
  const read = new Set(
    asked.flatMap((call) => (call.outcome?.status === "success" ? agentOfCall(call) : [])),
  );
  const missing = [...new Set(asked.flatMap((call) => agentOfCall(call) ?? []))].filter(
    (agent) => !read.has(agent) && !isNamed(answer, agent),
  );
  if (missing.length === 0) return answer;
  const phrases = phrasesOf(origin.language);
  const unread = phrases.say("notRead", { names: phrases.list(missing, "plain") });
  return `${answer}\n\n${unread}`.trimStart();
}

/** "happily" does not name `pi`. */
function isNamed(answer: string, agent: string): boolean {
  const id = agent.replace(/[^\w-]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_-])${id}(?![\\p{L}\\p{N}_-])`, "u").test(answer);
}
