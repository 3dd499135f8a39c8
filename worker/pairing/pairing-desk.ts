/** A device shows its code: what it gets for it. */
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import type { NewKey } from "../home/agent-keys.ts";
import type { BrokerLoginState, KeyDesk } from "../home/key-desk.ts";
import type { BrokerForDevice, CodeState, DeviceCodes, NewCode } from "./device-codes.ts";

export type PairRequest = Omit<NewKey, "broker"> & {
  /** The end of the code, after its home. */
  end: string;
  /** The device is the home's bridge, too. */
  bridge?: Pick<NewKey, "publicKey" | "broker"> | undefined;
};

type Welcome = { gatewayPublicKey: string; broker: BrokerForDevice | null; login: BrokerLoginState };
export type Paired =
  | ({ ok: true; online: boolean } & Welcome)
  | { ok: false; problem: "wrong_code" | "has_a_key" | "has_a_bridge" | "not_a_key" }
  | { ok: false; problem: "other_agent"; agent: string };

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

  async pair(request: PairRequest): Promise<Paired> {
    const { end, agent, publicKey, name, login, bridge } = request;
    const code = await this.#codes.show(end, Date.now());
    if (!code) return { ok: false, problem: "wrong_code" };
    if (code.used) return await this.#again(code.used, code.broker, request);
    const isForBridge = code.agent === BRIDGE;
    if (code.agent !== null && code.agent !== agent && !isForBridge)
      return { ok: false, problem: "other_agent", agent: code.agent };
    if (bridge && !isForBridge && this.#keys.hasOtherBridge(bridge.publicKey))
      return { ok: false, problem: "has_a_bridge" };
    // Taken before anything is awaited: of two devices that show it at once, one gets it.
    this.#codes.use(end, agent, publicKey);
    // The bridge first. When the agent is refused its name, the same machine comes again with the same key.
    const entered = bridge && (await this.#keys.enrol({ ...bridge, agent: BRIDGE, name }, { by: "pairing" }));
    const enrolled =
      entered?.ok === false
        ? entered
        : await this.#keys.enrol(
            { agent, publicKey, name, login },
            { by: code.agent === agent ? "pairing" : "nothing" },
          );
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
    { agent, publicKey, bridge }: PairRequest,
  ): Promise<Paired> {
    const { gateway, agents } = await this.#keys.all();
    const counts = (holder: string, key: string) =>
      agents.some((one) => one.agent === holder && one.public_key === key && one.revoked_at === null);
    const isIt = used.agent === agent && used.publicKey === publicKey && counts(agent, publicKey);
    if (!isIt || (bridge && !counts(BRIDGE, bridge.publicKey))) return { ok: false, problem: "wrong_code" };
    return this.#welcome(gateway, told, agent);
  }

  #welcome(gatewayPublicKey: string, told: BrokerForDevice | null, agent: string): Paired & { ok: true } {
    const { url, login } = this.#keys.brokerFor(agent);
    const broker = told ?? (url === null ? null : { url });
    return { ok: true, gatewayPublicKey, broker, login, online: this.#isOnline(agent) };
  }
}
