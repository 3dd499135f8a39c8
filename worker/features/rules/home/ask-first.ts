/**
 * Asks a person before a model's call makes or changes a rule, where that is more than words to the person who asked. The question is
 * known by the call's id; the call waits in its conversation, which makes it again after the answer.
 */

import { isTainted, STRANGER } from "@edgecall/core/loop/taint.ts";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { GATEWAY_AGENT } from "../../../kernel/api/audit.ts";
import type { HomeToolReply, HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { EXPIRED } from "../../../kernel/api/questions.ts";
import { refused, type ToolAnswer } from "../../../kernel/api/tool-answer.ts";
import { isOpen } from "../../../kernel/home/calls/taint-reason.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { questionsOf } from "../../../kernel/home/ledger/questions.ts";
import { askForOwnCall, OTHERS_WORDS } from "../../../kernel/home/questions/deliver-question.ts";
import { refusalText, refuserText } from "../../../kernel/home/questions/denials.ts";
import { describeApproval } from "../../../kernel/home/questions/describe-approval.ts";
import { readLanguage } from "../../../kernel/phrases.ts";

/** @param others who else than the person is told, in words @returns undefined: it may be done now */
export async function askFirst(
  home: HomeContext,
  request: HomeToolRequest,
  others = "",
): Promise<ToolAnswer | Extract<HomeToolReply, { waitsUntil: number }> | undefined> {
  const reason = reasonToAsk(home, request, others);
  if (reason === undefined) return undefined;
  const tainted = isStrangers(home, request);
  const { id, name, args, from } = request;
  const hash = await approvalHash(GATEWAY_AGENT, name, args);
  const decided = questionsOf(home).decidedOf(id);
  if (decided?.answer === "approve" && decided.approval?.hash === hash) return undefined;
  if (decided) {
    const no = refusalText(refuserText(home, decided, request.viewer.name));
    const why = decided.answer === EXPIRED ? "nobody approved it in time" : no;
    return refused("permission_denied", {
      text: `Error: Nothing was changed: ${why}.`,
      advice: "Explain this to the user; do not try it another way.",
    });
  }
  await readLanguage(home.env, request.language ?? "en");
  const approval = { tool: name, parameters: args, reason, hash, ...(tainted && { tainted }) };
  const { text, card } = describeApproval(
    home,
    { agent: GATEWAY_AGENT, approval },
    { caller: request.origin, language: request.language },
  );
  return await askForOwnCall(home, {
    call: id,
    conversation: from.conversation ?? `${home.name}/mcp/${id}`,
    text,
    approval: { ...approval, card },
  });
}

/** Why a person is asked; undefined: nobody is. */
function reasonToAsk(home: HomeContext, request: HomeToolRequest, others: string): string | undefined {
  const { name, args } = request;
  const { severity, do: what } = args;
  const tells = others === "" ? [] : [`it tells others: ${others}`];
  const atNight = severity === "critical" ? ["it tells at night too, as often as it happens"] : [];
  if (tells.length + atNight.length > 0) return [...atNight, ...tells].join(", and ");
  if (name === "remind" && what === "brief") return "it asks the model each time, which costs tokens";
  const isLook = name === "rules" && (what === "list" || what === "history");
  if (isLook) return undefined;
  return isStrangers(home, request) ? OTHERS_WORDS : undefined;
}

/** Words to the person alone are no order to a device, so a device's own words in the conversation do not count. */
function isStrangers(home: HomeContext, { name, args: { agent_id }, sources }: HomeToolRequest): boolean {
  return name === "watch" && typeof agent_id === "string"
    ? isTainted(sources, { agent: agent_id, isOpen: isOpen(home, agent_id) })
    : sources.includes(STRANGER);
}
