/** What the rest of the Worker asks a home about relay. */

import type { Usage } from "@edgecall/core/loop/history.ts";
import type { RelayToken } from "@edgecall/core/protocol/relay-token.ts";
import { keysOf } from "../../../kernel/home/agents/agent-keys.ts";
import { HomePart } from "../../../kernel/home/part.ts";
import { type Admission, relayUnsigned } from "../contract.ts";
import type { RelayApi } from "../relay-api.ts";
import { admitToRelay, countRelayed } from "./relay-admission.ts";

export class RelayRpc extends HomePart implements RelayApi {
  async isToken(token: RelayToken): Promise<boolean> {
    return !this.isBlank && (await keysOf(this.home).isRelayToken(token));
  }

  async admit(token: RelayToken, reserve: number): Promise<Admission> {
    return this.isBlank ? relayUnsigned(token.claims.agent) : await admitToRelay(this.home, token, reserve);
  }

  async count(agent: string, reserved: number, model: string, usage: Usage | undefined): Promise<void> {
    if (usage) countRelayed(this.home, { agent, reserved, model, usage });
  }
}
