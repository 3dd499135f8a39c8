/** A question that lists several approvals: its words, and what exactly would be run. */
import { shortened, visible, visibleJson } from "@edgecall/core/tools/visible.ts";
import type { NewQuestion, Question } from "../../api/questions.ts";

/** Lines of a question's text. All of it is in its approval. */
const LINES_MAX = 20;
const LINE_CHARS = 120;

/** Makes the question that lists these. */
export function listOf(members: readonly Question[]): NewQuestion {
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
    text: textOf(members),
    options: [],
    approval: {
      tool: `${members.length} calls`,
      parameters: {},
      reason: first.approval?.reason ?? "",
      hash: "",
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

/** "May these 60 calls run? write on pi (60). 1. write on pi {…} … and 40 more." */
function textOf(members: readonly Question[]): string {
  const counts = new Map<string, number>();
  for (const member of members) counts.set(whatOf(member), (counts.get(whatOf(member)) ?? 0) + 1);
  const kinds = [...counts].map(([what, count]) => `${what} (${count})`);
  const lines = members.slice(0, LINES_MAX).map((member, at) => {
    const args = shortened(visibleJson(member.approval?.parameters ?? {}), { chars: LINE_CHARS });
    return `${at + 1}. ${whatOf(member)} ${args}`;
  });
  return [
    `May these ${members.length} calls run? ${andMore(kinds, ", ")}.`,
    andMore(lines, "\n", members.length),
    `It is asked because ${visible(members[0]?.approval?.reason ?? "")}.`,
  ].join("\n");
}

function whatOf({ approval, agent }: Question): string {
  return `${visible(approval?.tool ?? "")} on ${visible(agent)}`;
}

/** @param total of all, where `words` are the first of them */
function andMore(words: readonly string[], between: string, total = words.length): string {
  const shown = words.slice(0, LINES_MAX);
  const more = total - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(between);
}
