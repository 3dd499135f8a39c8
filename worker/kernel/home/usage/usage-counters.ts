/**
 * A home's counts of calls and turns since it was set up, for /metrics and the list of agents. A counter must not fall, and an
 * object's memory ends when it sleeps, so the counts are rows: the sums, one for each tool of an agent, each channel and each
 * agent, and beside them the reports that are not in the sums yet (usage-reports.ts).
 */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import {
  ANSWER_SECONDS,
  CALL_SECONDS,
  type Histogram,
  ITERATIONS,
  newHistogram,
} from "@edgecall/core/metrics/histogram.ts";
import {
  type CallCounts,
  countCall,
  countTurn,
  newCallCounts,
  newTurnCounts,
  type TurnCounts,
} from "@edgecall/core/metrics/tally.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { GATEWAY_TOOLS, type ReportedCall, type ReportedTurn } from "../../api/usage.ts";
import { SqlStore } from "../../sql-store.ts";
import { type ServedAgents, servedAgentsOf } from "../agents/served-agents.ts";
import type { LedgerCall } from "../ledger/ledger.ts";
import type { ConversationList } from "../people/conversation-list.ts";
import { conversationListOf } from "../people/conversation-list.ts";
import { slot } from "../slot.ts";
import { type UsageReport, UsageReports } from "./usage-reports.ts";

/** Rows of calls. Names that a model invents must fill neither the home nor Prometheus. */
const CALL_ROWS_MAX = 300;
const NAME_CHARS = 100;
const OTHERS = ["(others)", "(others)"] as const;
/** Counts of an agent that is gone are kept so long. */
const KEEP_GONE_MS = 48 * 3_600_000;

/** What an agent was asked. `last`: epoch ms of the newest. */
export type AgentCounts = { calls: number; success: number; error: number; last: number };

type Kind = "call" | "turn" | "bridge";
type Sums = { calls: Map<string, CallCounts>; turns: Map<string, TurnCounts> };

export class UsageCounters extends SqlStore {
  readonly #agents: Pick<ServedAgents, "knows">;
  readonly #conversations: Pick<ConversationList, "usedAt">;
  readonly #reports: UsageReports;
  /** Of every agent, as its rows and the reports have it. Undefined: nobody has asked yet. */
  #activity: Map<string, AgentCounts> | undefined;

  /** @param agents a name that they do not know is no label */
  constructor(
    storage: DurableObjectStorage,
    agents: Pick<ServedAgents, "knows">,
    conversations: Pick<ConversationList, "usedAt">,
  ) {
    super(storage);
    this.#agents = agents;
    this.#conversations = conversations;
    this.#reports = new UsageReports(storage);
  }

  /** A turn ended. It counts once, however often it is reported. */
  turnEnded({ id, conversation, calls, ...turn }: ReportedTurn, now: number): void {
    this.#add({ id, conversation: conversation ?? null, at: now, turn, calls }, now);
  }

  /** A call of the ledger was settled that no turn reports: a command, a call that was queued, a job. */
  settled(call: LedgerCall, outcome: Pick<Outcome, "status" | "errorType">, now: number): void {
    const tool = call.command === "tool" ? String(call.payload.tool) : call.command;
    this.called(call.id, call.agent, tool, now - (call.sentAt ?? call.createdAt), outcome, now);
  }

  /** A call that no turn reports. @param elapsedMs from the sending to the result, as the gateway sees it */
  called(
    id: string,
    agent: string,
    tool: string,
    elapsedMs: number,
    { status, errorType, unsent }: Pick<Outcome, "status" | "errorType" | "unsent">,
    now: number,
  ): void {
    const error = status === "error" && { errorType: errorType ?? ("execution_failed" as const) };
    const call = { agent, tool, elapsedMs, ...error, ...(unsent && { unsent }) };
    this.#add({ id, conversation: null, at: now, calls: [call] }, now);
  }

