/** Keys come, are replaced and revoked; and who has to hear of it: the bridge, the roster, and who waits for a call. */
import type { AgentKeyView, KeyGrant, KeyProblem, NewKey } from "./agent-keys.ts";
import type { Asking } from "./asking.ts";
import { REVOKED, UNSIGNED } from "./believing.ts";
import type { HomeContext } from "./context.ts";
import type { Dispatcher } from "./dispatcher.ts";

export type Enrolled = { ok: true; gatewayPublicKey: string } | { ok: false; problem: KeyProblem };

export type HomeKeys = {
  /** The gateway's public key: what devices obey. */
  gateway: string;
  agents: AgentKeyView[];
  /** Agents that the broker shows and that have no key on record. */
  unsigned: Array<{ agent: string; served: boolean }>;
};

export class KeyDesk {
  readonly #home: HomeContext;
  readonly #dispatcher: Dispatcher;
  readonly #asking: Asking;

  constructor(home: HomeContext, dispatcher: Dispatcher, asking: Asking) {
    this.#home = home;
    this.#dispatcher = dispatcher;
    this.#asking = asking;
  }

  async enrol(key: NewKey, grant: KeyGrant): Promise<Enrolled> {
    const { keys, gatewayKey } = this.#home;
    const before = keys.forBridge().find(({ id }) => id === key.agent)?.key;
    const problem = await keys.enrol(key, grant, Date.now());
    if (problem !== undefined) return { ok: false, problem };
    const gatewayPublicKey = await gatewayKey.publicKey();
    if (before !== key.publicKey) this.#changed(key.agent, UNSIGNED);
    return { ok: true, gatewayPublicKey };
  }

  async revoke(agent: string): Promise<boolean> {
    if (!this.#home.keys.revoke(agent, Date.now())) return false;
    this.#changed(agent, REVOKED);
    for (const call of this.#home.ledger.open(agent)) {
      const elapsedMs = Date.now() - call.createdAt;
      const text = `Error: The key of agent '${agent}' was revoked while this was under way; whether it was done is unknown.\nTell the user.`;
      await this.#dispatcher.settle(call, {
        status: "error",
        errorType: "outcome_unknown",
        text,
        elapsedMs,
      });
      await this.#asking.callEnded(call.id);
    }
    return true;
  }

  async all(): Promise<HomeKeys> {
    const { keys, agents, gatewayKey } = this.#home;
    const unsigned = agents.ids().filter((id) => keys.standing(id) === "none");
    return {
      gateway: await gatewayKey.publicKey(),
      agents: keys.list(),
      unsigned: unsigned.map((id) => ({ agent: id, served: this.#dispatcher.served({ id }) })),
    };
  }

  /** It is offline until it says otherwise, with the right signature. */
  #changed(agent: string, reason: string): void {
    const { agents, bridge, keys } = this.#home;
    agents.distrust(agent, reason);
    bridge.send({ t: "keys", keys: keys.forBridge() }, Date.now());
  }
}
