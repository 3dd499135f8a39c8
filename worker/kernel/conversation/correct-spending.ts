/** Tells Home what a model call took. */
import { tokensOf, type Usage } from "@edgecall/core/loop/history.ts";
import type { Settings } from "../settings/settings.ts";
import type { ConversationContext } from "./context.ts";

/**
 * Usage is the endpoint's figure. An endpoint that gives none is counted by our estimate, and nothing is priced.
 * @param reserved tokens that Home counted beforehand
 * @param estimate of what was sent
 */
export function correctSpending(
  context: ConversationContext,
  settings: Settings,
  call: { model: string; usage: Usage | undefined; reserved: number; estimate: number },
): void {
  const { model, usage, reserved, estimate } = call;
  if (!settings.countsDays) return;
  const difference = (usage ? tokensOf(usage) : estimate) - reserved;
  const isPriced = Object.keys(settings.prices).length > 0;
  if (!usage && difference === 0) return;
  context.later(
    context.home().models.correctSpending(difference, usage && isPriced ? { model, usage } : undefined),
  );
}