  #add(report: UsageReport, now: number): void {
    const calls = report.calls.map((call) => ({ ...call, ...this.#label(call) }));
    const named = { ...report, calls };
    if (!this.#reports.add(named, (reports) => this.#addToSums(reports, now))) return;
    if (this.#activity) countActivity(this.#activity, named);
  }

  /** The names that a call is counted under. Names that the home does not know share one. */
  #label({ agent, tool, unsent }: ReportedCall): { agent: string; tool: string } {
    if (agent === GATEWAY_TOOLS && unsent) return { agent, tool: OTHERS[1] };
    const known = this.#knows(agent, tool);
    if (known === "none") return { agent: OTHERS[0], tool: OTHERS[1] };
    return { agent: short(agent), tool: known === "agent" ? OTHERS[1] : short(tool) };
  }

  #knows(agent: string, tool: string): ReturnType<ServedAgents["knows"]> {
    return agent === GATEWAY_TOOLS ? "both" : this.#agents.knows(agent, tool);
  }

  /** Writes each row that the reports change once. */
  #addToSums(reports: readonly UsageReport[], now: number): void {
    const sums = this.#readSums();
    const { calls, turns, dropped } = this.#count(sums, reports);
    for (const name of dropped) this.sql.exec("DELETE FROM tally WHERE kind = 'call' AND name = ?", name);
    for (const name of calls) {
      const counts = sums.calls.get(name);
      if (counts) this.#write("call", name, { ...counts, seconds: toStored(counts.seconds) });
    }
    for (const name of turns) {
      const counts = sums.turns.get(name);
      if (!counts) continue;
      const iterations = toStored(counts.iterations);
      this.#write("turn", name, { ...counts, iterations, seconds: toStored(counts.seconds) });
    }
    const activity = new Map<string, AgentCounts>();
    const used = new Map<string, number>();
    for (const report of reports) {
      countActivity(activity, report);
      if (report.conversation !== null) used.set(report.conversation, report.at);
    }
    for (const [agent, { calls, success, error, last }] of activity)
      this.sql.insert(
        "INTO agent_calls",
        { agent, calls, success, error, last_at: last },
        `ON CONFLICT (agent) DO UPDATE SET calls = calls + excluded.calls, success = success + excluded.success, error = error + excluded.error, last_at = MAX(last_at, excluded.last_at)`,
      );
    for (const [name, at] of used) this.#conversations.usedAt(name, at);
    this.sql.exec`DELETE FROM agent_calls WHERE last_at < ${now - KEEP_GONE_MS} AND agent NOT IN (SELECT id
      FROM agent)`;
  }

  /** Adds reports to sums. @returns the names whose counts changed, and those that made room for others */
  #count(
    { calls, turns }: Sums,
    reports: readonly UsageReport[],
  ): { calls: Set<string>; turns: Set<string>; dropped: Set<string> } {
    const changed = { calls: new Set<string>(), turns: new Set<string>(), dropped: new Set<string>() };
    for (const { turn, calls: made } of reports) {
      for (const { agent, tool, elapsedMs, errorType } of made) {
        const wanted = rowName(agent, tool);
        const name =
          calls.has(wanted) || this.#makeRoom(calls, changed.dropped) ? wanted : rowName(...OTHERS);
        const counts = calls.get(name) ?? newCallCounts();
        countCall(counts, Math.max(0, elapsedMs), errorType);
        calls.set(name, counts);
        changed.calls.add(name);
      }
      if (!turn) continue;
      const name = rowName(turn.channel);
      const counts = turns.get(name) ?? newTurnCounts();
      countTurn(counts, turn);
      turns.set(name, counts);
      changed.turns.add(name);
    }
    return changed;
  }

  /** Rows of names that the home does not know (any more) make room for others. */
  #makeRoom(calls: Map<string, CallCounts>, dropped: Set<string>): boolean {
    if (calls.size < CALL_ROWS_MAX) return true;
    for (const name of calls.keys()) {
      const [agent = "", tool = ""] = namesOf(name);
      if (tool === OTHERS[1] || this.#knows(agent, tool) === "both") continue;
      calls.delete(name);
      dropped.add(name);
      return true;
    }
    return false;
  }

  bridgeConnected(): void {
    this.#write("bridge", rowName("connections"), this.bridgeConnections() + 1);
  }

  bridgeConnections(): number {
    return this.#row<number>("bridge", rowName("connections")) ?? 0;
  }

  /** Reports of jobs that no call announced. */
  jobsDropped(count: number): void {
    this.#write("bridge", rowName("jobs_dropped"), this.droppedJobs() + count);
  }

  droppedJobs(): number {
    return this.#row<number>("bridge", rowName("jobs_dropped")) ?? 0;
  }

  /** The counts of calls and turns, for /metrics. */
  counts(): {
    calls: Array<{ agent: string; tool: string; counts: CallCounts }>;
    turns: Array<{ channel: string; counts: TurnCounts }>;
  } {
    const sums = this.#readSums();
    this.#count(sums, this.#reports.pending());
    const sorted = <T>(counts: Map<string, T>) => [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      calls: sorted(sums.calls).map(([name, counts]) => {
        const [agent = "", tool = ""] = namesOf(name);
        return { agent, tool, counts };
      }),
      turns: sorted(sums.turns).map(([name, counts]) => ({ channel: namesOf(name)[0] ?? "", counts })),
    };
  }

