/**
 * The values that the figures are compared with. No figure fails the run, because a person has to read those of a
 * shared machine.
 */
import type { BatchFigures } from "./batches.ts";
import type { Costs } from "./cost/measure.ts";
import { objectRequests } from "./cost/prices.ts";
import type { CpuFigures } from "./cpu.ts";
import type { HomeAssistantFigures } from "./home-assistant/measure.ts";
import type { MemoryFigures } from "./memory.ts";
import { startWords } from "./node-starts.ts";
import type { Measured } from "./rounds.ts";
import type { Scale } from "./scale/measure.ts";
import type { Sentences } from "./sentences/measure.ts";
import type { Sizes } from "./sizes.ts";
import { KEPT, type WorkerStart } from "./worker-start.ts";

/** What is measured of calls and turns. */
export type Calls = {
  measured: Measured;
  cpu: CpuFigures;
  batches: BatchFigures;
  costs: Costs;
  sizes: Sizes;
  start: WorkerStart;
  memory: MemoryFigures[];
};

type Unit = "×" | "KiB" | "ms" | "s" | "MB" | "tokens" | "rows" | "requests" | "USD" | "turns";
export type Judged = { what: string; value: number; unit: Unit; limit: number; atMost: boolean; ok: boolean };

/** Cloudflare takes 3 MiB; a start reads all of it. */
export const WORKER_GZIP_KIB = 512;
/** Processor time of the Worker's start over that of the kept release. */
export const START_RATIO = 1.5;
const AGENT_RSS_RATIO = 1.8;
const ASSISTANT_BRIDGE_MB = 150;
const KEPT_BRIDGE_MB = 128;

/** The parts that were measured, with their limits. */
export function judge({
  calls,
  scale,
  sentences,
  homeAssistant = [],
}: {
  calls?: Calls | undefined;
  scale?: Scale | undefined;
  sentences?: Sentences | undefined;
  homeAssistant?: readonly HomeAssistantFigures[] | undefined;
}): Judged[] {
  return [
    ...(sentences ? judgeSentences(sentences) : []),
    ...(calls ? [...judgePath(calls), ...judgeCosts(calls.costs)] : []),
    ...(scale ? judgeScale(scale) : []),
    ...homeAssistant.map(({ devices, entities, kept, bridgeRss }) =>
      atMost(
        `the bridge's memory, ${entities} entities in ${devices} devices${kept ? ", 400 days kept" : ""}`,
        bridgeRss / 1_000_000,
        kept ? KEPT_BRIDGE_MB : ASSISTANT_BRIDGE_MB,
        "MB",
      ),
    ),
  ];
}

function judgePath({ measured, cpu, sizes, start, memory }: Calls): Judged[] {
  const { ratios } = measured;
  return [
    atMost("(c)/(b) at p50, 1 at a time", ratios[1]["c/b"].p50, 2.5),
    atMost("(c)/(b) at p99, 1 at a time", ratios[1]["c/b"].p99, 5),
    atMost("(d)/(b) at p50, 1 at a time", ratios[1]["d/b"].p50, 5.5),
    atLeast("calls a second of (c) over (b), 64 at a time", ratios[64]["c/b"].perSecond, 0.3),
    atMost("workerd's processor time of a call", cpu.workerd, 2.7, "ms"),
    atMost("… of a call, over the platform's floor, 64 at a time", cpu.among.call / cpu.among.floorCall, 1.8),
    atMost("… of a turn, over the platform's floor, 64 at a time", cpu.among.turn / cpu.among.floorTurn, 1.8),
    atMost("the Worker, minified, in gzip", sizes.gzipBytes / 1_024, WORKER_GZIP_KIB, "KiB"),
    atMost(`processor time of the Worker's start, over ${KEPT}'s`, start.ratio, START_RATIO),
    ...memory.flatMap(({ start, bareNode, idle, afterCalls }) => {
      const how = ` (${startWords(start)})`;
      return [
        atMost(`the agent's memory over bare Node, idle${how}`, idle / bareNode, AGENT_RSS_RATIO),
        atMost(
          `the agent's memory over bare Node, after 100 calls${how}`,
          afterCalls / bareNode,
          AGENT_RSS_RATIO,
        ),
      ];
    }),
  ];
}

