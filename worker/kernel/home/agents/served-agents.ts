/** The agents that this home serves, as models, lists and callers see them. */

import type { IndexedAgent } from "@edgecall/core/agents/agent-index.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { AGENT_COMMANDS, type CallTarget } from "../../api/edge-call.ts";
import type { RosterAgent } from "../../api/roster.ts";
import { type BridgeSocket, bridgeOf } from "../bridge/bridge-socket.ts";
import { areaOf, lineOf, nameOf, otherWordsOf } from "../devices/device-line.ts";
import { slot } from "../slot.ts";
import { type AgentKeys, keysOf } from "./agent-keys.ts";
import { type AgentRows, agentRowsOf, HIDDEN } from "./agent-rows.ts";
import { type HostedDevices, hostedDevicesOf } from "./hosted-devices.ts";
import { type ListedAgent, lastSeenOf } from "./listed-agent.ts";

/** A hosted device that is silent for so long is not told of to a model any more. */
const GHOST_AFTER_MS = 7 * 86_400_000;

/** When the bridge was seen last (null: it is not connected), and until when it confirmed for its agents. */
type Confirmed = { seenAt: number | null; until: number | null };

export class ServedAgents {
  readonly #rows: AgentRows;
  readonly #devices: HostedDevices;
  readonly #keys: Pick<AgentKeys, "serves">;
  readonly #bridge: Pick<BridgeSocket, "lastSeenAt" | "confirmedUntil">;

  constructor(
    rows: AgentRows,
    devices: HostedDevices,
    keys: Pick<AgentKeys, "serves">,
    bridge: Pick<BridgeSocket, "lastSeenAt" | "confirmedUntil">,
  ) {
    this.#rows = rows;
    this.#devices = devices;
    this.#keys = keys;
    this.#bridge = bridge;
  }

  has(id: string): boolean {
    const agent = this.#rows.get(id);
    return agent !== undefined && this.#isServed(agent);
  }

  /** In the order of the ids. */
  ids(): string[] {
    return this.#all().map(({ id }) => id);
  }

  /** Those of which a model is told: without devices that are gone for days, whose descriptions a broker keeps for ever. */
  offeredIds(now: number): string[] {
    return this.#all().flatMap((agent) => (isGhost(agent, now) ? [] : [agent.id]));
  }

  /** True for a hosted device that is gone for days. */
  isGhost(id: string, now: number): boolean {
    const agent = this.#rows.get(id);
    return agent !== undefined && isGhost(agent, now);
  }

  /** True if the bridge hosts one of them. */
  hasHosted(): boolean {
    return this.#all().some((agent) => this.#devices.of(agent) !== undefined);
  }

  /** True if the bridge vouches for it at this moment. */
  isOnline(id: string, now: number): boolean {
    return this.#rows.get(id)?.online === true && this.#bridge.lastSeenAt(now) !== null;
  }

