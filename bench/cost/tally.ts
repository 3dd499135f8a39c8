/** The counted Worker's lines, summed up. */
import type { Actor, CostLine } from "./lines.ts";

export type Tally = {
  workerRequests: number;
  /** Requests to objects, by their kind. */
  rpc: number;
  fetches: number;
  alarms: number;
  /** Incoming messages of WebSockets. */
  messages: number;
  rowsRead: number;
  /** Includes a row for each alarm that was set. */
  rowsWritten: number;
  alarmsSet: number;
  statements: number;
};

export function emptyTally(): Tally {
  return {
    workerRequests: 0,
    rpc: 0,
    fetches: 0,
    alarms: 0,
    messages: 0,
    rowsRead: 0,
    rowsWritten: 0,
    alarmsSet: 0,
    statements: 0,
  };
}

export function tally(lines: readonly CostLine[]): Tally {
  const sum = emptyTally();
  for (const line of lines) addLine(sum, line);
  return sum;
}

/** Adds a line to `sum`. */
export function addLine(sum: Tally, line: CostLine): void {
  switch (line.cost) {
    case "worker":
      sum.workerRequests += 1;
      break;
    case "rows":
      sum.statements += 1;
      sum.rowsRead += line.read;
      sum.rowsWritten += line.written;
      break;
    case "alarm":
      if (line.did === "runs") break;
      sum.alarmsSet += 1;
      sum.rowsWritten += 1;
      break;
    case "request":
      if (line.via === "rpc") sum.rpc += 1;
      if (line.via === "fetch") sum.fetches += 1;
      if (line.via === "alarm") sum.alarms += 1;
      if (line.via === "message") sum.messages += 1;
  }
}

/** Where the summing Worker answers its sums. */
export const SUMS_PATH = "/bench/sums";
/** Where it copies settled calls: `?home=NAME&calls=COUNT`. */
export const FILL_PATH = "/bench/fill";

/**
 * `busyMs`: the time of all requests and work, added up, also of those that run at the same time. `bytes`: the database of
 * the object that worked last.
 */
type ActorSums = Tally & { busyMs: number; bytes: number };
/** Everything that was counted since workerd's start. `worker`: requests to the Worker. */
export type Sums = { worker: number } & Record<Actor, ActorSums>;

/** Reads the sums of a summing Worker. @param url of the Worker */
export async function readSums(url: string): Promise<Sums> {
  return (await (await fetch(`${url}${SUMS_PATH}`)).json()) as Sums;
}

/** Returns what was counted between two readings. */
export function sumsBetween(before: Sums, after: Sums): Sums {
  const actor = (of: Actor): ActorSums => {
    const difference = { ...after[of] };
    for (const key of Object.keys(difference) as Array<keyof ActorSums>) difference[key] -= before[of][key];
    return difference;
  };
  return {
    worker: after.worker - before.worker,
    Home: actor("Home"),
    Conversation: actor("Conversation"),
  };
}

/** Divides each figure by `turns`. */
export function perTurn(sum: Tally, turns: number): Tally {
  const shares = { ...sum };
  for (const key of Object.keys(shares) as Array<keyof Tally>) shares[key] /= turns;
  return shares;
}

/**
 * Returns the milliseconds that the objects were awake, summed: for each object the union of its work.
 * @param tailMs the time that an object stays awake after its work
 */
export function awakeMs(lines: readonly CostLine[], tailMs = 0): number {
  const awake = (of: Actor) =>
    unionMs(
      lines.flatMap((line) =>
        (line.cost === "request" || line.cost === "work") && line.of === of
          ? [{ from: line.from, to: line.to + tailMs }]
          : [],
      ),
    );
  return awake("Home") + awake("Conversation");
}

function unionMs(spans: Array<{ from: number; to: number }>): number {
  let total = 0;
  let covered = Number.NEGATIVE_INFINITY;
  for (const { from, to } of spans.sort((a, b) => a.from - b.from)) {
    total += Math.max(0, to - Math.max(from, covered));
    covered = Math.max(covered, to);
  }
  return total;
}

/** Returns true when an alarm is set that has not run yet. An object has at most one. */
export function alarmStands(lines: readonly CostLine[]): boolean {
  return (["Home", "Conversation"] as const).some((of) => {
    const last = lines.findLast((line) => line.cost === "alarm" && line.of === of);
    return last?.cost === "alarm" && last.did === "set";
  });
}
