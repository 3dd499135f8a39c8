/**
 * Tools of a caller's own: offered to the model beside ours, and never run here. A call to one of them ends the turn with
 * the call open; its result comes with a later turn (`brought.results`), whose history shows the call answered by it.
 */
import type { Call, CallRecord, Outcome } from "@edgecall/core/loop/history.ts";
import type { ToolChoice } from "@edgecall/core/loop/request.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import type { ToolDefinition } from "@edgecall/core/tools/registry.ts";
import { EDGE_CALL } from "../api/edge-call.ts";
import { type ClientContext, callRef } from "../api/turns.ts";
import type { StoredEntry, Turn } from "./store/rows.ts";

export function isClients({ origin }: Turn, { name }: { name: string }): boolean {
  return origin.brought?.clientTools?.includes(name) ?? false;
}

export function clientSchema(
  { clientTools }: ClientContext,
  { name }: { name: string },
): Record<string, unknown> {
  return clientTools?.find(named(name))?.function.parameters ?? {};
}

/** Keeps one call of the client's tools where the client wants one at a time. Calls of our tools all stay. */
export function withoutOthers<T extends { name: string }>(turn: Turn, calls: readonly T[]): T[] {
  if (!turn.origin.brought?.oneCall) return [...calls];
  const first = calls.find((call) => isClients(turn, call));
  return calls.filter((call) => call === first || !isClients(turn, call));
}

/** Calls that the caller has to make, when nothing else is open. Arguments that cannot be read are not theirs to see. */
export function handedOver(turn: Turn, entries: readonly StoredEntry[]): Call[] {
  const last = entries.findLast((entry) => entry.role === "assistant");
  const open = last?.calls.filter(({ outcome }) => outcome === undefined) ?? [];
  return open.every((call) => isClients(turn, call) && call.problem === undefined) ? open : [];
}

/** The calls that the turn ended with, in the form that the client gets. */
export function requestedOf(turn: Turn, entries: readonly StoredEntry[]): CallRecord[] {
  if (turn.status !== "done") return [];
  return handedOver(turn, entries).map(({ id, name, args }) => ({ id, name, args, status: "pending" }));
}

/** The tools that the model is offered at this step, and the one that it has to call. */
export function offered(
  ours: readonly ToolDefinition[],
  { clientTools = [], wants }: ClientContext,
  own: readonly StoredEntry[],
): { tools: ToolDefinition[]; toolChoice?: ToolChoice } {
  const all = [...ours, ...clientTools];
  if (wants === undefined) return { tools: all };
  const theirs = wants === "required" ? clientTools : clientTools.filter(named(wants.name));
  if (theirs.length === 0) {
    // The client wants one of our tools: it is required once.
    const first = !own.some(({ role }) => role === "assistant");
    if (!first || ours.length === 0) return { tools: all };
    if (wants === "required") return { tools: all, toolChoice: "required" };
    return ours.some(named(wants.name)) ? { tools: all, toolChoice: choose(wants.name) } : { tools: all };
  }
  // Devices are asked as ever before the caller's tool is called, which is what the turn has to end with.
  const tools = [...ours, ...theirs];
  const [only] = tools;
  return tools.length === 1 && only
    ? { tools, toolChoice: choose(only.function.name) }
    : { tools, toolChoice: "required" };
}

/** The tools at a limit: none but the one that the turn has to end with. */
export function lastOffered(brought: ClientContext): { tools: ToolDefinition[]; toolChoice?: ToolChoice } {
  const { clientTools = [], wants } = brought;
  const theirs = wants === undefined ? [] : offered([], { clientTools, wants }, []).tools;
  const [only] = theirs;
  if (!only || (wants !== "required" && !clientTools.some(named((wants as { name: string }).name))))
    return { tools: [] };
  return { tools: theirs, toolChoice: theirs.length === 1 ? choose(only.function.name) : "required" };
}

function named(name: string): (tool: ToolDefinition) => boolean {
  return (tool) => tool.function.name === name;
}

function choose(name: string): ToolChoice {
  return { type: "function", function: { name } };
}

/** A result as the model reads it: a stranger's text, for nobody knows what the caller's tool has read. */
export function resultOutcome(text: string): Outcome {
  return { status: "success", text, elapsedMs: 0, sources: [STRANGER] };
}

/** Calls of a caller that were left open, with the results that came later. The last one counts: it may be edited. */
export function withResults(
  entries: readonly StoredEntry[],
  results: ReadonlyMap<string, string>,
): StoredEntry[] {
  if (results.size === 0) return [...entries];
  return entries.map((entry) => {
    if (entry.role !== "assistant" || !entry.calls.some(({ id }) => results.has(callRef(id)))) return entry;
    const calls = entry.calls.map((call) => {
      const text = call.outcome || call.name === EDGE_CALL ? undefined : results.get(callRef(call.id));
      return text === undefined ? call : { ...call, outcome: resultOutcome(text) };
    });
    return { ...entry, calls };
  });
}
