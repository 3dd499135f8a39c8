/** A question that lists several approvals, and what exactly would be run. */
import type { NewQuestion, Question, ShownApproval } from "../../api/questions.ts";

/** Makes the question that lists these. @param described its sentence, and the rest that is shown */
export function listOf(
  members: readonly Question[],
  { text, card }: { text: string; card: ShownApproval["card"] },
): NewQuestion {
  const id = crypto.randomUUID();
  const agents = new Set(members.map(({ agent }) => agent));
  const [first] = members;
  const unread = new Map(
    members.flatMap(({ approval }) => (approval?.unread ?? []).map((one) => [one.agent, one])),
  );
  if (!first) throw new Error("no approval to list");
  return {
    // No call is open under it: those of its members are.
    id,
    call: id,
    conversation: first.conversation,
    agent: agents.size === 1 ? first.agent : `${agents.size} devices`,
    // Not the gateway's own about a call.
    agentQuestion: id,
    text,
    options: [],
    approval: {
      tool: `${members.length} calls`,
      parameters: {},
      reason: first.approval?.reason ?? "",
      hash: "",
      ...(card && { card }),
      ...(unread.size > 0 && { unread: [...unread.values()] }),
    },
    expiresAt: Math.max(...members.map(({ expiresAt }) => expiresAt)),
  };
}

/** Lists what is run after a yes, call by call. Each call's hash is over exactly this. */
export function listedParameters(members: readonly Question[]): Record<string, unknown> {
  return Object.fromEntries(
    members.map(({ agent, approval }, at) => {
      const { tool = "", parameters = {}, cwd } = approval ?? {};
      return [`${at + 1}. ${tool} on ${agent}`, cwd === undefined ? parameters : { cwd, parameters }];
    }),
  );
}
