/** The bridge asks the gateway for a rule's step: an action of a paired agent, or what asks a person at that moment. */
import type { ActOutcome, ActRequest } from "@edgecall/core/protocol/automation.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { HOUR_MS } from "@edgecall/core/time/zone.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import type { SettledOutcome } from "../../../kernel/api/calls.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { type LedgerCall, ledgerOf } from "../../../kernel/home/ledger/ledger.ts";
import { endWhatIsOver } from "../../../kernel/home/permissions/ends.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { submit } from "../../../kernel/home/submit/submit.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import { prepareSteps } from "./allow.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { boundTo, unallowed } from "./faithful.ts";
import { callerOf, isCarriedOut } from "./news.ts";

const TEXT_MAX = 500;

/** When each step of a rule was begun, epoch ms. */
const begunOf = slot((): Map<string, number[]> => new Map());

/** The same id is the same call, however often it is asked for. */
export async function onAct(home: HomeContext, { act }: BridgeFrame & { t: "act" }): Promise<void> {
  const { id: call, rule: of, version: wanted, firing, step: at } = act;
  if (call !== `${of}:${wanted}:${firing}:${at}`)
    return answer(home, call, { outcome: "not_sent", text: "the id is not that of the step" });
  const known = ledgerOf(home).get(call);
  if (known) {
    if (known.outcome) answer(home, act.id, outcomeOf(known.outcome));
    return;
  }
  const row = automationsOf(home).get(of);
  if (row) {
    await readLanguage(home.env, row.maker.language);
    await prepareSteps(home, row.automation);
  }
  // What is looked at here is looked at once more behind each wait until the call's row is written.
  endWhatIsOver(home, Date.now());
  const step = stepOf(home, act);
  if (typeof step === "string") return answer(home, act.id, { outcome: "not_sent", text: step });
  const { automation, maker } = step.row;
  const { id: rule, version, name } = automation;
  const reply = await submit(
    home,
    {
      id: act.id,
      conversation: null,
      caller: callerOf(automation),
      args: { agent_id: step.agent, action: step.action, params: step.parameters },
      watched: false,
      tainted: false,
      // No model asks, so no text of others may have led to it.
      sources: [],
      language: maker.language,
    },
    { by: "rule", rule, version, name },
  );
  if (!reply.accepted) answer(home, act.id, outcomeOf(reply.outcome));
  await home.alarm.arm();
}

/** @returns the step as an owner allowed it; a text: why it is not carried out */
function stepOf(
  home: HomeContext,
  { rule, version, step: at }: ActRequest,
): { row: AutomationRow; agent: string; action: string; parameters: Record<string, unknown> } | string {
  const row = automationsOf(home).get(rule);
  const step = row && [...row.automation.do, ...row.automation.end][at];
  if (row?.status !== "active" || row.automation.version !== version || !step || !isCarriedOut(step))
    return "the rule is not allowed to do that, or not any more";
  const why = unallowed(home, row.automation);
  const agent = boundTo(home, step)?.id;
  if (why !== undefined || agent === undefined) return why ?? "the device is gone";
  const begun = begunOf(home);
  const now = Date.now();
  const key = `${rule}:${at}`;
  const times = (begun.get(key) ?? ledgerOf(home).begunFor(rule, at)).filter((time) => time > now - HOUR_MS);
  // A step may come late in its run: within an hour there may be that of one run more.
  if (times.length > row.automation.an_hour) return "the rule has run too often within an hour";
  begun.set(key, [...times, now]);
  return { row, agent, action: step.action, parameters: step.parameters };
}

/** The outcome of a rule's step has come. */
export function answerRule(home: HomeContext, { id }: LedgerCall, outcome: SettledOutcome): boolean {
  answer(home, id, outcomeOf(outcome));
  return true;
}

function answer(home: HomeContext, id: string, acted: ActOutcome): void {
  // It asks again where this is lost.
  bridgeOf(home).send({ t: "acted", id, acted }, Date.now());
}

function outcomeOf(outcome: SettledOutcome): ActOutcome {
  const { status, errorType, confirmed, unsent, approval, late } = outcome;
  const text = plainText(forPerson(outcome), TEXT_MAX);
  if (status === "success" && late) return { outcome: "late", text };
  if (status === "success")
    return { outcome: confirmed === false ? "unconfirmed" : confirmed ? "confirmed" : "sent", text };
  if (
    unsent ||
    approval ||
    errorType === "offline" ||
    errorType === "permission_denied" ||
    errorType === "invalid_params"
  )
    return { outcome: "not_sent", text };
  return { outcome: errorType === "execution_failed" ? "unconfirmed" : "unknown", text };
}
