/**
 * What Cloudflare asks beyond what a plan includes, USD, on the Workers Paid plan. Unless it is said otherwise:
 * research/cloudflare.md §1.8, read 2026-11-21 in Cloudflare's docs (durable-objects/platform/pricing).
 */
import { KEEPALIVE_EVERY_MS } from "@edgecall/core/protocol/names.ts";
import type { Tally } from "./tally.ts";

const MILLION = 1_000_000;

/** Requests to objects: RPC calls, fetches (a WebSocket that is opened is one), alarms that ran. */
const OBJECT_REQUEST_USD = 0.15 / MILLION;
/** Incoming messages of a WebSocket count as one request each so many; outgoing ones as none. */
const MESSAGES_PER_REQUEST = 20;
const GB_SECOND_USD = 12.5 / MILLION;
/** An object is billed as if it had the 128 MB of its isolate to itself. */
const OBJECT_GB = 0.128;
const ROW_READ_USD = 0.001 / MILLION;
/** Deletes, index entries and `setAlarm` count as well. */
const ROW_WRITTEN_USD = 1 / MILLION;
const STORED_GB_MONTH_USD = 0.2;
/** workers/platform/pricing; not in research/, seen 2026-11-22. Its CPU price (0.02 a million ms) is left out. */
const WORKER_REQUEST_USD = 0.3 / MILLION;
/**
 * An idle object that could hibernate is not billed, the page says, "even before the runtime has hibernated them".
 * An older footnote reads as if these 10 s were: the worse reading bills them after everything that woke it.
 */
export const AWAKE_TAIL_MS = 10_000;

const MONTH_S = 30 * 86_400;
const GB = 1_000_000_000;

export type TurnUsd = {
  workerRequests: number;
  objectRequests: number;
  rowsRead: number;
  rowsWritten: number;
  /** Without the model's time. */
  duration: number;
  total: number;
};

/** Requests to objects as they are billed. */
export function objectRequests({ rpc, fetches, alarms, messages }: Tally): number {
  return rpc + fetches + alarms + messages / MESSAGES_PER_REQUEST;
}

/** USD of a million turns like this one. @param awakeMs of both objects together, by one reading or the other */
export function usdPerMillion(tally: Tally, awakeMs: number): TurnUsd {
  const parts = {
    workerRequests: MILLION * tally.workerRequests * WORKER_REQUEST_USD,
    objectRequests: MILLION * objectRequests(tally) * OBJECT_REQUEST_USD,
    rowsRead: MILLION * tally.rowsRead * ROW_READ_USD,
    rowsWritten: MILLION * tally.rowsWritten * ROW_WRITTEN_USD,
    duration: MILLION * gbSeconds(awakeMs) * GB_SECOND_USD,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, part) => sum + part, 0) };
}

export function gbSeconds(awakeMs: number): number {
  return (awakeMs / 1_000) * OBJECT_GB;
}

/** What each second of the model adds to a million turns: its conversation is awake meanwhile. */
export const MODEL_SECOND_USD = MILLION * gbSeconds(1_000) * GB_SECOND_USD;

export type IdleUsd = {
  /** Pings of the bridge in 30 days; the runtime answers them, and no object wakes. */
  pings: number;
  stored: number;
  /** The docs say that these pings cost no duration, and nothing of requests: counted as messages. */
  ifPingsAreMessages: number;
};

/** A home with one agent in which nothing happens for 30 days. @param storedBytes of its Home's database */
export function idleMonth(storedBytes: number): IdleUsd {
  const pings = Math.round((MONTH_S * 1_000) / KEEPALIVE_EVERY_MS);
  const stored = (storedBytes / GB) * STORED_GB_MONTH_USD;
  return {
    pings,
    stored,
    ifPingsAreMessages: stored + (pings / MESSAGES_PER_REQUEST) * OBJECT_REQUEST_USD,
  };
}
