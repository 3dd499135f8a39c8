/**
 * Cloudflare's prices in USD beyond the included amounts of the Workers Paid plan. Unless stated otherwise: read
 * 2026-11-21 in Cloudflare's docs (durable-objects/platform/pricing).
 */
import { KEEPALIVE_EVERY_MS } from "@edgecall/core/protocol/names.ts";
import type { Tally } from "./tally.ts";

const MILLION = 1_000_000;

/** Requests to objects: RPC calls, fetches (opening a WebSocket is one), alarms that ran. */
const OBJECT_REQUEST_USD = 0.15 / MILLION;
/** This many incoming WebSocket messages count as one request; outgoing ones are free. */
const MESSAGES_PER_REQUEST = 20;
const GB_SECOND_USD = 12.5 / MILLION;
/** An object is billed as if it used the 128 MB of its isolate alone. */
const OBJECT_GB = 0.128;
const ROW_READ_USD = 0.001 / MILLION;
/** Deletes, index entries and `setAlarm` count too. */
const ROW_WRITTEN_USD = 1 / MILLION;
const STORED_GB_MONTH_USD = 0.2;
/** workers/platform/pricing, read 2026-11-22. Its CPU price (0.02 a million ms) is left out. */
const WORKER_REQUEST_USD = 0.3 / MILLION;
/**
 * An idle object that could hibernate is not billed, the page says, "even before the runtime has hibernated them". An
 * older footnote suggests that these 10 s are billed. The worst case bills them after everything that woke the object.
 */
export const AWAKE_TAIL_MS = 10_000;

/** What the Workers Paid plan costs a month, and what it includes (both pricing pages, read 2026-11-23). */
export const PAID_PLAN = {
  usd: 5,
  workerRequests: 10 * MILLION,
  objectRequests: MILLION,
  gbSeconds: 400_000,
  rowsRead: 25_000 * MILLION,
  rowsWritten: 50 * MILLION,
  storedGb: 5,
} as const;
/** Prices beyond what the plan includes. */
export const USD_PER = {
  workerRequests: WORKER_REQUEST_USD,
  objectRequests: OBJECT_REQUEST_USD,
  gbSeconds: GB_SECOND_USD,
  rowsRead: ROW_READ_USD,
  rowsWritten: ROW_WRITTEN_USD,
  storedGb: STORED_GB_MONTH_USD,
} as const;

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

/** Returns the billed requests to objects. */
export function objectRequests({ rpc, fetches, alarms, messages }: Tally): number {
  return rpc + fetches + alarms + messages / MESSAGES_PER_REQUEST;
}

/** Returns the USD of a million turns like this one. @param awakeMs of both objects together */
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

/** The price that each second of the model adds to a million turns, because the conversation is awake meanwhile. */
export const MODEL_SECOND_USD = MILLION * gbSeconds(1_000) * GB_SECOND_USD;

export type IdleUsd = {
  /** The bridge's pings in 30 days. The runtime answers them, and no object wakes. */
  pings: number;
  stored: number;
  /** The docs say that these pings cost no duration, and nothing about requests: here they count as messages. */
  ifPingsAreMessages: number;
};

/**
 * The price of a home with one agent in which nothing happens for 30 days. @param storedBytes of its Home's database
 */
export function idleMonth(storedBytes: number): IdleUsd {
  const pings = Math.round((MONTH_S * 1_000) / KEEPALIVE_EVERY_MS);
  const stored = (storedBytes / GB) * STORED_GB_MONTH_USD;
  return {
    pings,
    stored,
    ifPingsAreMessages: stored + (pings / MESSAGES_PER_REQUEST) * OBJECT_REQUEST_USD,
  };
}
