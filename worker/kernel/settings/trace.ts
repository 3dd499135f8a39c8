/** Where the gateway's spans go (core/trace/settings.ts). */
import { readTraceSettings, type TraceSettings, type TraceVariables } from "@edgecall/core/trace/settings.ts";
import { readOnce } from "./read-once.ts";

export const readTrace = readOnce((env: TraceVariables) => readTraceSettings(env));

/** @returns undefined: nothing is traced. A wrong variable is an error of `readSettings` */
export function traceSettings(env: TraceVariables): TraceSettings | undefined {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined;
  const read = readTrace(env);
  return read.ok ? read.value : undefined;
}