  /** Of these agents, those that the bridge called online, those whose words no person has accepted, and those whose words count by use. */
  presenceOf(ids: readonly string[]): { online: number; unread: string[]; byUse: string[] } {
    const agents = ids.flatMap((id) => this.#rows.get(id) ?? []);
    const unread = agents.filter((agent) => agent.newText).map(({ id }) => id);
    const byUse = agents.filter((agent) => agent.isByUse && !agent.newText).map(({ id }) => id);
    return { online: agents.filter(({ online }) => online).length, unread, byUse };
  }

  /** All that it serves, in the order of the ids. */
  roster(now: number): RosterAgent[] {
    return this.rosterOf(this.ids(), now);
  }

  /** Those that there are, in this order. */
  rosterOf(ids: readonly string[], now: number): RosterAgent[] {
    const confirmed = this.#confirmed(now);
    const agents = ids.flatMap((id) => this.#rows.get(id) ?? []);
    return agents.map((agent) => this.#rosterAgent(agent, confirmed));
  }

  target(id: string, now: number): CallTarget | undefined {
    const agent = this.#rows.get(id);
    return agent && this.#isServed(agent) ? this.#target(agent, now) : undefined;
  }

  /** The same of a hosted device, whether or not it is switched off. */
  targetOfDevice(id: string, now: number): CallTarget | undefined {
    const agent = this.#rows.get(id);
    return agent && this.#target(agent, now);
  }

  /** Returns what it advertises of an action, and whether the bridge called it foreign. */
  advertOf(
    id: string,
    action: unknown,
  ): { advert: ActionAdvert | undefined; foreign: boolean | undefined; isPlain: boolean } {
    const agent = this.#rows.get(id);
    const isNamed = typeof action === "string" && agent?.names.names.includes(action) === true;
    const tools = isNamed ? this.#devices.toolsOf(agent) : [];
    return {
      advert: tools.find(({ name }) => name === action),
      foreign: agent?.foreign,
      isPlain: this.#devices.isPlain(id),
    };
  }

  /** Whether the names of a call are real: a model may have invented the agent, or the tool. */
  knows(id: string, tool: string): "both" | "agent" | "none" {
    const agent = this.#rows.get(id);
    if (!agent || !(this.#devices.of(agent) || this.#keys.serves(id))) return "none";
    return AGENT_COMMANDS.has(tool) || this.#devices.namesOf(agent).names.includes(tool) ? "both" : "agent";
  }

  /** The words by which it is found, whether or not this home serves it; undefined: there is no such agent. */
  searchable(id: string): IndexedAgent | undefined {
    const agent = this.#rows.get(id);
    if (!agent) return undefined;
    const actions = this.#devices.toolsOf(agent);
    const device = this.#devices.of(agent);
    if (!device) return { id, line: agent.line, type: agent.type ?? undefined, actions };
    const area = areaOf(device.hosted, device.setting, agent.isLineAccepted);
    const also = otherWordsOf(device.hosted, agent.isLineAccepted);
    return { id, line: this.#lineOf(agent), area: area?.toLowerCase(), also, actions };
  }

  isGroup(name: string): boolean {
    return this.#rows.inOrder().some((agent) => this.#groupOf(agent) === name && this.#isServed(agent));
  }

  /** In their order. */
  idsOfGroup(name: string): string[] {
    return this.#all().flatMap((agent) => (this.#groupOf(agent) === name ? [agent.id] : []));
  }

  /** The group by whose name it can be called: not that of an agent, which was there first. */
  #groupOf({ acceptedGroup }: ListedAgent): string | undefined {
    return acceptedGroup !== undefined && this.has(acceptedGroup) ? undefined : acceptedGroup;
  }

  #all(): ListedAgent[] {
    return this.#rows.inOrder().filter((agent) => this.#isServed(agent));
  }

  #isServed(agent: ListedAgent): boolean {
    const device = this.#devices.of(agent);
    if (device) return device.setting?.mode !== "off";
    return agent.reason !== HIDDEN && this.#keys.serves(agent.id);
  }

  /** The line for models and lists. */
  #lineOf(agent: ListedAgent): string {
    const device = this.#devices.of(agent);
    return device ? lineOf(agent, device.hosted, device.setting, agent.isLineAccepted) : agent.line;
  }

  #confirmed(now: number): Confirmed {
    const seenAt = this.#bridge.lastSeenAt(now);
    return { seenAt, until: seenAt ?? this.#bridge.confirmedUntil() };
  }

  #target(agent: ListedAgent, now: number): CallTarget {
    return {
      ...this.#rosterAgent(agent, this.#confirmed(now)),
      adverts: [...this.#devices.toolsOf(agent)],
      asks: agent.features.includes("question"),
      incompatibleWith: agent.incompatibleWith,
    };
  }

  #rosterAgent(agent: ListedAgent, { seenAt, until }: Confirmed): RosterAgent {
    const { id, foreign, features, online, reason, newText } = agent;
    const names = this.#devices.namesOf(agent);
    const group = this.#groupOf(agent);
    // The bridge receives the heartbeats. While it reports the agent online, its own sign of life is the agent's.
    const isOnline = online && seenAt !== null;
    const device = this.#devices.of(agent);
    const isHosted = device !== undefined;
    const name = device && nameOf(id, device.hosted, device.setting, agent.isLineAccepted);
    return {
      id,
      ...(name !== undefined && { name }),
      line: this.#lineOf(agent),
      actions: names.actions,
      // A device would do it when it comes back, and the gateway would not know of it.
      queues: isHosted ? [] : names.queues,
      ...(isHosted && { hosted: true as const }),
      hasModel: foreign || features.includes("prompt"),
      foreign,
      ...(group !== undefined && { group }),
      ...(newText ? { newText: true } : agent.isByUse && { firstUse: true }),
      online: isOnline,
      reason: isOnline ? undefined : seenAt === null ? "the bridge is not connected" : reason,
      lastSeen: isOnline ? seenAt : lastSeenOf(agent, until),
    };
  }
}

function isGhost({ online, hosted, lastSeen, changedAt }: ListedAgent, now: number): boolean {
  return hosted !== undefined && !online && (lastSeen ?? changedAt) < now - GHOST_AFTER_MS;
}

export const servedAgentsOf = slot(
  (home) => new ServedAgents(agentRowsOf(home), hostedDevicesOf(home), keysOf(home), bridgeOf(home)),
);
