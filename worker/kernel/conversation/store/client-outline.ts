/** The outline of a client's history and tools, which stands in the row of its turn. */
import type { ClientContext, ClientContextOutline, ClientHistoryItem } from "../../api/turns.ts";

export function outlineOf(brought: ClientContext): ClientContextOutline {
  const { instructions: _, developer: __, clientTools, results, history, ...rest } = brought;
  return {
    ...rest,
    ...(clientTools && { clientTools: clientTools.map((tool) => tool.function.name) }),
    ...(results && { results: Object.keys(results) }),
    ...(history && {
      history: history.flatMap((item) => ("turn" in item ? [item.turn] : [])),
      answers: history.filter(isAnswer).length,
    }),
  };
}

/** True if the outline of it leaves out nothing, so that it needs no row of its own. */
export function saysAll({ instructions, clientTools, results, history = [] }: ClientContext): boolean {
  return !instructions && !clientTools && !results && history.every((item) => "turn" in item);
}

export function isAnswer(item: ClientHistoryItem): boolean {
  return "turn" in item || item.role === "assistant";
}