  /** Turns that ended since the home was set up, and how many of them were answered without a model. */
  answered(): { turns: number; withoutModel: number } {
    const sum = { turns: 0, withoutModel: 0 };
    for (const { counts } of this.counts().turns) {
      sum.turns += counts.done + counts.failed + counts.cancelled;
      sum.withoutModel += counts.unaided;
    }
    return sum;
  }

  /** What each agent was asked since the home was set up. */
  activity(): ReadonlyMap<string, AgentCounts> {
    if (this.#activity) return this.#activity;
    const rows = this.sql.exec<{ agent: string } & Omit<AgentCounts, "last"> & { last_at: number }>(
      "SELECT agent, calls, success, error, last_at FROM agent_calls",
    );
    this.#activity = new Map(
      rows.toArray().map(({ agent, last_at: last, ...row }) => [agent, { ...row, last }]),
    );
    for (const report of this.#reports.pending()) countActivity(this.#activity, report);
    return this.#activity;
  }

  #readSums(): Sums {
    const calls = new Map<string, CallCounts>();
    for (const { name, figures } of this.#rows<StoredCalls>("call")) calls.set(name, toCallCounts(figures));
    const turns = new Map<string, TurnCounts>();
    for (const { name, figures } of this.#rows<StoredTurns>("turn")) turns.set(name, toTurnCounts(figures));
    return { calls, turns };
  }

  #row<T>(kind: Kind, name: string): T | undefined {
    const [row] = this.sql.all<{ figures: string }>`SELECT figures FROM tally
      WHERE kind = ${kind} AND name = ${name}`;
    return row && (JSON.parse(row.figures) as T);
  }

  #rows<T>(kind: Kind): Array<{ name: string; figures: T }> {
    return this.sql.all<{ name: string; figures: string }>`SELECT name, figures FROM tally
      WHERE kind = ${kind} ORDER BY name`.map(({ name, figures }) => ({
      name,
      figures: JSON.parse(figures) as T,
    }));
  }

  #write(kind: Kind, name: string, figures: unknown): void {
    this.sql.insert("OR REPLACE INTO tally", { kind, name, figures: JSON.stringify(figures) });
  }
}

/** A call that was refused before an agent got it says nothing about the agent. */
function countActivity(activity: Map<string, AgentCounts>, { calls, at }: UsageReport): void {
  for (const { agent, errorType, unsent } of calls) {
    if (unsent || agent === GATEWAY_TOOLS || agent === OTHERS[0]) continue;
    const counts = activity.get(agent) ?? { calls: 0, success: 0, error: 0, last: 0 };
    counts.calls += 1;
    if (errorType === undefined) counts.success += 1;
    else counts.error += 1;
    counts.last = Math.max(counts.last, at);
    activity.set(agent, counts);
  }
}

type StoredHistogram = Pick<Histogram, "counts" | "sum">;
/** A row has no bounds, since they are the code's. A row of other bounds begins anew. */
type Stored<T> = { [Key in keyof T]: T[Key] extends Histogram ? StoredHistogram : T[Key] };
type StoredCalls = Stored<CallCounts>;
type StoredTurns = Stored<TurnCounts>;

function toStored({ counts, sum }: Histogram): StoredHistogram {
  return { counts, sum };
}

function toHistogram(bounds: readonly number[], { counts, sum }: StoredHistogram): Histogram {
  return counts.length === bounds.length + 1 ? { bounds, counts, sum } : newHistogram(bounds);
}

function toCallCounts(figures: StoredCalls): CallCounts {
  return { ...figures, seconds: toHistogram(CALL_SECONDS, figures.seconds) };
}

function toTurnCounts(figures: StoredTurns): TurnCounts {
  const iterations = toHistogram(ITERATIONS, figures.iterations);
  // Rows of an earlier version do not have it.
  const { unaided = 0 } = figures;
  return { ...figures, unaided, iterations, seconds: toHistogram(ANSWER_SECONDS, figures.seconds) };
}

function short(name: string): string {
  return cutText(name, NAME_CHARS);
}

function rowName(...names: readonly string[]): string {
  return JSON.stringify(names.map(short));
}

function namesOf(name: string): string[] {
  return JSON.parse(name) as string[];
}

export const countersOf = slot(
  (home) => new UsageCounters(home.ctx.storage, servedAgentsOf(home), conversationListOf(home)),
);
