/**
 * A home's counts of calls and turns since it was set up, for /metrics. A counter must not fall, and an object's memory ends
 * when it sleeps, so the counts are rows: one for each tool of an agent and one for each channel, written as they change.
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
import type { ReportedTurn } from "../../api/usage.ts";
import type { Agents } from "../agents/agents.ts";
import type { LedgerCall } from "../calls/ledger.ts";

/** Rows of calls. Names that a model invents must fill neither the home nor Prometheus. */
const CALL_ROWS_MAX = 300;
const NAME_CHARS = 100;
const OTHERS = ["(others)", "(others)"] as const;

/** Stands in the place of an agent for the gateway's own tools. */
const GATEWAY_TOOLS = "(gateway)";

type Kind = "call" | "turn" | "bridge";

export class UsageCounters {
  readonly #sql: SqlStorage;
  readonly #agents: Pick<Agents, "knows">;

  /** @param agents a name that they do not know is no label */
  constructor(storage: DurableObjectStorage, agents: Pick<Agents, "knows">) {
    this.#sql = storage.sql;
    this.#agents = agents;
  }

  /** A call of the ledger that was just settled. */
  settled(call: LedgerCall, outcome: Pick<Outcome, "status" | "errorType">, now: number): void {
    const tool = call.command === "tool" ? String(call.payload.tool) : call.command;
    this.called(call.agent, tool, now - (call.sentAt ?? call.createdAt), outcome);
  }

  /** @param elapsedMs from the sending to the result, as the gateway sees it */
  called(
    agent: string,
    tool: string,
    elapsedMs: number,
    { status, errorType }: Pick<Outcome, "status" | "errorType">,
  ): void {
    const known = this.#knows(agent, tool);
    const wanted = rowName(...(known === "none" ? OTHERS : [agent, known === "agent" ? OTHERS[1] : tool]));
    const row = this.#row<StoredCalls>("call", wanted);
    const isFull = !row && !this.#hasRoom();
    const name = isFull ? rowName(...OTHERS) : wanted;
    const figures = isFull ? this.#row<StoredCalls>("call", name) : row;
    const counts = figures ? toCallCounts(figures) : newCallCounts();
    const failure = status === "error" ? (errorType ?? "execution_failed") : undefined;
    countCall(counts, Math.max(0, elapsedMs), failure);
    this.#write("call", name, { ...counts, seconds: toStored(counts.seconds) });
  }

  #knows(agent: string, tool: string): ReturnType<Agents["knows"]> {
    return agent === GATEWAY_TOOLS ? "both" : this.#agents.knows(agent, tool);
  }

  /** Rows of invented names, from before names were checked, make room for real ones. */
  #hasRoom(): boolean {
    const rows = this.#rows<StoredCalls>("call");
    if (rows.length < CALL_ROWS_MAX) return true;
    const invented = rows.find(
      ({ names: [agent = "", tool = ""] }) => tool !== OTHERS[1] && this.#knows(agent, tool) !== "both",
    );
    if (!invented) return false;
    this.#sql.exec("DELETE FROM tally WHERE kind = 'call' AND name = ?", rowName(...invented.names));
    return true;
  }

  turnEnded(turn: ReportedTurn): void {
    const name = rowName(turn.channel);
    const figures = this.#row<StoredTurns>("turn", name);
    const counts = figures ? toTurnCounts(figures) : newTurnCounts();
    countTurn(counts, turn);
    this.#write("turn", name, {
      ...counts,
      iterations: toStored(counts.iterations),
      seconds: toStored(counts.seconds),
    });
    for (const { tool, elapsedMs, errorType } of turn.calls)
      this.called(GATEWAY_TOOLS, tool, elapsedMs, {
        status: errorType ? "error" : "success",
        ...(errorType && { errorType }),
      });
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

  calls(): Array<{ agent: string; tool: string; counts: CallCounts }> {
    return this.#rows<StoredCalls>("call").map(({ names: [agent = "", tool = ""], figures }) => ({
      agent,
      tool,
      counts: toCallCounts(figures),
    }));
  }

  turns(): Array<{ channel: string; counts: TurnCounts }> {
    return this.#rows<StoredTurns>("turn").map(({ names: [channel = ""], figures }) => ({
      channel,
      counts: toTurnCounts(figures),
    }));
  }

  #row<T>(kind: Kind, name: string): T | undefined {
    const [row] = this.#sql
      .exec<{ figures: string }>("SELECT figures FROM tally WHERE kind = ? AND name = ?", kind, name)
      .toArray();
    return row && (JSON.parse(row.figures) as T);
  }

  #rows<T>(kind: Kind): Array<{ names: string[]; figures: T }> {
    return this.#sql
      .exec<{ name: string; figures: string }>(
        "SELECT name, figures FROM tally WHERE kind = ? ORDER BY name",
        kind,
      )
      .toArray()
      .map(({ name, figures }) => ({
        names: JSON.parse(name) as string[],
        figures: JSON.parse(figures) as T,
      }));
  }

  #write(kind: Kind, name: string, figures: unknown): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO tally (kind, name, figures) VALUES (?, ?, ?)",
      kind,
      name,
      JSON.stringify(figures),
    );
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
  return { ...figures, iterations, seconds: toHistogram(ANSWER_SECONDS, figures.seconds) };
}

function rowName(...names: readonly string[]): string {
  return JSON.stringify(names.map((name) => name.slice(0, NAME_CHARS)));
}
