/** Traces of the gateway. docs/guides/traces.md has the spans. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import type { TraceVariables } from "@edgecall/core/trace/settings.ts";
import { Tracer } from "@edgecall/core/trace/tracer.ts";
import { logInfo } from "./log.ts";
import { traceSettings } from "./settings/trace.ts";

/** Spans of a moment go out together. */
const DELAY_MS = 200;

/** The tracer of an object, or of one request; undefined: nothing is traced. */
export function newTracer(
  env: TraceVariables,
  scope: "conversation" | "home" | "http",
  ctx: { waitUntil(work: Promise<unknown>): void },
): Tracer | undefined {
  const settings = traceSettings(env);
  if (!settings) return undefined;
  return new Tracer({
    settings,
    source: { service: "edgecall-gateway", version: VERSION, scope },
    delayMs: DELAY_MS,
    keep: (sending) => ctx.waitUntil(sending),
    log: logInfo,
  });
}
