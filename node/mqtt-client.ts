/**
 * One try of one MQTT connection, for agent, bridge and `edgecall … doctor`.
 *
 * Whoever keeps a connection opens a fresh client for each try. mqtt.js would reconnect by itself, but at a fixed pace,
 * never again after a refused password, and it would send unacknowledged messages again: a command would reach a device
 * long after its caller was told that it did not.
 *
 * What agent and bridge make of a connection differs on purpose and stays with them: the agent speaks MQTT 3.1.1, has a
 * will, and keeps what it owes in its ledger (pi-agent/link/connection.ts); the bridge speaks MQTT 5 where it can, for
 * the broker's word that nobody listens and for messages that run out (bridge/broker/broker.ts).
 */
import { tlsHint } from "@edgecall/core/protocol/broker-tls.ts";
import { connect, type IClientOptions, type ISubscriptionGrant, type MqttClient } from "mqtt";
import { messageOf } from "./log.ts";

export type MqttLogin = {
  url: string;
  username?: string | undefined;
  password?: string | undefined;
  /** PEM of the authorities that may have signed the broker's certificate. */
  ca?: string | Buffer | undefined;
};

/** A CONNECT without an answer is a dead broker; mqtt.js would wait 30 s. */
export const CONNECT_TIMEOUT_MS = 5_000;
/** A broker that does not take the goodbye within this is left without one. */
const GOODBYE_MS = 2_000;

/**
 * Begins to dial; handlers that are set now stand before the first packet. By default MQTT 3.1.1, and it does not reconnect.
 * @throws when the URL or the certificate cannot be used
 */
export function openMqtt(
  { url, username, password, ca }: MqttLogin,
  options: IClientOptions & { clientId: string },
): MqttClient {
  const client = connect(url, {
    protocolVersion: 4,
    clean: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    // mqtt-packet's cache of numbers takes 10 MB, a quarter of a bare Node.
    writeCache: false,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(ca !== undefined && { ca }),
    ...options,
  });
  client.on("connect", () => setNoDelay(client.stream));
  return client;
}

/** Without it Nagle's algorithm and the broker's delayed ACK cost 44 ms a call. A WebSocket or TLS stream may not have it. */
function setNoDelay(stream: object): void {
  if ("setNoDelay" in stream && typeof stream.setNoDelay === "function") stream.setNoDelay(true);
}

/** @returns the topic that the broker refused; undefined: none */
export function refusedTopic(granted: readonly ISubscriptionGrant[] | undefined): string | undefined {
  return granted?.find(({ qos }) => qos > 2)?.topic;
}

/**
 * What an error of a client says.
 * @param caSetting where a certificate authority is set, for the hint
 * @returns `code`: the system's (ECONNREFUSED, …) or the broker's number; `hint`: what to do, where that is known
 */
export function mqttFault(
  error: Error,
  caSetting: string,
): { text: string; code: string | number | undefined; hint?: string } {
  const { code } = error as { code?: string | number };
  const hint = tlsHint(code, caSetting);
  return { text: messageOf(error) || String(code ?? error), code, ...(hint && { hint }) };
}

/** Says DISCONNECT where there is a connection, and waits for the end, but not for long. */
export async function endMqtt(client: MqttClient): Promise<void> {
  const late = Promise.withResolvers<void>();
  const force = setTimeout(() => {
    client.stream.destroy();
    late.resolve();
  }, GOODBYE_MS);
  await Promise.race([client.endAsync(!client.connected).catch(() => undefined), late.promise]);
  clearTimeout(force);
}
