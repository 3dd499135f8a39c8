/** Writes the devices' activity as lines beside the answer. A device's text is untrusted, so it is cut and put on one line. */
import { type CallRecord, NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import type { TurnQuestion } from "../../kernel/api/answers.ts";
import { oneLine } from "../../kernel/api/roster.ts";

const bounded = (text: string, max: number) => oneLine(visible(text), max);

const ASKED_MAX_CHARS = 60;
const ERROR_MAX_CHARS = 160;

/** False: an equal call of the same reply ran for it. */
export function isRun({ same_as }: CallRecord): boolean {
  return same_as === undefined;
}

export function askedLine(call: CallRecord): string {
  return `→ ${whatOf(call)}\n`;
}

/** A call, with the device's own calls below it. */
export function settledLines(call: CallRecord): string {
  const inner = (call.calls ?? []).map((one) => `  ${settledLine(one)}`);
  return `${[settledLine(call), ...inner].join("\n")}\n`;
}

function settledLine(call: CallRecord): string {
  const time = call.elapsed_ms === undefined ? "" : ` ${call.elapsed_ms} ms`;
  if (call.asked === false) return `– ${whatOf(call)}${time}: ${NO_TOOL_CALLED}`;
  if (call.status !== "error") return `✓ ${whatOf(call)}${time}`;
  return `✗ ${whatOf(call)}${time}: ${bounded(call.error ?? call.error_type ?? "failed", ERROR_MAX_CHARS)}`;
}

function whatOf({ name, agent, action, query }: CallRecord): string {
  const asked = action ?? (query === undefined ? undefined : `"${query}"`);
  return [agent ?? name, asked].flatMap((part) => (part ? [bounded(part, ASKED_MAX_CHARS)] : [])).join(" · ");
}

/** A question cannot be answered through this API, because a model may hold the client's token. */
export function questionLine(question: TurnQuestion, origin: string): string {
  const { agent, text, approval, id, expires_at } = question;
  // The sentence of an approval has the device in it.
  const asks = approval
    ? bounded(text, 300)
    : `${bounded(agent, ASKED_MAX_CHARS)} asks: ${bounded(text, 300)}`;
  const until = new Date(expires_at).toISOString();
  return `? ${asks} (answer in the console or at ${origin}/v1/questions/${id}, until ${until})\n`;
}
