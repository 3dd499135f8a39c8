/** The rows of Home's agents, as the bridge reported them, and the roster that follows from them. */
import type { IndexedAgent } from "@edgecall/core/agents/agent-index.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { AgentView } from "../../api/answers.ts";
import { AGENT_COMMANDS, type CallTarget } from "../../api/edge-call.ts";
import type { RosterAgent } from "../../api/roster.ts";
import type { BridgeSocket } from "../bridge/bridge-socket.ts";
import {
  type AcceptedText,
  type AdvertText,
  accept,
  acceptFirst,
  type NewText,
  NOTHING_ACCEPTED,
  newText,
} from "./advert-text.ts";
import { namesByUse, readAdvert } from "./adverts.ts";
import type { AgentKeys } from "./agent-keys.ts";
import type { VerifiedState } from "./verify-presence.ts";

/** The reason in the row of an agent whose key was revoked and that was taken off the list. Nothing that the broker retains brings it back. */
const HIDDEN = "(removed)";

type AgentRow = {
  id: string;
  online: number;
  reason: string | null;
  last_seen: number | null;
  is_foreign: number;
  line: string;
  type: string | null;
  version: string | null;
  features: string;
  tools: string;
  problem: string | null;
  changed_at: number;
  accepted: string;
};

/** A row, with everything that follows from the adverts alone. */
type StoredAgent = {
  id: string;
  online: boolean;
  reason: string | undefined;
  lastSeen: number | null;
  foreign: boolean;
  line: string;
  type: string | null;
  version: string | null;
  features: string[];
  tools: ActionAdvert[];
  problem: string | null;
  changedAt: number;
  accepted: AcceptedText;
  /** Why its program does not fit this gateway. */
  incompatibleWith: string | undefined;
  newText: NewText | undefined;
  /** The part of its roster entry that does not depend on the moment. */
  advertised: Omit<RosterAgent, "online" | "reason" | "lastSeen">;
};

/** What an agent was asked so far; times are epoch ms. */
export type AgentActivity = { last: number; calls: number; success: number; error: number; open: number };

export class Agents {
  readonly #sql: SqlStorage;
  readonly #bridge: Pick<BridgeSocket, "lastSeenAt" | "lastVouchedAt">;
  readonly #keys: Pick<AgentKeys, "serves" | "standing">;
  /** The rows, read once: this class alone writes them, and every step of every turn needs them. */
  #stored: Map<string, StoredAgent> | undefined;
  /** The same in the order of their ids; undefined: one came or went. */
  #ordered: StoredAgent[] | undefined;

  /** Rises with each change of what a roster says. A clock, so that an object that is made anew begins with one that it never had. */
  version = Date.now();
  /** The words of this agent (line, type, actions) may have changed. */
  onChange: (id: string) => void = () => {};

  constructor(
    storage: DurableObjectStorage,
    bridge: Pick<BridgeSocket, "lastSeenAt" | "lastVouchedAt">,
    keys: Pick<AgentKeys, "serves" | "standing">,
  ) {
    this.#sql = storage.sql;
    this.#bridge = bridge;
    this.#keys = keys;
  }

