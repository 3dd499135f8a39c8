/** Reads where spans go. The names are those of OpenTelemetry's specification; without the first one nothing is traced. */
import type { Parsed } from "../protocol/parse.ts";

export type TraceSettings = {
  /** The collector's address for traces. */
  url: string;
  headers: Record<string, string>;
  /** Of the traces that begin here, 0 to 1. */
  ratio: number;
};

export type TraceVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  OTEL_TRACES_SAMPLER_ARG?: string | undefined;
};

/** @returns undefined: tracing is off. An error names its variable, and quotes no value, since headers are secrets */
export function readTraceSettings(variables: TraceVariables): Parsed<TraceSettings | undefined> {
  const endpoint = variables.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  if (!endpoint) return { ok: true, value: undefined };
  const address = URL.parse(endpoint);
  if (!address || !/^https?:$/.test(address.protocol) || address.username || address.search || address.hash)
    return wrong(
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      "an http(s) address such as http://127.0.0.1:4318, without user or query",
    );
  const headers = readHeaders(variables.OTEL_EXPORTER_OTLP_HEADERS ?? "");
  if (!headers) return wrong("OTEL_EXPORTER_OTLP_HEADERS", "name=value, several of them separated by commas");
  const arg = variables.OTEL_TRACES_SAMPLER_ARG?.trim() || "1";
  const ratio = Number(arg);
  if (!(ratio >= 0 && ratio <= 1)) return wrong("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1");
  return { ok: true, value: { url: `${address.href.replace(/\/+$/, "")}/v1/traces`, headers, ratio } };
}

/** As in W3C Baggage: values are percent-encoded. */
function readHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue;
    const [, name, value = ""] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*(.*)$/.exec(part) ?? [];
    const decoded = headerText(value);
    if (name === undefined || decoded === undefined) return undefined;
    headers[name.toLowerCase()] = decoded;
  }
  return headers;
}

function headerText(value: string): string | undefined {
  try {
    const text = decodeURIComponent(value);
    return /^[\x20-\x7e]*$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function wrong(name: string, right: string): { ok: false; error: string } {
  return { ok: false, error: `${name}: should be ${right}` };
}
