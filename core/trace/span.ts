/** A finished span, and many of them as OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
import type { SpanContext } from "./context.ts";

/** SpanKind of opentelemetry/proto/trace/v1/trace.proto. */
const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
const STATUS_ERROR = 2;

/** A value is a word of ours, a number or an id of a call: never a text of a person, a device or a model. */
type Attributes = Record<string, string | number | boolean | undefined>;

export type Span = {
  context: SpanContext;
  /** Absent: the trace begins with this span. */
  parentId?: string | undefined;
  name: string;
  kind: keyof typeof KINDS;
  /** Epoch ms. */
  startMs: number;
  endMs: number;
  attributes?: Attributes;
  /** A code such as `timeout`; absent: no error. */
  error?: string | undefined;
};

/** The program that made the spans. @property instance of this run, a uuid @property scope the part of it */
export type TraceSource = { service: string; version: string; instance?: string; scope: string };

export function otlpBody(spans: readonly Span[], { service, version, instance, scope }: TraceSource): string {
  const resource = {
    attributes: toKeyValues({
      "service.name": service,
      "service.version": version,
      "service.instance.id": instance,
    }),
  };
  const scopeSpans = [{ scope: { name: scope, version }, spans: spans.map(toOtlp) }];
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] });
}

function toOtlp({ context, parentId, name, kind, startMs, endMs, attributes = {}, error }: Span) {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    // Bit 0 is W3C's flag `sampled`.
    flags: 1,
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startMs),
    endTimeUnixNano: toNanos(Math.max(startMs, endMs)),
    attributes: toKeyValues({ ...attributes, "error.type": error }),
    ...(error !== undefined && { status: { code: STATUS_ERROR, message: error } }),
  };
}

/** More digits than a number holds exactly, so it is a text. */
function toNanos(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

function toKeyValues(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toAnyValue(value) }],
  );
}

function toAnyValue(value: string | number | boolean) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
