/** A device shows its code, and gets what it needs to join. */

import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import type { NewKey } from "../../../kernel/api/keys.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { brokerFor, enrollKey, listKeys } from "../../../kernel/home/enrollment/key-enrollment.ts";
import type { BrokerForDevice, CodeState, PairBody, PairResult } from "../contract.ts";
import { deviceCodesOf } from "./device-codes.ts";

/** @param end of the code, after its home */
export function codeState(home: HomeContext, end: string): CodeState & { online?: boolean } {
  const now = Date.now();
  const state = deviceCodesOf(home).stateOf(end, now);
  return state.state === "used"
    ? { ...state, online: servedAgentsOf(home).isOnline(state.agent, now) }
    : state;
}

/** @param end of the code, after its home */
export async function pairDevice(home: HomeContext, body: PairBody, end: string): Promise<PairResult> {
  const { agent_id: agent, public_key: publicKey, name = agent, broker_login: login, bridge } = body;
  const code = await deviceCodesOf(home).check(end, Date.now());
  if (!code) return { ok: false, problem: "wrong_code" };
  if (code.used) return await pairAgain(home, code.used, code.broker, body);
  const isForBridge = code.agent === BRIDGE;
  if (code.agent !== null && code.agent !== agent && !isForBridge)
    return { ok: false, problem: "other_agent", agent: code.agent };
  // A bridge reads everything that crosses it. The owner has to allow it with the code, even if there is no bridge yet.
  if (bridge && !isForBridge) return { ok: false, problem: "not_for_bridge" };
  // Taken before anything is awaited: of two devices that show it at once, one gets it.
  deviceCodesOf(home).use(end, agent, publicKey);
  const enroll = (key: NewKey) =>
    enrollKey(home, key, { by: code.agent === key.agent ? "pairing" : "nothing" });
  // The bridge comes first: if the agent is refused its name, the same machine comes again with the same bridge key.
  const { public_key = "", broker } = bridge ?? {};
  let enrolled = bridge && (await enroll({ agent: BRIDGE, publicKey: public_key, name, broker }));
  if (enrolled?.ok !== false) enrolled = await enroll({ agent, publicKey, name, login });
  if (enrolled.ok) return welcome(home, enrolled.gatewayPublicKey, code.broker, agent);
  // The code was not used after all: another name, or another key, may still use it.
  deviceCodesOf(home).release(end);
  const { problem } = enrolled;
  return { ok: false, problem: problem === "wrong_signature" ? "has_a_key" : problem };
}

/** The answer was lost on its way, or the device asks whether it is online. It is not let in a second time. */
async function pairAgain(
  home: HomeContext,
  used: { agent: string; publicKey: string },
  broker: BrokerForDevice | null,
  { agent_id: agent, public_key, bridge }: PairBody,
): Promise<PairResult> {
  const { gateway, agents } = await listKeys(home);
  const isValid = (holder: string, key: string) =>
    agents.some((one) => one.agent === holder && one.public_key === key && one.revoked_at === null);
  const isSame = used.agent === agent && used.publicKey === public_key && isValid(agent, public_key);
  if (!isSame || (bridge && !isValid(BRIDGE, bridge.public_key))) return { ok: false, problem: "wrong_code" };
  return welcome(home, gateway, broker, agent);
}

function welcome(
  home: HomeContext,
  gateway_key: string,
  brokerOfCode: BrokerForDevice | null,
  agent: string,
): PairResult {
  const { url, login } = brokerFor(home, agent);
  const broker = brokerOfCode ?? (url === null ? null : { url });
  const online = servedAgentsOf(home).isOnline(agent, Date.now());
  return { ok: true, welcome: { gateway_key, broker, broker_login: login, online } };
}
