/**
 * Sends spans to a collector: OTLP over HTTP, as JSON. Nothing waits for it. Spans go out together a moment after the first; what a
 * collector does not take is dropped, with one line in the log until it takes spans again.
 */

import { withTimeLimit } from "../time-limit.ts";
import type { TraceSettings } from "./settings.ts";
import { otlpBody, type Span, type TraceSource } from "./span.ts";

/** More spans than this are dropped while they wait. */
const QUEUE_MAX = 1_000;
const SEND_TIMEOUT_MS = 5_000;

export type TracerOptions = {
  settings: TraceSettings;
  source: TraceSource;
  /** Spans go out so long after the first of them. Absent: only `flush` sends. */
  delayMs?: number;
  /** Keeps the program up while spans are sent. */
  keep?: (sending: Promise<void>) => void;
  log: (event: string, fields: Record<string, string | number>) => void;
};

export class Tracer {
  readonly #options: TracerOptions;
  #spans: Span[] = [];
  #dropped = 0;
  #isAway = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** Takes a finished span. One that is not sampled is ignored. */
  add(span: Span): void {
    if (!span.context.sampled) return;
    if (this.#spans.length >= QUEUE_MAX) this.#dropped += 1;
    else this.#spans.push(span);
    const { delayMs, keep = () => {} } = this.#options;
    if (delayMs !== undefined) this.#timer ??= setTimeout(() => keep(this.flush()), delayMs);
  }

  /** Sends what is there. Never throws. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const spans = this.#spans;
    if (spans.length === 0) return;
    this.#spans = [];
    const { settings, source, log } = this.#options;
    const failure = await post(settings, otlpBody(spans, source));
    const dropped = this.#dropped + (failure === undefined ? 0 : spans.length);
    this.#dropped = 0;
    if (failure === undefined && dropped === 0) this.#isAway = false;
    else if (!this.#isAway) {
      this.#isAway = true;
      log("trace.dropped", { spans: dropped, error: failure ?? `more than ${QUEUE_MAX} waited` });
    }
  }
}

/** @returns why the collector did not take it; undefined: it did */
async function post({ url, headers }: TraceSettings, body: string): Promise<string | undefined> {
  try {
    return await withTimeLimit(SEND_TIMEOUT_MS, async (signal) => {
      const response = await fetch(url, {
        method: "POST",
        // The headers may hold a key, which is for this address alone.
        redirect: "manual",
        headers: { ...headers, "content-type": "application/json" },
        body,
        signal,
      });
      await response.body?.cancel();
      return response.ok ? undefined : `status ${response.status}`;
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
