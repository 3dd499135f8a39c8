/** Keys are enrolled, replaced and revoked. The bridge, the roster and the open calls follow. */

import { BRIDGE, STALE_TOKEN, splitBridgeToken } from "@edgecall/core/protocol/bridge-token.ts";
import { errorBody } from "../../api/errors.ts";
import {
  type BrokerLoginState,
  type Enrolled,
  type HomeKeys,
  type KeyGrant,
  type NewKey,
  type Removed,
  UNSIGNED_BRIDGE,
} from "../../api/keys.ts";
import { keysOf, nameOfKey } from "../agents/agent-keys.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { gatewayKeyOf } from "../agents/gateway-key.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import { REVOKED, UNSIGNED } from "../agents/verify-presence.ts";
import { bridgeOf, KEY_REVOKED } from "../bridge/bridge-socket.ts";
import { settleByGateway } from "../calls/outcome-delivery.ts";
import type { HomeContext } from "../context.ts";
import { emit } from "../feature.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { closeQuestions } from "../questions/approvals.ts";

export async function enrollKey(home: HomeContext, key: NewKey, grant: KeyGrant): Promise<Enrolled> {
  const keys = keysOf(home);
  // One that is there has its place among those of this name; a group that is called so since then has none.
  if (keys.standing(key.agent) !== "signed" && servedAgentsOf(home).isGroup(key.agent))
    return { ok: false, problem: "group_name" };
  const before = keys.publicKeyOf(key.agent);
  const known = keys.lastKeyOf(key.agent) ?? nameOfKey(home, key.agent);
  const problem = await keys.enroll(key, grant, Date.now());
  if (problem !== undefined) return { ok: false, problem };
  const gatewayPublicKey = await gatewayKeyOf(home).publicKey();
  // An owner says that it is the same device, so its watches go on. Those that a revoked key has stopped can be resumed.
  const isElsewhere = keys
    .list()
    .some((one) => one.agent !== key.agent && keys.publicKeyOf(one.agent) === known);
  // A device that was given another id has its watches there.
  if (!isElsewhere) void emit("keyReplaced", home, known, nameOfKey(home, key.agent));
  if (before !== key.publicKey) keyChanged(home, key.agent, UNSIGNED);
  else if (key.login !== undefined) sendKeyToBridge(home, key.agent);
  return { ok: true, gatewayPublicKey };
}

export async function revokeKey(home: HomeContext, agent: string): Promise<boolean> {
  if (!keysOf(home).revoke(agent, Date.now())) return false;
  keyChanged(home, agent, REVOKED);
  for (const call of ledgerOf(home).open(agent)) {
    const elapsedMs = Date.now() - call.createdAt;
    const text = `Error: The key of agent '${agent}' was revoked while this was under way; whether it was done is unknown.`;
    await settleByGateway(home, call, {
      status: "error",
      errorType: "outcome_unknown",
      text,
      advice: "Tell the user.",
      elapsedMs,
      sources: [],
    });
    await closeQuestions(home, call.id);
  }
  return true;
}

/** Takes a device that is gone off the list. Its revoked key stays on record, so that it is never trusted unsigned. */
export function removeAgent(home: HomeContext, agent: string): Removed {
  const standing = keysOf(home).standing(agent);
  const rows = agentRowsOf(home);
  if (!rows.has(agent) || rows.isHidden(agent)) return "unknown";
  if (standing === "signed") return "has_a_key";
  if (servedAgentsOf(home).isOnline(agent, Date.now()) || ledgerOf(home).open(agent).length > 0)
    return "in_use";
  if (standing === "revoked") rows.hide(agent);
  else rows.remove(agent);
  return "removed";
}

export async function listKeys(home: HomeContext): Promise<HomeKeys> {
  const keys = keysOf(home);
  const unsigned = agentRowsOf(home)
    .ids()
    .filter((id) => keys.standing(id) === "none" && !hostedDevicesOf(home).get(id));
  return {
    gateway: await gatewayKeyOf(home).publicKey(),
    agents: keys.list(),
    unsigned: unsigned.map((id) => ({ agent: id, served: keys.serves(id) })),
  };
}

/** Where devices reach the home's own broker, and whether this device's login is there. */
export function brokerFor(home: HomeContext, agent: string): { url: string | null; login: BrokerLoginState } {
  const url = keysOf(home).broker();
  if (url === null || !keysOf(home).hasLogin(agent)) return { url, login: null };
  return { url, login: bridgeOf(home).isConnected(Date.now()) ? "sent" : "waiting" };
}

/** The agent is offline until it reports itself online with the right signature. */
function keyChanged(home: HomeContext, agent: string, reason: string): void {
  if (agent === BRIDGE) bridgeOf(home).closeRevoked();
  else {
    hostedDevicesOf(home).drop(agent);
    // Another key may be another device: the first text by which it describes itself is accepted with the key.
    agentRowsOf(home).forgetAccepted(agent);
    agentRowsOf(home).forgetTexts(agent);
    agentRowsOf(home).setOffline(agent, reason);
    sendKeyToBridge(home, agent);
  }
}

function sendKeyToBridge(home: HomeContext, agent: string): void {
  const bridge = bridgeOf(home);
  const keys = keysOf(home);
  const now = Date.now();
  const knowsSessions = bridge.has("session", now);
  if (bridge.takesSingleKeys(now))
    bridge.send({ t: "keys", keys: keys.forBridge(knowsSessions, agent), part: true }, now);
  else bridge.send({ t: "keys", keys: keys.forBridge(knowsSessions) }, now);
}

/** @param token signed with the bridge's key @returns undefined: the bridge may connect */
export async function refuseBridge(home: HomeContext, token: string): Promise<Response | undefined> {
  const signed = splitBridgeToken(token);
  const state = signed ? await keysOf(home).verifyBridgeToken(signed) : "unsigned";
  return state === "fresh" ? undefined : bridgeRefusal(state);
}

export function bridgeRefusal(why: keyof typeof BRIDGE_REFUSALS): Response {
  const [code, message] = BRIDGE_REFUSALS[why];
  return Response.json(errorBody(code, message), { status: 401 });
}

const BRIDGE_REFUSALS = {
  // Only the owner of that key gets this answer.
  revoked: ["key_revoked", KEY_REVOKED],
  used: [STALE_TOKEN, "the bridge's token was used before"],
  unsigned: ["unauthorized", UNSIGNED_BRIDGE],
} as const;
