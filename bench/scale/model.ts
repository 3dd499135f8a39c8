/** What any number of homes needs and costs a month on Cloudflare, computed from the counts of one. Pure. */
import { gbSeconds, PAID_PLAN, USD_PER } from "../cost/prices.ts";

/** Of one turn with one call. */
export type TurnCounts = {
  workerRequests: number;
  /** Billed requests to both objects, and Home's part of them. */
  objectRequests: number;
  homeRequests: number;
  rowsRead: number;
  rowsWritten: number;
  /** Of both objects, without the model's time. */
  awakeMs: number;
};

/** What the bench counts; its `countsOf` fills this from one run. */
export type Counts = {
  /** The first turn of a conversation, and one long after the turn before. */
  first: TurnCounts;
  later: TurnCounts;
  /** An agent goes or comes: frames from the bridge, rows of Home. */
  presence: { messages: number; rowsRead: number; rowsWritten: number };
  /** Bytes of databases. */
  homeBytes: number;
  agentBytes: number;
  conversationBytes: number;
  turnBytes: number;
  turnBytesInHome: number;
  /** Of the isolate: with one agent, and for each further one. */
  heapBytes: number;
  agentHeapBytes: number;
  /** Of `/v1/agents` for one agent. */
  agentListBytes: number;
  /** Processor time of workerd for a turn with one call: Worker, Home and conversation together. */
  turnCpuMs: number;
};

/** How a home is used. */
export type Use = {
  agents: number;
  turnsADay: number;
  turnsInConversation: number;
  /** The time that the conversation waits for the model in a turn. */
  modelSeconds: number;
  /** How often each agent goes or comes in a day. */
  presenceChangesADay: number;
  /** Conversations older than this were deleted by their owner. */
  monthsKept: number;
};

export const USUAL_USE: Use = {
  agents: 10,
  turnsADay: 20,
  turnsInConversation: 5,
  modelSeconds: 4,
  presenceChangesADay: 2,
  monthsKept: 12,
};

/** What Cloudflare bills, in a month. */
type Amounts = Record<keyof typeof USD_PER, number>;
export type Month = { homes: number; turns: number; amounts: Amounts; usd: Amounts; totalUsd: number };

const DAYS_IN_MONTH = 30;
const GB = 1_000_000_000;
/** This many messages of a WebSocket are billed as one request. */
const MESSAGES_PER_REQUEST = 20;
/** Home keeps settled calls for two days. */
const DAYS_CALLS_ARE_KEPT = 2;

/** @returns what so many homes need in a month, and what it costs with the plan's price and what it includes */
export function monthOf(counts: Counts, use: Use, homes: number): Month {
  const turns = homes * use.turnsADay * DAYS_IN_MONTH;
  const firstShare = 1 / use.turnsInConversation;
  const each = (of: (turn: TurnCounts) => number) =>
    turns * (firstShare * of(counts.first) + (1 - firstShare) * of(counts.later));
  const changes = homes * use.agents * use.presenceChangesADay * DAYS_IN_MONTH;
  const { presence } = counts;
  const amounts: Amounts = {
    workerRequests: each((turn) => turn.workerRequests),
    objectRequests:
      each((turn) => turn.objectRequests) + (changes * presence.messages) / MESSAGES_PER_REQUEST,
    gbSeconds: gbSeconds(each((turn) => turn.awakeMs + use.modelSeconds * 1_000)),
    rowsRead: each((turn) => turn.rowsRead) + changes * presence.rowsRead,
    rowsWritten: each((turn) => turn.rowsWritten) + changes * presence.rowsWritten,
    storedGb: (homes * storedBytes(counts, use)) / GB,
  };
  const usd = { ...amounts };
  for (const key of Object.keys(usd) as Array<keyof Amounts>)
    usd[key] = Math.max(0, amounts[key] - PAID_PLAN[key]) * USD_PER[key];
  const totalUsd = PAID_PLAN.usd + Object.values(usd).reduce((sum, part) => sum + part, 0);
  return { homes, turns, amounts, usd, totalUsd };
}

/** Returns the bytes of one home's databases once it has been used for as long as it keeps conversations. */
export function storedBytes(counts: Counts, use: Use): number {
  const turns = use.turnsADay * DAYS_IN_MONTH * use.monthsKept;
  const conversations = turns / use.turnsInConversation;
  return (
    counts.homeBytes +
    (use.agents - 1) * counts.agentBytes +
    use.turnsADay * DAYS_CALLS_ARE_KEPT * counts.turnBytesInHome +
    conversations * counts.conversationBytes +
    (turns - conversations) * counts.turnBytes
  );
}

/** A limit of the platform, and where a home meets it. */
export type Reached = { limit: string; at: number; unit: "agents" | "turns a second" | "turns"; how: string };

/** Cloudflare's limits (durable-objects/platform/limits and /reference/faq, workers/platform/limits; read 2026-11-23). */
const LIMITS = {
  requestsASecond: 1_000,
  memoryBytes: 128 * 1_048_576,
  storedBytes: 10 * GB,
  rpcBytes: 32 * 1_048_576,
};
/** The share of the isolate's memory that adverts may take: turns, lists and the collector need the rest. */
const MEMORY_SHARE = 0.5;

/** @returns where one home and one conversation meet each limit, the lowest of each unit first */
export function limitsReached(counts: Counts): Reached[] {
  const { rpcBytes, memoryBytes, requestsASecond } = LIMITS;
  const reached: Reached[] = [
    {
      limit: "128 MB for an isolate, half of it for agents",
      at: (memoryBytes * MEMORY_SHARE - counts.heapBytes) / counts.agentHeapBytes,
      unit: "agents",
      how: `${kib(counts.agentHeapBytes)} an agent`,
    },
    {
      limit: "32 MiB for an answer of RPC: a list without pages",
      at: rpcBytes / counts.agentListBytes,
      unit: "agents",
      how: `${kib(counts.agentListBytes)} an agent`,
    },
    {
      limit: "10 GB for an object: Home's adverts",
      at: (LIMITS.storedBytes - counts.homeBytes) / counts.agentBytes,
      unit: "agents",
      how: `${kib(counts.agentBytes)} an agent`,
    },
    {
      limit: "one thread for an object: processor time",
      at: 1_000 / counts.turnCpuMs,
      unit: "turns a second",
      how: `${counts.turnCpuMs.toFixed(1)} ms a turn, the Worker and the conversation included`,
    },
    {
      limit: "1,000 requests a second to an object (soft)",
      at: requestsASecond / counts.later.homeRequests,
      unit: "turns a second",
      how: `${counts.later.homeRequests.toFixed(2)} requests to Home a turn`,
    },
    {
      limit: "10 GB for an object: one conversation",
      at: (LIMITS.storedBytes - counts.conversationBytes) / counts.turnBytes,
      unit: "turns",
      how: `${kib(counts.turnBytes)} a turn`,
    },
  ];
  const units = ["agents", "turns a second", "turns"];
  return reached.sort((a, b) => units.indexOf(a.unit) - units.indexOf(b.unit) || a.at - b.at);
}

function kib(bytes: number): string {
  return `${(bytes / 1_024).toFixed(1)} KiB`;
}