function judgeSentences({ files, first, turns }: Sentences): Judged[] {
  const most = (of: "words" | "answers") => Math.max(...files.map((file) => file[of])) / 1_024;
  return [
    ...first.cold.map(({ language, floor, first: whole }) =>
      atMost(
        `a cold first sentence with ${first.names} names (${language})`,
        whole.main - floor.main,
        8,
        "ms",
      ),
    ),
    atMost("words of the largest language, in gzip", most("words"), 3, "KiB"),
    atMost("answers of the largest language, in gzip", most("answers"), 8, "KiB"),
    atMost(`heap of words and ${first.heap.names} names`, first.heap.bytes / 1_000_000, 2, "MB"),
    atMost("a command until it is confirmed, p95", turns.act.p95, 150, "ms"),
    atMost("a question, p95", turns.question.p95, 60, "ms"),
    atMost("requests to the model", turns.modelRequests, 0, "requests"),
    atMost("tokens", turns.tokens, 0, "tokens"),
  ];
}

function judgeCosts({ turns: [first, later] }: Costs): Judged[] {
  if (!first || !later) return [];
  return [
    atMost(`rows written by ${later.what}`, later.tally.rowsWritten, 8, "rows"),
    atMost(`requests to objects of ${later.what}`, objectRequests(later.tally), 6, "requests"),
    atMost(`a million of ${later.what}`, later.usd.asTheDocsSay.total, 9, "USD"),
    atMost(`rows written by ${first.what}`, first.tally.rowsWritten, 20, "rows"),
  ];
}

/** The fleets' sizes that have limits of their own. */
const FEW = 10;
const MANY = 1_000;

function judgeScale({ fleets, soak }: Scale): Judged[] {
  const few = fleets.find(({ agents, advert }) => agents === FEW && advert === "real");
  const [begin, end] = [soak.slices[0], soak.slices.at(-1)];
  const { before, after } = soak.ledger;
  return [
    ...fleets
      .filter(({ agents }) => agents >= MANY)
      .flatMap(({ agents, advert, request, storm }) => {
        const of = `${agents} agents (${advert})`;
        return [
          atMost(`tools and system prompt with ${of}`, request?.tokens ?? Number.NaN, 1_500, "tokens"),
          atMost(`turns that fail in a storm of ${of}`, storm?.failedTurns ?? Number.NaN, 0, "turns"),
        ];
      }),
    ...fleets
      .filter(({ agents, advert }) => agents === MANY && advert === "real")
      .flatMap(({ first, second, storm, turnMs, heapBytes }) => {
        const deaf = Math.max(...[first, second, storm].map((step) => step?.deafMs ?? Number.NaN));
        const of = `${MANY} agents`;
        return [
          atMost(`a turn with ${of}, over one with ${FEW}`, ratio(turnMs, few?.turnMs), 1.3),
          atMost(`first snapshot of ${of}`, ratio(first?.ms, 1_000), 3, "s"),
          atMost(`a second with nothing changed`, ratio(second?.ms, 1_000), 0.5, "s"),
          atMost(`the isolate's heap with ${of}`, ratio(heapBytes, 1_000_000), 40, "MB"),
          atMost(`the longest answer of /v1/status with ${of}`, deaf, 100, "ms"),
        ];
      }),
    ...(begin && end
      ? [
          ...(["workerd", "bridge", "agent", "broker"] as const).map((program) =>
            atMost(
              `memory of the ${program} after ${end.turns} turns, over ${begin.turns}`,
              end.rss[program] / begin.rss[program],
              1.1,
            ),
          ),
          atMost(
            `a turn at the end of ${end.turns}, over the first ${begin.turns} (processor time)`,
            end.cpuMs / begin.cpuMs,
            1.1,
          ),
        ]
      : []),
    atMost(
      `a turn with ${soak.ledger.calls} settled calls, over one without (processor time)`,
      after.cpuMs / before.cpuMs,
      1.1,
    ),
  ];
}

function ratio(value: number | undefined, over: number | undefined): number {
  return (value ?? Number.NaN) / (over ?? Number.NaN);
}

function atMost(what: string, value: number, limit: number, unit: Unit = "×"): Judged {
  return { what, value, unit, limit, atMost: true, ok: value <= limit };
}

function atLeast(what: string, value: number, limit: number, unit: Unit = "×"): Judged {
  return { what, value, unit, limit, atMost: false, ok: value >= limit };
}
