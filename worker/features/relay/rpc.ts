/** What the rest of the Worker asks a home about relay. */

import { RpcTarget } from "cloudflare:workers";
import type { Usage } from "@edgecall/core/loop/history.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import type { HomeAccess } from "../../kernel/home/access.ts";
import { keysOf } from "../../kernel/home/agents/agent-keys.ts";
import { isBlank } from "../../kernel/migrate.ts";
import { type Admission, relayUnsigned } from "../usage/contract.ts";
import { admitToRelay, countRelayed } from "../usage/home/relay-admission.ts";
import type { RelayApi } from "./relay-api.ts";

export class RelayRpc extends RpcTarget implements RelayApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async isRelayToken(token: RelayToken): Promise<boolean> {
    return !this.#at.isBlank && (await keysOf(this.#at.home).isRelayToken(token));
  }

  async admitToRelay(token: RelayToken, reserve: number): Promise<Admission> {
    return this.#at.isBlank
      ? relayUnsigned(token.claims.agent)
      : await admitToRelay(this.#at.home, token, reserve);
  }

  async countRelayed(
    agent: string,
    reserved: number,
    model: string,
    usage: Usage | undefined,
  ): Promise<void> {
    if (usage) countRelayed(this.#at.home, { agent, reserved, model, usage });
  }
}
