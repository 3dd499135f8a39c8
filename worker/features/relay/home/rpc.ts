/** What the rest of the Worker asks a home about relay. */

import { keysOf } from "../../../kernel/home/agents/agent-keys.ts";
import type { HomePart } from "../../../kernel/home/part.ts";
import { relayUnsigned } from "../contract.ts";
import type { RelayApi } from "../relay-api.ts";
import { admitToRelay, countRelayed } from "./relay-admission.ts";

export const relayRpc: HomePart<RelayApi> = {
  isToken: async (at, token) => !at.isBlank && (await keysOf(at.home).isRelayToken(token)),
  admit: async (at, token, reserve) =>
    at.isBlank ? relayUnsigned(token.claims.agent) : await admitToRelay(at.home, token, reserve),
  async count({ home }, agent, reserved, model, usage) {
    if (usage) countRelayed(home, { agent, reserved, model, usage });
  },
};
