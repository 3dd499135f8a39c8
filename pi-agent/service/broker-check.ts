/** Tries a broker as the agent (or the bridge) would. It uses another client id, so a running one is not disturbed. */
import { randomUUID } from "node:crypto";
import { Presence } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { type MqttLogin, openMqtt, refusedTopic } from "@edgecall/node/mqtt-client.ts";
import type { MqttClient } from "mqtt";

export type BrokerCheck =
  | { is: "reached"; presence: "online" | "offline" | "none" }
  /** The login may not subscribe to this topic. */
  | { is: "forbidden" }
  /** `code`: the system's (ECONNREFUSED, …) or the broker's number. */
  | { is: "failed"; code: string; message: string };

/** A working broker answers in a hundredth of this. */
const ANSWER_WITHIN_MS = 5_000;
/** Retained messages come right after the subscription. */
const RETAINED_WITHIN_MS = 500;

/** @param topic the presence topic to subscribe to */
export async function checkBroker(broker: MqttLogin, topic: string): Promise<BrokerCheck> {
  let client: MqttClient;
  try {
    client = openMqtt(broker, {
      clientId: `edgecall-check-${randomUUID().slice(0, 8)}`,
      connectTimeout: ANSWER_WITHIN_MS,
    });
  } catch (error) {
    return failure(error);
  }
  try {
    return await withClient(client, topic);
  } finally {
    client.end(true);
  }
}

function withClient(client: MqttClient, topic: string): Promise<BrokerCheck> {
  return new Promise((resolve) => {
    const late = setTimeout(
      () => resolve({ is: "failed", code: "ETIMEDOUT", message: "no answer" }),
      ANSWER_WITHIN_MS,
    );
    const end = (result: BrokerCheck) => {
      clearTimeout(late);
      resolve(result);
    };
    client.on("error", (error) => end(failure(error)));
    client.on("close", () => end({ is: "failed", code: "closed", message: "it hung up" }));
    client.on("message", (_topic, payload) => {
      const presence = checkJson(Presence, payload.toString("utf8"));
      end({ is: "reached", presence: presence.ok ? presence.value.state : "none" });
    });
    client.on("connect", () => {
      client.subscribe(topic, { qos: 1 }, (error, granted) => {
        if (error || refusedTopic(granted)) end({ is: "forbidden" });
        else setTimeout(() => end({ is: "reached", presence: "none" }), RETAINED_WITHIN_MS);
      });
    });
  });
}

function failure(error: unknown): BrokerCheck {
  const { code, message } = error as { code?: string | number; message?: string };
  return { is: "failed", code: String(code ?? ""), message: message || String(error) };
}
