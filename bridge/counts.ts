/** Counts frames and messages since the bridge's start, and makes its page for Prometheus. */
import { exposition, type MetricFamily } from "@edgecall/core/metrics/exposition.ts";
import { CALL_SECONDS, type Histogram, newHistogram, observe } from "@edgecall/core/metrics/histogram.ts";
import { processFamilies } from "@edgecall/core/metrics/process.ts";
import type { AgentState, BridgeFrame, Refusal } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import type { TopicKind } from "@edgecall/core/protocol/names.ts";

/** The number of calls whose report is waited for: as many as may be in flight. */
const WAITED_MAX = 2_000;
/** Agents with figures of their own. A home has far fewer; invented ids get no figures. */
const AGENTS_MAX = 200;

export type BridgeNow = {
  gatewayUp: boolean;
  brokerUp: boolean;
  /** Undefined: the settings name no Home Assistant. */
  homeAssistantUp?: boolean | undefined;
  agents: readonly Pick<AgentState, "id" | "online" | "foreign">[];
  /** Hosted devices, and the configs on the broker that describe them; undefined: the bridge hosts none. */
  devices?: HostedNow | undefined;
  /** The number of things that wait, by kind. */
  queues: Readonly<Record<"calls" | "device_calls" | "foreign_calls" | "reports" | "events", number>>;
};

export type HostedNow = {
  online: number;
  offline: number;
  configs: number;
  ignored: readonly { why: string; count: number }[];
};

export class Counts {
  readonly #calls = new Map<string, number>();
  readonly #refused = new Map<Refusal, number>();
  readonly #seconds = new Map<string, Histogram>();
  readonly #messages = new Map<TopicKind | "device" | "other", number>();
  readonly #connects = { gateway: 0, broker: 0 };
  /** The calls whose report is waited for. `since`: monotonic ms. */
  readonly #waited = new Map<string, { agent: string; since: number }>();

  connected(side: "gateway" | "broker"): void {
    this.#connects[side] += 1;
  }

  message(kind: TopicKind | "device" | undefined): void {
    add(this.#messages, kind ?? "other");
  }

  /** Counts a frame from Home. */
  received(frame: HomeFrame, now: number): void {
    if (frame.t !== "call" || this.#waited.has(frame.id)) return;
    const agent = this.#name(frame.agent);
    add(this.#calls, agent);
    if (this.#waited.size >= WAITED_MAX) {
      for (const oldest of this.#waited.keys()) {
        this.#waited.delete(oldest);
        break;
      }
    }
    this.#waited.set(frame.id, { agent, since: now });
  }

  /** Counts a frame to Home. @returns ms that a call took, when this is its first report */
  sent(frame: BridgeFrame, now: number): number | undefined {
    if (frame.t === "refused") {
      add(this.#refused, frame.code);
      this.#waited.delete(frame.id);
    }
    if (frame.t !== "report") return undefined;
    const waited = this.#waited.get(frame.id);
    if (!waited) return undefined;
    this.#waited.delete(frame.id);
    const histogram = this.#seconds.get(waited.agent) ?? newHistogram(CALL_SECONDS);
    observe(histogram, (now - waited.since) / 1_000);
    this.#seconds.set(waited.agent, histogram);
    return now - waited.since;
  }

  page(now: BridgeNow): string {
    const { residentBytes, cpuSeconds } = usage();
    return exposition([
      ...processFamilies("bridge", { residentBytes, cpuSeconds, startedAt: performance.timeOrigin / 1_000 }),
      gauge("gateway_up", "1 while the gateway has welcomed the bridge.", [{ value: now.gatewayUp ? 1 : 0 }]),
      gauge("broker_up", "1 while the broker is connected.", [{ value: now.brokerUp ? 1 : 0 }]),
      gauge(
        "home_assistant_up",
        "1 while Home Assistant is connected and runs.",
        now.homeAssistantUp === undefined ? [] : [{ value: now.homeAssistantUp ? 1 : 0 }],
      ),
      counter(
        "connections_total",
        "Connections made. Each but the first of a side is a reconnect.",
        Object.entries(this.#connects).map(([side, value]) => ({ labels: { side }, value })),
      ),
      gauge(
        "agent_online",
        "1 while an agent can be called.",
        now.agents.map(({ id, online, foreign }) => ({
          labels: { agent: id, kind: foreign ? "foreign" : "own" },
          value: online ? 1 : 0,
        })),
      ),
      ...(now.devices ? deviceFamilies(now.devices) : []),
      counter("calls_total", "Calls from the gateway.", labelled("agent", this.#calls)),
      counter(
        "calls_refused_total",
        "Calls that were certainly not passed on, by the reason.",
        labelled("reason", this.#refused),
      ),
      {
        name: "edgecall_bridge_call_duration_seconds",
        help: "From a call's arrival at the bridge to its report.",
        type: "histogram",
        series: [...this.#seconds].map(([agent, histogram]) => ({ labels: { agent }, histogram })),
      },
      counter(
        "messages_total",
        "Messages from the broker, by the kind of their topic.",
        labelled("kind", this.#messages),
      ),
      gauge(
        "queue_length",
        "What waits: calls for reports, device calls for states, foreign calls for their turn, reports for acks, events for the gateway.",
        Object.entries(now.queues).map(([queue, value]) => ({ labels: { queue }, value })),
      ),
    ]);
  }

  #name(agent: string): string {
    return this.#calls.has(agent) || this.#calls.size < AGENTS_MAX ? agent : "(others)";
  }
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function labelled(label: string, counts: ReadonlyMap<string, number>) {
  return [...counts].map(([text, value]) => ({ labels: { [label]: text }, value }));
}

type Samples = Extract<MetricFamily, { type: "gauge" | "counter" }>["samples"];
const gauge = (name: string, help: string, samples: Samples): MetricFamily => ({
  name: `edgecall_bridge_${name}`,
  help,
  type: "gauge",
  samples,
});
const counter = (name: string, help: string, samples: Samples): MetricFamily => ({
  ...gauge(name, help, samples),
  type: "counter",
  samples,
});

function deviceFamilies({ online, offline, configs, ignored }: HostedNow): MetricFamily[] {
  return [
    gauge("devices", "Devices of the broker that the bridge hosts.", [
      { labels: { state: "online" }, value: online },
      { labels: { state: "offline" }, value: offline },
    ]),
    gauge("device_configs", "Configs of devices on the broker that are in use.", [{ value: configs }]),
    gauge(
      "device_configs_ignored",
      "Configs that are not in use, by the reason.",
      ignored.map(({ why, count }) => ({ labels: { reason: why }, value: count })),
    ),
  ];
}

function usage() {
  const { user, system } = process.cpuUsage();
  return { residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1_000_000 };
}
