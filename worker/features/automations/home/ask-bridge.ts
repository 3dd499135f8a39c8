/** What the gateway asks the bridge about rules that act. Nothing of it is stored here. */
import {
  AUTOMATIONS_FEATURE,
  type AutomationDrafted,
  type AutomationOrdered,
} from "@edgecall/core/protocol/automation.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { BridgeQuestions } from "../../../kernel/home/bridge/bridge-questions.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { slot } from "../../../kernel/home/slot.ts";
import type { AutomationRow } from "./automation-store.ts";

/** A dry run over a week takes a second, and more on an SD card. */
const DRAFT_WITHIN_MS = 15_000;
/** To undo takes as long as its devices do. */
const ORDER_WITHIN_MS = 25_000;
/** It is in the bridge's memory. */
const STATUS_WITHIN_MS = 3_000;

export const draftsOf = slot(
  (home) => new BridgeQuestions<AutomationDrafted>(bridgeOf(home), AUTOMATIONS_FEATURE, DRAFT_WITHIN_MS),
);
const ordersOf = slot(
  (home) => new BridgeQuestions<AutomationOrdered>(bridgeOf(home), AUTOMATIONS_FEATURE, ORDER_WITHIN_MS),
);
const statusesOf = slot(
  (home) => new BridgeQuestions<AutomationOrdered>(bridgeOf(home), AUTOMATIONS_FEATURE, STATUS_WITHIN_MS),
);

/** @returns undefined: the bridge did not answer */
export async function undo(
  home: HomeContext,
  { automation: { id: rule }, maker: { language } }: AutomationRow,
  firing: number,
  by: string,
): Promise<AutomationOrdered | undefined> {
  const what = { do: "undo", rule, firing, by, language } as const;
  return await ordersOf(home).ask((id) => ({ t: "order", id, order: what }));
}

/** @returns undefined: the bridge did not answer */
export async function statusOf(
  home: HomeContext,
  rules: string[],
  language: Language = "en",
): Promise<Extract<AutomationOrdered, { status: unknown }> | undefined> {
  const what = { do: "status", rules, language } as const;
  const answer = await statusesOf(home).ask((id) => ({ t: "order", id, order: what }));
  return answer && "status" in answer ? answer : undefined;
}

export function onOrdered(home: HomeContext, { id, ordered }: BridgeFrame & { t: "ordered" }): void {
  ordersOf(home).answered(id, ordered);
  statusesOf(home).answered(id, ordered);
}
