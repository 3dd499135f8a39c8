/**
 * A home's counts of calls and turns since it was set up, for /metrics. A counter must not fall, and an object forgets
 * when it sleeps: so they stand in rows, one for each tool of an agent and each channel, written as they change.
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
import type { LedgerCall } from "../calls/ledger.ts";

/** Rows of calls: what a model invents as a tool's name must not fill the home, nor Prometheus. */
const CALL_ROWS_MAX = 300;
const NAME_CHARS = 100;
const OTHERS = ["(others)", "(others)"] as const;

/** Whose tools the gateway's own are. */
export const GATEWAY_TOOLS = "(gateway)";

/** The names of a call that are real. */
export type Known = "both" | "agent" | "none";

type Kind = "call" | "turn" | "bridge";

export class Tallies {
  readonly #sql: SqlStorage;

  readonly #isKnown: (agent: string, tool: string) => Known;

  /** @param isKnown whether such an agent is there, and has that tool: a name that somebody made up is no label */
  constructor(storage: DurableObjectStorage, isKnown: (agent: string, tool: string) => Known = () => "both") {
    this.#sql = storage.sql;
    this.#isKnown = isKnown;
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
    const is = this.#isKnown(agent, tool);
    const wanted = keyOf(...(is === "none" ? OTHERS : [agent, is === "agent" ? OTHERS[1] : tool]));
    const known = this.#row<StoredCalls>("call", wanted);
    const isFull = !known && !this.#hasRoom();
    const key = isFull ? keyOf(...OTHERS) : wanted;
    const figures = isFull ? this.#row<StoredCalls>("call", key) : known;
    const counts = figures ? restoredCalls(figures) : newCallCounts();
    const failure = status === "error" ? (errorType ?? "execution_failed") : undefined;
    countCall(counts, Math.max(0, elapsedMs), failure);
    this.#write("call", key, { ...counts, seconds: stored(counts.seconds) });
  }

  /** Rows of names that were made up before they were looked at make room for real ones. */
  #hasRoom(): boolean {
    const rows = this.#rows<StoredCalls>("call");
    if (rows.length < CALL_ROWS_MAX) return true;
    const madeUp = rows.find(
      ({ names: [agent = "", tool = ""] }) => tool !== OTHERS[1] && this.#isKnown(agent, tool) !== "both",
    );
    if (!madeUp) return false;
    this.#sql.exec("DELETE FROM tally WHERE kind = 'call' AND name = ?", keyOf(...madeUp.names));
    return true;
  }

  turnEnded(turn: ReportedTurn): void {
    const key = keyOf(turn.channel);
    const figures = this.#row<StoredTurns>("turn", key);
    const counts = figures ? restoredTurns(figures) : newTurnCounts();
    countTurn(counts, turn);
    this.#write("turn", key, {
      ...counts,
      iterations: stored(counts.iterations),
      seconds: stored(counts.seconds),
    });
    for (const { tool, elapsedMs, errorType } of turn.calls)
      this.called(GATEWAY_TOOLS, tool, elapsedMs, {
        status: errorType ? "error" : "success",
        ...(errorType && { errorType }),
      });
  }

  bridgeConnected(): void {
    this.#write("bridge", keyOf("connections"), this.bridgeConnections() + 1);
  }

  bridgeConnections(): number {
    return this.#row<number>("bridge", keyOf("connections")) ?? 0;
  }

  /** Reports of jobs that nobody began. */
  jobsDropped(count: number): void {
    this.#write("bridge", keyOf("jobs_dropped"), this.droppedJobs() + count);
  }

  droppedJobs(): number {
    return this.#row<number>("bridge", keyOf("jobs_dropped")) ?? 0;
  }

  calls(): Array<{ agent: string; tool: string; counts: CallCounts }> {
    return this.#rows<StoredCalls>("call").map(({ names: [agent = "", tool = ""], figures }) => ({
      agent,
      tool,
      counts: restoredCalls(figures),
    }));
  }

  turns(): Array<{ channel: string; counts: TurnCounts }> {
    return this.#rows<StoredTurns>("turn").map(({ names: [channel = ""], figures }) => ({
      channel,
      counts: restoredTurns(figures),
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
/** The bounds are the code's: a row of other bounds begins anew. */
type Stored<T> = { [Key in keyof T]: T[Key] extends Histogram ? StoredHistogram : T[Key] };
type StoredCalls = Stored<CallCounts>;
type StoredTurns = Stored<TurnCounts>;

function stored({ counts, sum }: Histogram): StoredHistogram {
  return { counts, sum };
}

function restored(bounds: readonly number[], { counts, sum }: StoredHistogram): Histogram {
  return counts.length === bounds.length + 1 ? { bounds, counts, sum } : newHistogram(bounds);
}

function restoredCalls(figures: StoredCalls): CallCounts {
  return { ...figures, seconds: restored(CALL_SECONDS, figures.seconds) };
}

function restoredTurns(figures: StoredTurns): TurnCounts {
  const iterations = restored(ITERATIONS, figures.iterations);
  return { ...figures, iterations, seconds: restored(ANSWER_SECONDS, figures.seconds) };
}

function keyOf(...names: readonly string[]): string {
  return JSON.stringify(names.map((name) => name.slice(0, NAME_CHARS)));
}
