/**
 * The place of a span in its trace, as W3C Trace Context writes it (https://www.w3.org/TR/trace-context/). Ids of spans that another
 * program has to know, or that a program makes again after a crash, follow from the uuid of the turn or the call.
 */

import { TRACEPARENT_MAX_CHARS } from "../protocol/names.ts";

export type SpanContext = { traceId: string; spanId: string; sampled: boolean };

/** The spans that are named by a uuid: a turn's, a call's at the conversation, Home, the bridge and the agent, and a tool's. */
export type SpanOwner = "turn" | "call" | "home" | "bridge" | "agent" | "tool";

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ALL_ZERO = /^0+$/;

/** @returns undefined: it is not one, and the trace begins anew */
export function readTraceparent(text: string | undefined | null): SpanContext | undefined {
  if (!text || text.length > TRACEPARENT_MAX_CHARS) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = TRACEPARENT.exec(text.trim()) ?? [];
  // Later versions may have more fields; version 00 has none.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (ALL_ZERO.test(traceId) || ALL_ZERO.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, sampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** The first span of a trace. @param ratio of the traces that are recorded, 0 to 1 */
export function newTrace(ratio: number, spanId = randomHex(8)): SpanContext {
  return { traceId: randomHex(16), spanId, sampled: Math.random() < ratio };
}

/** A span below another one. @param spanId absent: a random one */
export function childOf(parent: SpanContext, spanId = randomHex(8)): SpanContext {
  return { ...parent, spanId };
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** The same for the same uuid in every program: FNV-1a, 64 bits, hex. */
export function spanIdOf(owner: SpanOwner, uuid: string): string {
  let hash = FNV_OFFSET;
  for (const char of `${owner}:${uuid}`)
    hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0) ?? 0)) * FNV_PRIME);
  return (hash || 1n).toString(16).padStart(16, "0");
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
