/** Stores what the bridge reports of an agent, as its row. */

import { VERSION } from "@edgecall/core/protocol/names.ts";
import type { Env } from "../../env.ts";
import { type BridgeSocket, bridgeOf } from "../bridge/bridge-socket.ts";
import { slot } from "../slot.ts";
import { acceptFirst, NOTHING_ACCEPTED } from "./advert-text.ts";
import { readCapabilities, readTools } from "./adverts.ts";
import { type AgentRows, agentRowsOf } from "./agent-rows.ts";
import { gatewayFeatures } from "./gateway-features.ts";
import {
  AS_HOSTED,
  advertisedBy,
  isSame,
  type ListedAgent,
  lastSeenOf,
  problemOf,
  textOf,
} from "./listed-agent.ts";
import type { VerifiedState } from "./verify-presence.ts";

export class AgentUpdates {
  readonly #rows: AgentRows;
  readonly #bridge: Pick<BridgeSocket, "has" | "confirmedUntil">;
  readonly #env: Env;

  constructor(rows: AgentRows, bridge: Pick<BridgeSocket, "has" | "confirmedUntil">, env: Env) {
    this.#rows = rows;
    this.#bridge = bridge;
    this.#env = env;
  }

  /**
   * Stores what counts of the bridge's word about an agent. Costs no row when nothing changed.
   * @param isLetIn an owner paired it, or named it: that accepts the first text by which it describes itself
   * @param isOpen it is served like any other agent: that accepts the first text by use
   * @returns isNew: it came online with this, or anew; greets: it does not know this gateway's version yet
   */
  async update(
    verified: VerifiedState,
    isLetIn: boolean,
    isOpen = false,
  ): Promise<{ isNew: boolean; greets: boolean }> {
    const { state, kept, texts, isNewRun } = verified;
    const isKnown = this.#rows.has(state.id);
    const capabilities = isKnown && kept.has("capabilities") ? undefined : readCapabilities(state);
    const tools = isKnown && kept.has("tools") ? undefined : readTools(state);
    const key = tools && (await this.#rows.adverts.keyOf(tools.tools));
    // From here on nothing is awaited, so the rows stay what they are.
    const before = this.#rows.get(state.id);
    const { hosted } = state;
    const read = capabilities ?? before ?? readCapabilities(state);
    const { line, version, type, features, group } = hosted ? { ...read, ...AS_HOSTED } : read;
    const own = capabilities?.conditions ?? before?.conditions.own ?? [];
    const { advert, names } =
      tools && key !== undefined
        ? this.#rows.adverts.store(key, tools.tools)
        : (before ?? this.#rows.adverts.none);
    const agent: ListedAgent = {
      id: state.id,
      online: state.online,
      reason: state.reason,
      // A bridge that was started anew has not seen it yet; the one before may have.
      lastSeen: state.last_seen ?? (before ? lastSeenOf(before, this.#bridge.confirmedUntil()) : null),
      foreign: state.foreign,
      line,
      type,
      version,
      features,
      advert,
      names,
      problem:
        (capabilities ? capabilities.problem : problemOf(before, "capabilities")) ??
        (tools ? tools.problem : problemOf(before, "tools")) ??
        verified.problem ??
        null,
      conditions: { own, seen: state.conditions ?? [] },
      group,
      acceptedGroup: undefined,
      changedAt: Date.now(),
      texts,
      greeted: before?.greeted ?? null,
      incompatibleWith: undefined,
      newText: undefined,
      isByUse: false,
      hosted,
      isLineAccepted: false,
    };
    const isNew = state.online && (before?.online !== true || isNewRun);
    const greeting = [VERSION, texts.run ?? "", ...gatewayFeatures(this.#bridge, this.#env)].join(" ");
    const isUnknown = agent.greeted !== greeting || (isNew && texts.run === undefined);
    const greets = state.online && features.includes("gateway") && isUnknown;
    if (greets) agent.greeted = greeting;
    // Another device that has the id now has words of its own.
    const isSameOne = before !== undefined && before.hosted?.key === hosted?.key;
    const acceptedBefore = isSameOne ? this.#rows.acceptedOf(state.id) : NOTHING_ACCEPTED;
    // What the bridge says of a hosted device has rules of its own.
    const isByUse = !isLetIn && isOpen && !hosted;
    const accepted =
      isLetIn || isByUse
        ? acceptFirst(textOf(agent), advertisedBy(agent), acceptedBefore, isByUse)
        : acceptedBefore;
    if (
      !before ||
      !isSameOne ||
      !isSame(before, agent) ||
      JSON.stringify(accepted) !== JSON.stringify(acceptedBefore)
    )
      this.#rows.write(agent, accepted);
    return { isNew, greets };
  }
}

export const agentUpdatesOf = slot((home) => new AgentUpdates(agentRowsOf(home), bridgeOf(home), home.env));
