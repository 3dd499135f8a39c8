/** Keys come, are replaced and revoked; and who has to hear of it: the bridge, the roster, and who waits for a call. */
import { BRIDGE, STALE_TOKEN, splitBridgeToken } from "@edgecall/core/protocol/bridge-token.ts";
import { errorBody } from "../../api/errors.ts";
import type { BrokerLoginState, Enrolled, HomeKeys, KeyGrant, NewKey, Removed } from "../../api/keys.ts";
import { KEY_REVOKED, UNSIGNED_BRIDGE } from "../bridge/bridge-socket.ts";
import type { Dispatcher } from "../calls/dispatcher.ts";
import type { HomeContext } from "../context.ts";
import type { Asking } from "../questions/asking.ts";
import { REVOKED, UNSIGNED } from "./believing.ts";

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
    const before = keys.publicKeyOf(key.agent);
    const problem = await keys.enrol(key, grant, Date.now());
    if (problem !== undefined) return { ok: false, problem };
    const gatewayPublicKey = await gatewayKey.publicKey();
    if (before !== key.publicKey) this.#changed(key.agent, UNSIGNED);
    else if (key.login !== undefined) this.#tellBridge();
    return { ok: true, gatewayPublicKey };
  }

  /** Where devices find the home's own broker, and how it stands with this one's login there. */
  brokerFor(agent: string): { url: string | null; login: BrokerLoginState } {
    const { keys, bridge } = this.#home;
    const url = keys.broker();
    if (url === null || !keys.hasLogin(agent)) return { url, login: null };
    return { url, login: bridge.current(Date.now()) ? "sent" : "waiting" };
  }

  /** @param token made of the bridge's key @returns undefined: it may come in */
  async refusedBridge(token: string): Promise<Response | undefined> {
    const { keys } = this.#home;
    const signed = splitBridgeToken(token);
    const seen = signed ? await keys.takeBridgeToken(signed) : "unsigned";
    if (seen === "fresh") return undefined;
    return refusedBridge(seen);
  }

  async revoke(agent: string): Promise<boolean> {
    if (!this.#home.keys.revoke(agent, Date.now())) return false;
    this.#changed(agent, REVOKED);
    for (const call of this.#home.ledger.open(agent)) {
      const elapsedMs = Date.now() - call.createdAt;
      const text = `Error: The key of agent '${agent}' was revoked while this was under way; whether it was done is unknown.`;
      await this.#dispatcher.conclude(call, {
        status: "error",
        errorType: "outcome_unknown",
        text,
        advice: "Tell the user.",
        elapsedMs,
        sources: [],
      });
      await this.#asking.callEnded(call.id);
    }
    return true;
  }

  /** Takes a device that is gone off the list. Its revoked key stays on record, so that it is never believed unsigned. */
  remove(agent: string): Removed {
    const { agents, keys, bridge, ledger } = this.#home;
    const standing = keys.standing(agent);
    if (!agents.ids().includes(agent) || agents.isHidden(agent)) return "unknown";
    if (standing === "signed") return "has_a_key";
    const target = agents.target(agent, bridge.heardAt(Date.now()), () => true);
    if (target?.online || ledger.open(agent).length > 0) return "in_use";
    if (standing === "revoked") agents.hide(agent);
    else agents.remove(agent);
    return "removed";
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
    if (agent === BRIDGE) this.#home.bridge.dropSigned();
    else {
      // Another key may be another device: what it says first is accepted with it.
      this.#home.agents.forgetAccepted(agent);
      this.#home.agents.distrust(agent, reason);
      this.#tellBridge();
    }
  }

  #tellBridge(): void {
    const { bridge, keys } = this.#home;
    bridge.send({ t: "keys", keys: keys.forBridge() }, Date.now());
  }
}

export function refusedBridge(why: keyof typeof REFUSED_BRIDGE): Response {
  const [code, message] = REFUSED_BRIDGE[why];
  return Response.json(errorBody(code, message), { status: 401 });
}

/** Why a bridge may not come in: code and words. */
const REFUSED_BRIDGE = {
  // Only whoever holds that key is told so.
  revoked: ["key_revoked", KEY_REVOKED],
  used: [STALE_TOKEN, "the bridge's token was used before"],
  unsigned: ["unauthorized", UNSIGNED_BRIDGE],
} as const;
