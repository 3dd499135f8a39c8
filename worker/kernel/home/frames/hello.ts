/** What the bridge says of itself: hello, to which it is welcomed or turned away, and the conditions that it sees. */

import { AUTOMATIONS_FEATURE } from "@edgecall/core/protocol/automation.ts";
import { DEVICES_FEATURE } from "@edgecall/core/protocol/devices.ts";
import { type BridgeFrame, CLOSE, encodeFrame } from "@edgecall/core/protocol/frames.ts";
import type { AgentKey, HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { RULES_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import { AGENT_ID, BRIDGE_PROTOCOL, VERSION } from "@edgecall/core/protocol/names.ts";
import { SESSION_FEATURE } from "@edgecall/core/protocol/session.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import { logInfo } from "../../log.ts";
import { readSettings } from "../../settings/settings.ts";
import { closeQuietly, sendQuietly } from "../../sockets.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { gatewayKeyOf } from "../agents/gateway-key.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { storeInFlight } from "../calls/in-flight-rows.ts";
import type { HomeContext } from "../context.ts";
import { emit } from "../feature.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { countersOf } from "../usage/usage-counters.ts";

/** Keys, and hashes of agents' texts, in one frame. A key with its login and session has at most 850 characters. */
const INVENTORY_AT_ONCE = 1_000;

/** Welcomes the bridge, or turns it away. It is told all keys, and what it need not send. */
export async function onHello(
  home: HomeContext,
  frame: BridgeFrame & { t: "hello" },
  socket: WebSocket,
): Promise<void> {
  if (frame.protocol !== BRIDGE_PROTOCOL) {
    const which = frame.protocol < BRIDGE_PROTOCOL ? "update the bridge" : "update the gateway";
    const why = `protocol ${frame.protocol}, this gateway speaks ${BRIDGE_PROTOCOL}: ${which}`;
    closeQuietly(socket, why, CLOSE.badProtocol);
    return;
  }
  const problem = versionProblem("bridge", frame.version);
  if (problem !== undefined) return turnAway(home, socket, frame, problem);
  const keeps = frame.features?.includes("kept") === true;
  const lastConfirmedAt = bridgeOf(home).lastConfirmedAt();
  const goneAt = bridgeOf(home).goneAt();
  const bridge = bridgeOf(home);
  const { env } = home;
  // A bridge that runs rules that act keeps the key of its first welcome.
  const needsKey = keysOf(home).hasAgents() || frame.features?.includes(AUTOMATIONS_FEATURE);
  const gatewayKey = needsKey ? await gatewayKeyOf(home).publicKey() : undefined;
  // What was sent over an earlier line is sent again, from its row.
  await storeInFlight(home);
  // From here to the welcome nothing is awaited: a session that began meanwhile would be told to the bridge before.
  const keys = keysOf(home).forBridge(frame.features?.includes(SESSION_FEATURE) === true);
  keysOf(home).markSessionsUnconfirmed();
  bridge.welcome(socket, frame.features);
  ledgerOf(home).lineRestored(Date.now());
  storeBridge(home, frame, null, lastConfirmedAt);
  countersOf(home).bridgeConnected();
  logInfo("bridge.connected", { bridge: frame.bridge, version: frame.version });
  const welcome: HomeFrame = {
    t: "welcome",
    protocol: BRIDGE_PROTOCOL,
    home: home.name,
    version: VERSION,
    ...(gatewayKey !== undefined && { gateway_key: gatewayKey }),
    keys: keeps ? [] : keys,
    ...(keeps && { kept: true }),
    paced: true,
    standby: true,
    conditions: true,
    time: Date.now(),
    ...(frame.features?.includes(DEVICES_FEATURE) && { devices: true }),
    ...(frame.features?.includes(RULES_FEATURE) && { rules: true }),
    unsigned: [...readSettings(env).unsignedAgents].filter((id) => id === "*" || AGENT_ID.test(id)),
    unasked: [...readSettings(env).unaskedReports].filter((id) => AGENT_ID.test(id)),
  };
  sendQuietly(socket, encodeFrame(welcome));
  if (keeps) sendInventory(home, socket, keys);
  await emit("bridgeWelcomed", home, frame, goneAt);
  await emit("presence", home);
}

/** Sends the bridge all keys, and the hashes of the texts that it need not send. */
function sendInventory(home: HomeContext, socket: WebSocket, keys: AgentKey[]): void {
  const texts = agentRowsOf(home).storedTexts();
  const end = Math.max(keys.length, texts.length, 1);
  for (let at = 0; at < end; at += INVENTORY_AT_ONCE) {
    const upTo = at + INVENTORY_AT_ONCE;
    const part = { keys: keys.slice(at, upTo), texts: texts.slice(at, upTo), last: upTo >= end };
    sendQuietly(socket, encodeFrame({ t: "known", ...part }));
  }
}

/** A bridge that does not fit this gateway. `GET /v1/status` shows its version, unless another bridge is connected. */
function turnAway(
  home: HomeContext,
  socket: WebSocket,
  frame: BridgeFrame & { t: "hello" },
  problem: string,
): void {
  logInfo("bridge.turned_away", { bridge: frame.bridge, problem });
  const now = Date.now();
  const bridge = bridgeOf(home);
  // It has been gone since before it dialled, however often it does.
  if (!bridge.isConnected(now)) storeBridge(home, frame, bridge.goneAt() ?? now, null);
  closeQuietly(socket, problem, CLOSE.badProtocol);
}

/** @param goneAt epoch ms; null: it is connected @param lastConfirmedAt when the one before vouched for its agents last */
function storeBridge(
  home: HomeContext,
  { bridge, version }: BridgeFrame & { t: "hello" },
  goneAt: number | null,
  lastConfirmedAt: number | null,
): void {
  home.ctx.storage.sql.exec(
    `INSERT INTO bridge (one, id, version, connected_at, gone_at, vouched_at) VALUES (1, ?, ?, ?, ?, ?)
     ON CONFLICT (one) DO UPDATE SET id = excluded.id, version = excluded.version, connected_at = excluded.connected_at,
       gone_at = excluded.gone_at, conditions = '[]', vouched_at = COALESCE(excluded.vouched_at, vouched_at)`,
    bridge,
    version,
    Date.now(),
    goneAt,
    lastConfirmedAt,
  );
}

/** Replaces those that are stored. */
export function onConditions(home: HomeContext, { all }: BridgeFrame & { t: "conditions" }): void {
  home.ctx.storage.sql.exec("UPDATE bridge SET conditions = ?", JSON.stringify(all));
}
