/** The ways by which commands leave the bridge: one for each source of devices. */
import type { Snapshot, SourceName } from "@edgecall/discovery/model/device.ts";
import type { Past, Publish, ServiceCall, Step } from "@edgecall/discovery/model/entity/entity.ts";
import type { Publisher } from "../broker/broker.ts";
import type { HomeAssistantLink, ServiceAnswer } from "../home-assistant/home-assistant-link.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { isDeviceTopic } from "./topics.ts";
import { within } from "./within.ts";

/**
 * The fate of a step. `out`: it may have been carried out; `isUnsure`: the way to it may have lost it. With all others nothing was: it went `unheard`, since nothing listens to it,
 * the way is `offline`, or it was `refused` before it reached the device.
 */
type Sent =
  | { kind: "out"; isUnsure?: boolean }
  | { kind: "unheard" }
  | { kind: "offline" | "refused"; why: string };

export interface Sender {
  /** What is at the other end, as it begins a sentence. */
  readonly name: string;
  /** Its errors about a command that nothing confirms come within this time (ms). */
  failsWithinMs(publisher: string | undefined): number;
  /** Resolves when what devices report is heard. @returns why it is not */
  ready(): Promise<string | undefined>;
  /** @returns why nothing can be sent now */
  problem(): string | undefined;
  /** @returns what of a step is never sent, for the log */
  forbidden(step: Step): string | undefined;
  /** @param waitMs after so long the device must not carry it out any more, where that can be said */
  send(step: Step, waitMs: number): Promise<Sent>;
  /** Asks for what no state has. */
  ask(call: ServiceCall | Past): Promise<ServiceAnswer>;
  /** Asks for a picture. */
  picture(key: string): Promise<Snapshot | { error: string }>;
}

export type Senders = Readonly<Record<SourceName, Sender>>;

/** The broker answers a subscription within this, or is not there. */
const SUBSCRIBED_WITHIN_MS = 2_000;
/** The broker acknowledges within this, or may be gone: the next command must not wait for that. */
const ACKED_WITHIN_MS = 3_000;
/** Zigbee2MQTT's error about a device that does not answer comes within some ms, also of a command that nothing ever confirms. */
const FAILURE_WITHIN_MS = 1_000;
const NOT_ASKED = "it cannot be asked for that";
/** Home Assistant refuses within some ms. A device that takes its time may be answered for by its state. */
const REFUSED_WITHIN_MS = 500;

export function mqttSender(parts: {
  /** Of agents' topics, on which no command is sent. */
  prefix: string;
  broker: Publisher;
  subscriptions: Pick<Subscriptions, "settled">;
}): Sender {
  const { prefix, broker, subscriptions } = parts;
  return {
    name: "The broker",
    failsWithinMs: (publisher) => (/zigbee2mqtt/i.test(publisher ?? "") ? FAILURE_WITHIN_MS : 0),
    ready: async () => {
      const settled = subscriptions.settled().then(() => true);
      return (await within(SUBSCRIBED_WITHIN_MS, settled))
        ? undefined
        : "the broker does not answer a subscription";
    },
    problem: () => (broker.up ? undefined : "the broker is not connected"),
    forbidden: (step) => (isPublish(step) && isDeviceTopic(step.topic, prefix) ? undefined : targetOf(step)),
    send: async (step, waitMs) => {
      if (!isPublish(step)) return { kind: "refused", why: "it is no message" };
      const { topic, payload, retain = false } = step;
      // A device that comes back later must not carry out what its caller was told is not confirmed.
      const acked = broker.publish(topic, payload, retain ? undefined : waitMs, retain);
      const published = (await within(ACKED_WITHIN_MS, acked)) ?? { kind: "unsure" as const };
      if (published.kind === "rejected") return { kind: "offline", why: published.message };
      if (published.kind === "offline") return { kind: "offline", why: "the broker is not connected" };
      // No device has it, unless the broker keeps it.
      const isHeard = published.kind !== "delivered" || published.listening || retain;
      return isHeard ? { kind: "out", isUnsure: published.kind === "unsure" } : { kind: "unheard" };
    },
    ask: async () => ({ why: NOT_ASKED }),
    picture: async () => ({ error: NOT_ASKED }),
  };
}

/** @param linkOfNow undefined: no Home Assistant is connected */
export function homeAssistantSender(linkOfNow: () => HomeAssistantLink | undefined): Sender {
  const problem = () => {
    const link = linkOfNow();
    return link?.up ? undefined : (link?.problem ?? "no Home Assistant is connected to the bridge");
  };
  return {
    name: "Home Assistant",
    failsWithinMs: () => FAILURE_WITHIN_MS,
    ready: async () => problem(),
    problem,
    forbidden: (step) => (isPublish(step) ? targetOf(step) : undefined),
    send: async (step, waitMs) => {
      const link = linkOfNow();
      if (!link || isPublish(step)) return { kind: "refused", why: "it is no service" };
      const called = await within(REFUSED_WITHIN_MS, link.call(step, waitMs));
      return called === undefined || called.kind === "sent" ? { kind: "out" } : called;
    },
    ask: async (call) => (await linkOfNow()?.ask(call)) ?? { why: NOT_ASKED },
    picture: async (key) => (await linkOfNow()?.picture(key)) ?? { error: NOT_ASKED },
  };
}

function isPublish(step: Step): step is Publish {
  return "topic" in step;
}

function targetOf(step: Step): string {
  return (isPublish(step) ? step.topic : `${step.domain}.${step.service}`).slice(0, 200);
}
