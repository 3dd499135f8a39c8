/** The spans of calls on their way through the bridge: from Home's frame to the report, or to the refusal. */
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { childOf, readTraceparent, type SpanContext, spanIdOf } from "@edgecall/core/trace/context.ts";
import type { Tracer } from "@edgecall/core/trace/tracer.ts";

/** More calls than this are not recorded at once. */
const OPEN_MAX = 2_000;

type CallFrame = Extract<HomeFrame, { t: "call" }>;
type Open = {
  context: SpanContext;
  parentId: string;
  destination: string;
  startMs: number;
  bytes: number;
  /** Both by the steady clock. */
  begunAt: number;
  until: number;
};

/** A hosted device has a topic of its own, and names would be too many. */
const DEVICE_TOPIC = "{device}";

export class CallSpans {
  readonly #tracer: Tracer;
  readonly #destination: string;
  readonly #open = new Map<string, Open>();

  /** @param prefix the topics' prefix */
  constructor(tracer: Tracer, prefix: string) {
    this.#tracer = tracer;
    this.#destination = `${prefix}/agents/{agent}/commands`;
  }

  /** A frame came. A repeated one belongs to the span that is open. @param isHosted it is for a hosted device */
  begin({ id, payload, expires_in_ms, traceparent }: CallFrame, isHosted: boolean): void {
    const parent = readTraceparent(traceparent);
    if (!parent?.sampled || this.#open.has(id) || this.#open.size >= OPEN_MAX) return;
    this.#open.set(id, {
      context: childOf(parent, spanIdOf("bridge", id)),
      parentId: parent.spanId,
      destination: isHosted ? DEVICE_TOPIC : this.#destination,
      startMs: Date.now(),
      bytes: Buffer.byteLength(payload),
      begunAt: performance.now(),
      until: performance.now() + expires_in_ms,
    });
  }

  /** @param error the code of a refusal */
  end(id: string, error?: string): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    const { context, parentId, destination, startMs, bytes, begunAt } = open;
    this.#tracer.add({
      context,
      parentId,
      name: `send ${destination}`,
      kind: "producer",
      startMs,
      endMs: startMs + performance.now() - begunAt,
      attributes: {
        "messaging.system": "mqtt",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.template": destination,
        "messaging.message.id": id,
        "messaging.message.body.size": bytes,
      },
      error,
    });
  }

  /** Ends the spans of calls whose time is over. */
  tick(): void {
    const now = performance.now();
    for (const [id, { until }] of this.#open) if (until <= now) this.end(id, "timeout");
  }
}
