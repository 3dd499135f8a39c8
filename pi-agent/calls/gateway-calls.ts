/**
 * Calls of this agent's own loop that the gateway carries out: to other agents, and tools of the home. Each is published as the
 * event `call`, again and again under the same id, until the notice `called` brings its outcome. The gateway recognises the id, so
 * it runs once.
 */
import {
  type AgentEvent,
  CALL_FEATURE,
  CalledCommand,
  type CalledOutcome,
} from "@edgecall/core/protocol/mqtt.ts";
import { check } from "@edgecall/core/protocol/parse.ts";

/** Pauses before the event is published again. The last one stays. */
const AGAIN_MS = [5_000, 10_000, 20_000, 30_000];
/** The gateway ends a call long before, also when its own agent is gone. */
const MOST_MS = 24 * 3_600_000;

type CallEvent = Extract<AgentEvent, { type: "call" }>;

/** @property requestId the command that it is a part of */
export type GatewayCall = {
  requestId: string;
  callId: string;
  name: string;
  args: Record<string, unknown>;
  traceparent?: string;
};

type Open = { event: CallEvent; close(outcome: CalledOutcome): void };

export class GatewayCalls {
  readonly #publish: (event: CallEvent) => void;
  readonly #againMs: readonly number[];
  readonly #open = new Map<string, Open>();
  #features: readonly string[] = [];

  constructor(publish: (event: CallEvent) => void, againMs: readonly number[] = AGAIN_MS) {
    this.#publish = publish;
    this.#againMs = againMs;
  }

  /** True if gateway and bridge know the event. */
  get areOffered(): boolean {
    return this.knows(CALL_FEATURE);
  }

  knows(feature: string): boolean {
    return this.#features.includes(feature);
  }

  /** @param features as the notice `gateway` has them */
  gatewayKnows(features: readonly string[]): void {
    this.#features = features;
  }

  /** Asks, and waits for the outcome. @throws the signal's reason when it is aborted first */
  async call({ requestId, callId, ...asked }: GatewayCall, signal: AbortSignal): Promise<CalledOutcome> {
    signal.throwIfAborted();
    const event: CallEvent = { type: "call", request_id: requestId, call_id: callId, ...asked };
    const { name } = asked;
    const { promise, resolve, reject } = Promise.withResolvers<CalledOutcome>();
    const aborted = () => reject(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
    const end = setTimeout(() => resolve(noAnswer(name)), MOST_MS);
    let tries = 0;
    let again: ReturnType<typeof setTimeout> | undefined;
    const repeat = () => {
      this.#publish(event);
      again = setTimeout(repeat, this.#againMs[Math.min(tries, this.#againMs.length - 1)]);
      tries += 1;
    };
    this.#open.set(callId, { event, close: resolve });
    repeat();
    try {
      return await promise;
    } finally {
      clearTimeout(again);
      clearTimeout(end);
      signal.removeEventListener("abort", aborted);
      this.#open.delete(callId);
    }
  }

  /** Takes the notice `called`. One of a call that is over is ignored. @returns what is wrong with it */
  onCalled(payload: unknown): string | undefined {
    const called = check(CalledCommand, payload);
    if (!called.ok) return called.error;
    this.#open.get(called.value.call_id)?.close(called.value.outcome);
    return undefined;
  }

  /** Publishes what is open once more: after a connection, or for the command that came again. */
  announce(requestId?: string): void {
    for (const { event } of this.#open.values())
      if (requestId === undefined || event.request_id === requestId) this.#publish(event);
  }
}

function noAnswer(name: string): CalledOutcome {
  return {
    status: "error",
    error_type: "outcome_unknown",
    text: `Error: The gateway did not answer '${name}'. The outcome is unknown: it may or may not have run.`,
    elapsed_ms: MOST_MS,
  };
}