  /**
   * Stores what counts of the bridge's word about an agent.
   * @param isLetIn an owner paired it, or named it: that accepts the first text by which it describes itself
   * @returns true if it came online with this, or anew
   */
  update({ state, keepsAdverts, problem, isNewRun }: VerifiedState, isLetIn: boolean): boolean {
    const before = this.#get(state.id);
    const advert = readAdvert(state);
    if (keepsAdverts && before && state.capabilities === undefined) {
      const { line, type, version, features } = before;
      Object.assign(advert, { line, type, version, features });
    }
    if (keepsAdverts && before && state.tools === undefined) advert.tools = before.tools;
    advert.problem ??= problem ?? null;
    const acceptedBefore = before?.accepted ?? NOTHING_ACCEPTED;
    const advertised = {
      line: state.capabilities !== undefined,
      actions: state.tools !== undefined && advert.problem?.startsWith("tools:") !== true,
    };
    const accepted = isLetIn
      ? acceptFirst(textOf({ ...advert, id: state.id }), advertised, acceptedBefore)
      : acceptedBefore;
    this.#sql.exec(
      `INSERT OR REPLACE INTO agent
         (id, online, reason, last_seen, is_foreign, line, type, version, features, tools, problem, changed_at, accepted)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      state.id,
      state.online ? 1 : 0,
      state.reason ?? null,
      // A bridge that was started anew has not seen it yet; the one before may have.
      state.last_seen ?? before?.lastSeen ?? null,
      state.foreign ? 1 : 0,
      advert.line,
      advert.type,
      advert.version,
      JSON.stringify(advert.features),
      JSON.stringify(advert.tools),
      advert.problem,
      Date.now(),
      JSON.stringify(accepted),
    );
    this.#reread(state.id);
    if (!keepsAdverts || state.capabilities !== undefined || state.tools !== undefined)
      this.onChange(state.id);
    return state.online && (before?.online !== true || isNewRun);
  }

  /**
   * An owner accepts the words by which an agent describes itself.
   * @param line as the owner read it; undefined: whatever it is
   * @returns "changed": it describes itself otherwise by now
   */
  acceptText(id: string, line: string | undefined): "accepted" | "changed" | "unknown" {
    const agent = this.#get(id);
    if (!agent) return "unknown";
    if (line !== undefined && line !== agent.line) return "changed";
    this.#storeAccepted(id, accept(textOf(agent), agent.accepted));
    return "accepted";
  }

  /** The next text of an agent that is let in counts as its first. */
  forgetAccepted(id: string): void {
    this.#storeAccepted(id, NOTHING_ACCEPTED);
  }

  #storeAccepted(id: string, accepted: AcceptedText): void {
    this.#sql.exec("UPDATE agent SET accepted = ? WHERE id = ?", JSON.stringify(accepted), id);
    this.#reread(id);
  }

  /** The agents that a whole snapshot did not name are offline. They stay on record with their last seen. */
  setAbsentSince(snapshotBegan: number): void {
    for (const { id, online, changedAt } of this.#all().values())
      if (online && changedAt < snapshotBegan) this.setOffline(id, "the bridge does not know it");
  }

  /** The agent counts as offline until the bridge reports it anew. */
  setOffline(id: string, reason: string): void {
    this.#sql.exec("UPDATE agent SET online = 0, reason = ? WHERE id = ?", reason, id);
    const agent = this.#get(id);
    if (agent) Object.assign(agent, { online: false, reason });
    this.version += 1;
  }

  /** The bridge went at that moment, and vouched for its agents until then. */
  setLastSeen(time: number): void {
    this.#sql.exec("UPDATE agent SET last_seen = ? WHERE online = 1", time);
    for (const agent of this.#all().values()) if (agent.online) agent.lastSeen = time;
  }

  /** Agents that are offline and were last seen (or, if never, last changed) before then. */
  goneSince(time: number): string[] {
    return [...this.#all().values()]
      .filter(({ online, lastSeen, changedAt }) => !online && (lastSeen ?? changedAt) < time)
      .map(({ id }) => id);
  }

  hide(id: string): void {
    this.setOffline(id, HIDDEN);
  }

  isHidden(id: string): boolean {
    return this.#get(id)?.reason === HIDDEN;
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM agent WHERE id = ?", id);
    this.#all().delete(id);
    this.#ordered = undefined;
    this.version += 1;
    this.onChange(id);
  }

  has(id: string): boolean {
    return this.#get(id) !== undefined;
  }

  /** All ids, whether or not this home serves the agent. */
  ids(): string[] {
    return this.#inOrder().map(({ id }) => id);
  }

  features(id: string): readonly string[] {
    return this.#get(id)?.features ?? [];
  }

  /** True if the agent can ask a person, by its advert. */
  canAsk(id: string): boolean {
    return this.features(id).includes("question");
  }

  /** True if the agent is not edgecall's: it has no ledger and advertises no features. */
  isForeign(id: string): boolean {
    return this.features(id).length === 0;
  }

  /** What it advertises of an action, and whether the bridge called it foreign. */
  advertOf(id: string, action: unknown): { advert: ActionAdvert | undefined; foreign: boolean | undefined } {
    const agent = this.#get(id);
    return { advert: agent?.tools.find(({ name }) => name === action), foreign: agent?.foreign };
  }

  /** True if the bridge vouches for it at this moment. */
  isOnline(id: string, now: number): boolean {
    return this.#get(id)?.online === true && this.#bridge.lastSeenAt(now) !== null;
  }

  roster(now: number): RosterAgent[] {
    return this.rosterOf(this.servedIds(), now);
  }

  /** Those that there are, in this order. */
  rosterOf(ids: readonly string[], now: number): RosterAgent[] {
    const bridgeSeenAt = this.#bridge.lastSeenAt(now);
    const agents = ids.flatMap((id) => this.#get(id) ?? []);
    return agents.map((agent) => this.#rosterAgent(agent, bridgeSeenAt));
  }

  isServed(id: string): boolean {
    const agent = this.#get(id);
    return agent !== undefined && this.#isServed(agent);
  }

  /** In the order of the ids. */
  servedIds(): string[] {
    return this.#served().map(({ id }) => id);
  }

  /** Of these agents, those that the bridge called online, and those whose words no owner has accepted. */
  presenceOf(ids: readonly string[]): { online: number; unread: string[] } {
    const agents = ids.flatMap((id) => this.#get(id) ?? []);
    const unread = agents.filter((agent) => agent.newText).map(({ id }) => id);
    return { online: agents.filter(({ online }) => online).length, unread };
  }

  /** The words by which it is found, whether or not this home serves it; undefined: there is no such agent. */
  searchable(id: string): IndexedAgent | undefined {
    const agent = this.#get(id);
    if (!agent) return undefined;
    return { id, line: agent.line, type: agent.type ?? undefined, actions: agent.tools };
  }

  target(id: string, now: number): CallTarget | undefined {
    const agent = this.#get(id);
    return agent && this.#isServed(agent) ? this.#target(agent, this.#bridge.lastSeenAt(now)) : undefined;
  }

  /** Those of these ids that this home serves, in this order. */
  views(ids: readonly string[], activity: ReadonlyMap<string, AgentActivity>, now: number): AgentView[] {
    const bridgeSeenAt = this.#bridge.lastSeenAt(now);
    const served = ids.flatMap((id) => this.#get(id) ?? []).filter((agent) => this.#isServed(agent));
    return served.map((stored) => {
      const agent = this.#rosterAgent(stored, bridgeSeenAt);
      const { last = null, ...counts } = activity.get(stored.id) ?? {
        calls: 0,
        success: 0,
        error: 0,
        open: 0,
      };
      const problem = stored.incompatibleWith ?? stored.problem;
      return {
        id: stored.id,
        online: agent.online,
        status: agent.online ? "online" : "offline",
        ...(agent.reason !== undefined && { reason: agent.reason }),
        last_seen: agent.lastSeen,
        last_active: last,
        type: stored.type,
        version: stored.version,
        capabilities: stored.line,
        foreign: stored.foreign,
        paired: this.#keys.standing(stored.id) === "signed",
        features: stored.features,
        actions: agent.actions,
        ...(problem !== null && { problem }),
        ...(stored.newText && { new_text: stored.newText }),
        counts,
      };
    });
  }

  /** Whether the names of a call are real: a model may have invented the agent, or the tool. */
  knows(id: string, tool: string): "both" | "agent" | "none" {
    const agent = this.#get(id);
    if (!agent || !this.#keys.serves(id)) return "none";
    return AGENT_COMMANDS.has(tool) || agent.tools.some(({ name }) => name === tool) ? "both" : "agent";
  }

  #isServed({ id, reason }: StoredAgent): boolean {
    return reason !== HIDDEN && this.#keys.serves(id);
  }

  #served(): StoredAgent[] {
    return this.#inOrder().filter((agent) => this.#isServed(agent));
  }

  /** @param bridgeSeenAt null: the bridge is not connected, so no agent is online */
  #rosterAgent(agent: StoredAgent, bridgeSeenAt: number | null): RosterAgent {
    const { advertised, online, reason, lastSeen } = agent;
    // The bridge receives the heartbeats. While it reports the agent online, its own sign of life is the agent's.
    if (online && bridgeSeenAt !== null)
      return { ...advertised, online, reason: undefined, lastSeen: bridgeSeenAt };
    return {
      ...advertised,
      online: false,
      reason: bridgeSeenAt === null ? "the bridge is not connected" : reason,
      // A bridge that has fallen silent vouched for it until then; its row is as old as the last change.
      lastSeen: online ? Math.max(lastSeen ?? 0, this.#bridge.lastVouchedAt() ?? 0) || null : lastSeen,
    };
  }

  #target(agent: StoredAgent, bridgeSeenAt: number | null): CallTarget {
    return {
      ...this.#rosterAgent(agent, bridgeSeenAt),
      adverts: agent.tools,
      asks: agent.features.includes("question"),
      incompatibleWith: agent.incompatibleWith,
    };
  }

  /** Reads one row alone: a snapshot of many agents would read each row as often as there are others. */
  #reread(id: string): void {
    const stored = this.#stored;
    const row = stored && this.#sql.exec<AgentRow>("SELECT * FROM agent WHERE id = ?", id).toArray()[0];
    if (!row) return;
    stored.set(id, toStored(row));
    this.#ordered = undefined;
    this.version += 1;
  }

  #inOrder(): StoredAgent[] {
    this.#ordered ??= [...this.#all().values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return this.#ordered;
  }

  #get(id: string): StoredAgent | undefined {
    return this.#all().get(id);
  }

  #all(): Map<string, StoredAgent> {
    this.#stored ??= new Map(
      this.#sql
        .exec<AgentRow>("SELECT * FROM agent")
        .toArray()
        .map((row) => [row.id, toStored(row)]),
    );
    return this.#stored;
  }
}

function toStored(row: AgentRow): StoredAgent {
  const { id, line } = row;
  const features = JSON.parse(row.features) as string[];
  const tools = JSON.parse(row.tools) as ActionAdvert[];
  const accepted = JSON.parse(row.accepted) as AcceptedText;
  const foreign = row.is_foreign === 1;
  const fresh = newText(textOf({ id, line, tools }), accepted);
  return {
    id,
    online: row.online === 1,
    reason: row.reason ?? undefined,
    lastSeen: row.last_seen,
    foreign,
    line,
    type: row.type,
    version: row.version,
    features,
    tools,
    problem: row.problem,
    changedAt: row.changed_at,
    accepted,
    // A foreign agent has versions of its own.
    incompatibleWith: features.length > 0 ? versionProblem("agent", row.version) : undefined,
    newText: fresh,
    advertised: {
      id,
      line,
      actions: namesByUse(tools),
      queues: tools.flatMap(({ name, queue_ms }) => (queue_ms === undefined ? [] : [name])).sort(),
      hasModel: foreign || features.includes("prompt"),
      foreign,
      ...(fresh && { newText: true }),
    },
  };
}

function textOf({ id, line, tools }: Pick<StoredAgent, "id" | "line" | "tools">): AdvertText {
  return { id, line, actions: tools.map(({ name }) => name) };
}
