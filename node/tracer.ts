/** The tracer of bridge and agent. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import type { TraceSettings } from "@edgecall/core/trace/settings.ts";
import { Tracer } from "@edgecall/core/trace/tracer.ts";
import type { Log } from "./log.ts";

/** Spans of a second go out together. */
const DELAY_MS = 1_000;

/** @param instance of this run, a uuid that its log has too */
export function nodeTracer(
  program: "bridge" | "agent",
  instance: string,
  settings: TraceSettings,
  log: Log,
): Tracer {
  return new Tracer({
    settings,
    source: { service: `edgecall-${program}`, version: VERSION, instance, scope: program },
    delayMs: DELAY_MS,
    log: (event, fields) => log("warn", event, fields),
  });
}
