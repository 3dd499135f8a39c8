/** A device shows its code: what it gets for it. */
import type { NewKey } from "../home/agent-keys.ts";
import type { KeyDesk } from "../home/key-desk.ts";
import type { BrokerForDevice, CodeState, DeviceCodes, NewCode } from "./device-codes.ts";

/** @property end of the code, after its home */
export type PairRequest = NewKey & { end: string };

export type Paired =
  | { ok: true; gatewayPublicKey: string; broker: BrokerForDevice | null; online: boolean }
  | { ok: false; problem: "wrong_code" | "has_a_key" | "not_a_key" }
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

  async pair({ end, agent, publicKey, name }: PairRequest): Promise<Paired> {
    const code = await this.#codes.show(end, Date.now());
    if (!code) return { ok: false, problem: "wrong_code" };
    if (code.used) return await this.#again(code.used, code.broker, { agent, publicKey });
    if (code.agent !== null && code.agent !== agent)
      return { ok: false, problem: "other_agent", agent: code.agent };
    // Taken before anything is awaited: of two devices that show it at once, one gets it.
    this.#codes.use(end, agent, publicKey);
    const enrolled = await this.#keys.enrol(
      { agent, publicKey, name },
      { by: code.agent === agent ? "pairing" : "nothing" },
    );
    if (enrolled.ok) {
      const { gatewayPublicKey } = enrolled;
      return { ok: true, gatewayPublicKey, broker: code.broker, online: this.#isOnline(agent) };
    }
    // It did nothing: another name, or another key, may still use it.
    this.#codes.release(end);
    const { problem } = enrolled;
    return { ok: false, problem: problem === "wrong_signature" ? "has_a_key" : problem };
  }

  /** The answer was lost on its way, or the device asks whether it is seen. It is not let in a second time. */
  async #again(
    used: { agent: string; publicKey: string },
    broker: BrokerForDevice | null,
    { agent, publicKey }: { agent: string; publicKey: string },
  ): Promise<Paired> {
    const { gateway, agents } = await this.#keys.all();
    const key = agents.find((one) => one.agent === agent);
    const isIt = used.agent === agent && used.publicKey === publicKey && key?.public_key === publicKey;
    if (!isIt || key.revoked_at !== null) return { ok: false, problem: "wrong_code" };
    return { ok: true, gatewayPublicKey: gateway, broker, online: this.#isOnline(agent) };
  }
}
