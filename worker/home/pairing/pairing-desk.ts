/** A device shows its code: what it gets for it. */
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import type { BrokerForDevice, CodeState, NewCode, PairBody, PairResult } from "../../api/device-codes.ts";
import type { NewKey } from "../../api/keys.ts";
import type { KeyDesk } from "../agents/key-desk.ts";
import type { DeviceCodes } from "./device-codes.ts";

export class PairingDesk {
  readonly #codes: DeviceCodes;
  readonly #keys: KeyDesk;
  readonly #isOnline: (agent: string) => boolean;

  constructor(codes: DeviceCodes, keys: KeyDesk, isOnline: (agent: string) => boolean) {
    this.#codes = codes;
    this.#keys = keys;
    this.#isOnline = isOnline;
  }

  async make(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined> {
    return await this.#codes.make(wanted, Date.now());
  }

  stateOf(end: string): CodeState & { online?: boolean } {
    const state = this.#codes.stateOf(end, Date.now());
    return state.state === "used" ? { ...state, online: this.#isOnline(state.agent) } : state;
  }

  /** @param end of the code, after its home */
  async pair(body: PairBody, end: string): Promise<PairResult> {
    const { agent_id: agent, public_key: publicKey, name = agent, broker_login: login, bridge } = body;
    const code = await this.#codes.show(end, Date.now());
    if (!code) return { ok: false, problem: "wrong_code" };
    if (code.used) return await this.#again(code.used, code.broker, body);
    const isForBridge = code.agent === BRIDGE;
    if (code.agent !== null && code.agent !== agent && !isForBridge)
      return { ok: false, problem: "other_agent", agent: code.agent };
    // Whoever is the bridge reads what crosses it: the owner has to have said so, also where there is none.
    if (bridge && !isForBridge) return { ok: false, problem: "not_for_bridge" };
    // Taken before anything is awaited: of two devices that show it at once, one gets it.
    this.#codes.use(end, agent, publicKey);
    const enrol = (key: NewKey) =>
      this.#keys.enrol(key, { by: code.agent === key.agent ? "pairing" : "nothing" });
    // The bridge first. When the agent is refused its name, the same machine comes again with the same key.
    const { public_key = "", broker } = bridge ?? {};
    let enrolled = bridge && (await enrol({ agent: BRIDGE, publicKey: public_key, name, broker }));
    if (enrolled?.ok !== false) enrolled = await enrol({ agent, publicKey, name, login });
    if (enrolled.ok) return this.#welcome(enrolled.gatewayPublicKey, code.broker, agent);
    // It did nothing: another name, or another key, may still use it.
    this.#codes.release(end);
    const { problem } = enrolled;
    return { ok: false, problem: problem === "wrong_signature" ? "has_a_key" : problem };
  }

  /** The answer was lost on its way, or the device asks whether it is seen. It is not let in a second time. */
  async #again(
    used: { agent: string; publicKey: string },
    told: BrokerForDevice | null,
    { agent_id: agent, public_key, bridge }: PairBody,
  ): Promise<PairResult> {
    const { gateway, agents } = await this.#keys.all();
    const counts = (holder: string, key: string) =>
      agents.some((one) => one.agent === holder && one.public_key === key && one.revoked_at === null);
    const isIt = used.agent === agent && used.publicKey === public_key && counts(agent, public_key);
    if (!isIt || (bridge && !counts(BRIDGE, bridge.public_key))) return { ok: false, problem: "wrong_code" };
    return this.#welcome(gateway, told, agent);
  }

  #welcome(gateway_key: string, told: BrokerForDevice | null, agent: string): PairResult {
    const { url, login } = this.#keys.brokerFor(agent);
    const broker = told ?? (url === null ? null : { url });
    return {
      ok: true,
      welcome: { gateway_key, broker, broker_login: login, online: this.#isOnline(agent) },
    };
  }
}
