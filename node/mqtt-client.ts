/**
 * One try of one MQTT connection, for agent, bridge and `edgecall … doctor`.
 *
 * A program that keeps a connection opens a fresh client for each try. mqtt.js could reconnect by itself, but at a fixed
 * pace and never after a refused password. It would also send unacknowledged messages again: a command would reach a
 * device long after its caller was told that it did not.
 *
 * Agent and bridge use a connection differently, so each has a class of its own. The agent speaks MQTT 3.1.1, has a will,
 * and keeps unacknowledged reports in its ledger (pi-agent/link/connection.ts). The bridge speaks MQTT 5 where it can,
 * since that broker reports topics without subscribers and drops expired messages (bridge/broker/broker.ts).
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

/** A broker that does not answer CONNECT within this is dead. mqtt.js would wait 30 s. */
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Messages are handled for so long, then timers and other sockets have their turn. Without it Node reads up to 2 MB of a full socket
 * first: in a flood of small messages that took 20 s, in which no ping was sent, and the broker ended the connection.
 */
const TURN_MS = 10;
/** If the broker does not take DISCONNECT within this, the socket is closed without it. */
const GOODBYE_MS = 2_000;

/**
 * Starts to dial. Handlers that are set at once are there before the first packet. By default the client speaks MQTT 3.1.1
 * and does not reconnect.
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
  yieldTurns(client);
  return client;
}

/** MqttClient.handleMessage is mqtt.js's back-pressure: the next message, and the next bytes, wait for its callback. */
function yieldTurns(client: MqttClient): void {
  let began = performance.now();
  client.handleMessage = (_packet, done) => {
    if (performance.now() - began < TURN_MS) return done();
    setImmediate(() => {
      began = performance.now();
      done();
    });
  };
}

/** Nagle's algorithm and the broker's delayed ACK would cost 44 ms a call. A WebSocket or TLS stream may not have the method. */
function setNoDelay(stream: object): void {
  if ("setNoDelay" in stream && typeof stream.setNoDelay === "function") stream.setNoDelay(true);
}

/** @returns the topic that the broker refused, if any */
export function refusedTopic(granted: readonly ISubscriptionGrant[] | undefined): string | undefined {
  return granted?.find(({ qos }) => qos > 2)?.topic;
}

/**
 * Describes an error of a client.
 * @param caSetting the name of the setting for a certificate authority, for the hint
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

/** Sends DISCONNECT if connected, and waits for the end, at most GOODBYE_MS. */
export async function endMqtt(client: MqttClient): Promise<void> {
  const late = Promise.withResolvers<void>();
  const force = setTimeout(() => {
    client.stream.destroy();
    late.resolve();
  }, GOODBYE_MS);
  await Promise.race([client.endAsync(!client.connected).catch(() => undefined), late.promise]);
  clearTimeout(force);
}
