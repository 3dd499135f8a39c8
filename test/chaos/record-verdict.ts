/** Judges the records of calls of both homes by the plan, the turns and the effects. Pure. */
import { type Effects, type History, seenAt, type Violation } from "./history.ts";
import { placeOf } from "./model.ts";
import { type AgentId, callsOf, LENT_AGENT, type PlacedCall, type TurnScript } from "./plan.ts";
import type { CallsRecord, RecordLine } from "./record.ts";
import { BORROWER } from "./stack.ts";

/** A call that takes effect, as a record has to show it. */
type Recorded = {
  call: PlacedCall;
  /** The agents that asked for it, the first one first. */
  via: AgentId[];
  /** The id of the call of the turn with which its chain began. */
  root: string | undefined;
};

export function judgeRecords({ turns, records }: History, effects: Effects): Violation[] {
  const planned = new Map<string, Recorded>();
  for (const { script, asked, looks } of turns) {
    const calls = (looks.findLast((seen) => seen !== undefined) ?? asked.answer)?.calls ?? [];
    for (const call of callsOf(script))
      for (const leaf of withChains(call, [], seenAt(call, calls)?.id)) planned.set(leaf.call.place, leaf);
  }
  const found = [
    ...Object.values(records).flatMap(({ missing }) => missing.map((line) => `not brought: ${line}`)),
    ...Object.entries(records).flatMap(([home, { lines }]) => judgeLines(home, lines, planned, effects)),
    ...lentCallsWithoutLine(turns, records.own),
  ];
  return found.map((what) => ({ kind: "record", what }));
}

function withChains(call: PlacedCall, via: AgentId[], root: string | undefined): Recorded[] {
  const { agent, does } = call;
  if (typeof does === "object") return innerOf(does, [...via, agent], root);
  // Calls of an agent's own model to its own tools belong to the call in which it was asked.
  return [{ call, via: via.at(-1) === agent ? via.slice(0, -1) : via, root }];
}

function innerOf(script: TurnScript, via: AgentId[], root: string | undefined): Recorded[] {
  return callsOf(script).flatMap((call) => withChains(call, via, root));
}

function judgeLines(
  home: string,
  lines: readonly RecordLine[],
  planned: ReadonlyMap<string, Recorded>,
  effects: Effects,
): string[] {
  const ours = lines.flatMap((line) => {
    const place = placeOf(line.parameters);
    const leaf = line.tool === "append" || line.tool === "bash" ? planned.get(place ?? "") : undefined;
    return leaf ? [{ line, leaf }] : [];
  });
  return ours.flatMap(({ line, leaf }) => {
    const { place } = leaf.call;
    const same = ours.filter((one) => one.leaf === leaf && one.line.agent_id === line.agent_id);
    const successes = same.filter((one) => one.line.result === "success");
    // A conversation that is stopped before it has stored a refusal asks again, and then the call is taken.
    const wasRefused = successes.some((one) => one.line.timestamp > line.timestamp);
    const hasRun = effects.has(place) && !(line.result === "error" && wasRefused);
    const wrong = wrongIn(line, leaf, hasRun, home === "lender");
    const what = wrong ?? (successes.length > 1 ? "done twice" : undefined);
    return what === undefined ? [] : [`${home}: ${place} on ${line.agent_id} (${line.result}): ${what}`];
  });
}

function wrongIn(
  { agent_id, result, error_type, caller }: RecordLine,
  { call, via, root }: Recorded,
  hasRun: boolean,
  isLender: boolean,
): string | undefined {
  const { agent, does } = call;
  if (agent !== agent_id && !(isLender && agent.endsWith(`/${agent_id}`))) return `it was for ${agent}`;
  // A job's line says that it was begun.
  if (result === "success" && !hasRun && does !== "job") return "it did not run";
  if (result === "error" && error_type !== "outcome_unknown" && hasRun) return `it ran (${error_type})`;
  const chain = caller.chain?.via ?? [];
  if (isLender)
    return caller.principal === `home:${BORROWER}` && chain.length === via.length
      ? undefined
      : `asked for by ${caller.principal}, ${chain.length} agents before it`;
  if (chain.join() !== via.join()) return `asked for by '${chain.join()}', planned '${via.join()}'`;
  if (via.length > 0 && root !== undefined && caller.chain?.id !== root)
    return `in the chain ${caller.chain?.id}`;
  return undefined;
}

/** The gateway itself writes the line of a call that went to another home. */
function lentCallsWithoutLine(turns: History["turns"], { lines }: CallsRecord): string[] {
  const recorded = new Set(lines.map(({ agent_id, call_id }) => `${agent_id} ${call_id}`));
  return turns.flatMap(({ key, asked, looks }) => {
    const calls = (looks.findLast((seen) => seen !== undefined) ?? asked.answer)?.calls ?? [];
    return calls
      .filter(
        ({ agent, id, status }) =>
          agent === LENT_AGENT && status === "success" && !recorded.has(`${agent} ${id}`),
      )
      .map(({ id }) => `own: call ${id} to ${LENT_AGENT} of turn ${key} has no line`);
  });
}
