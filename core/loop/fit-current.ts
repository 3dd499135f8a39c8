/** Shortens the results of the current turn, where the model's window leaves no other way. Pure. */
import type { Call, Entry } from "./history.ts";
import { codePoints, estimateTokens, headOf } from "./tokens.ts";

/** A result keeps at least so many characters: its beginning shows what it was. */
const LEAST = 200;
const STEPS = 12;

/**
 * Cuts the longest results to a common length, so that the turn fits; the rest stays whole.
 * @returns the turn itself when it fits; with all results at their shortest when even that does not fit
 */
export function fitCurrent(turn: readonly Entry[], maxTokens: number): readonly Entry[] {
  if (estimateTokens(turn) <= maxTokens) return turn;
  const longest = Math.max(0, ...turn.flatMap(callsOf).map(({ outcome }) => codePoints(outcome?.text ?? "")));
  let [short, long] = [LEAST, Math.max(LEAST, longest)];
  for (let step = 0; step < STEPS && long - short > LEAST / 2; step += 1) {
    const middle = Math.floor((short + long) / 2);
    if (estimateTokens(turn.map((entry) => cutTo(entry, middle))) <= maxTokens) short = middle;
    else long = middle;
  }
  return turn.map((entry) => cutTo(entry, short));
}

export function callsOf(entry: Entry): readonly Call[] {
  return entry.role === "assistant" ? entry.calls : [];
}

function cutTo(entry: Entry, length: number): Entry {
  return entry.role === "assistant"
    ? { ...entry, calls: entry.calls.map((call) => cutCall(call, length)) }
    : entry;
}

function cutCall(call: Call, length: number): Call {
  const text = call.outcome?.text ?? "";
  const more = codePoints(text) - length;
  if (!call.outcome || more <= 0) return call;
  const cut = `${headOf(text, length)}\n[cut: ${more} more characters do not fit the model's window; ask for less at once]`;
  return { ...call, outcome: { ...call.outcome, text: cut } };
}
