/**
 * The rows of Home's agents, as the bridge reported them, and the roster that follows from them.
 *
 * Memory holds of each agent what lists need. What it advertises of its actions (12 KB of schemas) stays in the table `advert`,
 * once for all agents that advertise the same, and is parsed when an agent is called or shown in full.
 */
import type { IndexedAgent } from "@edgecall/core/agents/agent-index.ts";
import type { StoredTexts } from "@edgecall/core/protocol/frames.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { AGENTS_MAX, VERSION } from "@edgecall/core/protocol/names.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { AgentView } from "../../api/answers.ts";
import { AGENT_COMMANDS, type CallTarget } from "../../api/edge-call.ts";
import type { RosterAgent } from "../../api/roster.ts";
import type { Env } from "../../env.ts";
import type { BridgeSocket } from "../bridge/bridge-socket.ts";
import { type ActionNames, Adverts } from "./advert-store.ts";
import {
  type AcceptedText,
  type AdvertText,
  accept,
  acceptFirst,
  isAcceptedGroup,
  type NewText,
  NOTHING_ACCEPTED,
  newText,
} from "./advert-text.ts";
import { readCapabilities, readTools } from "./adverts.ts";
import type { AgentKeys } from "./agent-keys.ts";
import { gatewayFeatures } from "./gateway-features.ts";
import { type KnownTexts, NO_TEXTS, type VerifiedState } from "./verify-presence.ts";

/** The reason in the row of an agent whose key was revoked and that was taken off the list. Nothing that the broker retains brings it back. */
const HIDDEN = "(removed)";
/** Ids of agents for which there was no room, so that each is counted once. */
const REFUSED_MAX = 1_000;

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
  advert: string;
  problem: string | null;
  changed_at: number;
  accepted: string;
  texts: string;
  greeted: string | null;
  share_group: string | null;
};

/** What memory holds of an agent. */
type ListedAgent = {
  id: string;
  online: boolean;
  reason: string | undefined;
  lastSeen: number | null;
  foreign: boolean;
  line: string;
  type: string | null;
  version: string | null;
  features: readonly string[];
  /** The key of its actions in the table `advert`. */
  advert: string;
  names: ActionNames;
  problem: string | null;
  /** As it says itself, and as an owner has accepted it. */
  group: string | null;
  acceptedGroup: string | undefined;
  changedAt: number;
  texts: KnownTexts;
  /** The gateway's version, the agent's run, and what its bridge knew at the last greeting. */
  greeted: string | null;
  /** Why its program does not fit this gateway. */
  incompatibleWith: string | undefined;
  newText: NewText | undefined;
};

/** What an agent was asked so far; times are epoch ms. */
export type AgentActivity = { last: number; calls: number; success: number; error: number; open: number };

export class Agents {
  readonly #sql: SqlStorage;
  readonly #bridge: Pick<BridgeSocket, "has" | "lastSeenAt" | "vouchedUntil">;
  readonly #keys: Pick<AgentKeys, "serves" | "standing">;
  readonly #env: Env;
  readonly #adverts: Adverts;
  /** Read once: this class alone writes the rows, and every step of every turn needs them. */
  #stored: Map<string, ListedAgent> | undefined;
  /** The same in the order of their ids; undefined: one came or went. */
  #ordered: ListedAgent[] | undefined;
  readonly #refused = new Set<string>();
  /** Rises with each change of what a roster says of an agent. It does not begin anew when the object is rebuilt. */
  version = Date.now();
  /** The words of this agent (line, type, actions) changed, or it came or went. */
  onChange: (id: string) => void = () => {};

  constructor(
    storage: DurableObjectStorage,
    bridge: Pick<BridgeSocket, "has" | "lastSeenAt" | "vouchedUntil">,
    keys: Pick<AgentKeys, "serves" | "standing">,
    env: Env,
  ) {
    this.#env = env;
    this.#sql = storage.sql;
    this.#bridge = bridge;
    this.#keys = keys;
    this.#adverts = new Adverts(storage.sql);
  }

  /**
   * Stores what counts of the bridge's word about an agent. Costs no row when nothing changed.
   * @param isLetIn an owner paired it, or named it: that accepts the first text by which it describes itself
   * @returns isNew: it came online with this, or anew; greets: it does not know this gateway's version yet
   */
  async update(verified: VerifiedState, isLetIn: boolean): Promise<{ isNew: boolean; greets: boolean }> {
    const { state, kept, texts, isNewRun } = verified;
    const isKnown = this.has(state.id);
    const capabilities = isKnown && kept.has("capabilities") ? undefined : readCapabilities(state);
    const tools = isKnown && kept.has("tools") ? undefined : readTools(state);
    const key = tools && (await this.#adverts.keyOf(tools.tools));
    // From here on nothing is awaited, so the rows stay what they are.
    const before = this.#get(state.id);
    const { line, type, version, features, group } = capabilities ?? before ?? readCapabilities(state);
    const { advert, names } =
      tools && key !== undefined ? this.#adverts.store(key, tools.tools) : (before ?? this.#adverts.none);
    const agent: ListedAgent = {
      id: state.id,
      online: state.online,
      reason: state.reason,
      // A bridge that was started anew has not seen it yet; the one before may have.
      lastSeen: state.last_seen ?? (before ? this.#lastSeenOf(before, this.#bridge.vouchedUntil()) : null),
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
      group,
      acceptedGroup: undefined,
      changedAt: Date.now(),
      texts,
      greeted: before?.greeted ?? null,
      incompatibleWith: undefined,
      newText: undefined,
    };
    const isNew = state.online && (before?.online !== true || isNewRun);
    const greeting = [VERSION, texts.run ?? "", ...gatewayFeatures(this.#bridge, this.#env)].join(" ");
    const isUnknown = agent.greeted !== greeting || (isNew && texts.run === undefined);
    const greets = state.online && features.includes("gateway") && isUnknown;
    if (greets) agent.greeted = greeting;
    const acceptedBefore = before ? this.#acceptedOf(state.id) : NOTHING_ACCEPTED;
    const accepted = isLetIn
      ? acceptFirst(textOf(agent), advertisedBy(agent), acceptedBefore)
      : acceptedBefore;
    if (!before || !isSame(before, agent) || JSON.stringify(accepted) !== JSON.stringify(acceptedBefore))
      this.#write(agent, accepted);
    return { isNew, greets };
  }

  #write(agent: ListedAgent, accepted: AcceptedText): void {
    const { hashes, saysOnline, run } = agent.texts;
    this.#sql.exec(
      `INSERT OR REPLACE INTO agent
         (id, online, reason, last_seen, is_foreign, line, type, version, features, advert, problem, changed_at, accepted,
          texts, greeted, share_group)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      agent.id,
      agent.online ? 1 : 0,
      agent.reason ?? null,
      agent.lastSeen,
      agent.foreign ? 1 : 0,
      agent.line,
      agent.type,
      agent.version,
      JSON.stringify(agent.features),
      agent.advert,
      agent.problem,
      agent.changedAt,
      JSON.stringify(accepted),
      JSON.stringify({ ...hashes, online: saysOnline, run, by: VERSION }),
      agent.greeted,
      agent.group,
    );
    this.#put(agent, accepted);
  }

  /** Puts an agent into memory in the place of the one before. */
  #put(agent: ListedAgent, accepted: AcceptedText): void {
    const all = this.#all();
    const before = all.get(agent.id);
    const advertBefore = before?.advert;
    const hasOtherWords =
      !before || advertBefore !== agent.advert || before.line !== agent.line || before.type !== agent.type;
    finish(agent, accepted);
    // The list in order holds the same objects.
    if (before) Object.assign(before, agent);
    else {
      all.set(agent.id, agent);
      this.#ordered = undefined;
    }
    if (advertBefore !== agent.advert) {
      this.#adverts.use(agent.advert);
      if (advertBefore !== undefined) this.#adverts.release(advertBefore);
    }
    this.version += 1;
    if (hasOtherWords) this.onChange(agent.id);
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
    this.#storeAccepted(id, accept(textOf(agent), this.#acceptedOf(id)));
    return "accepted";
  }

  /** The next text of an agent that is let in counts as its first. */
  forgetAccepted(id: string): void {
    this.#storeAccepted(id, NOTHING_ACCEPTED);
  }

  #storeAccepted(id: string, accepted: AcceptedText): void {
    const agent = this.#get(id);
    if (!agent) return;
    this.#sql.exec("UPDATE agent SET accepted = ? WHERE id = ?", JSON.stringify(accepted), id);
    this.#put(agent, accepted);
  }

  #acceptedOf(id: string): AcceptedText {
    const row = this.#sql
      .exec<{ accepted: string }>("SELECT accepted FROM agent WHERE id = ?", id)
      .toArray()[0];
    return row ? (JSON.parse(row.accepted) as AcceptedText) : NOTHING_ACCEPTED;
  }

  /** Its key changed, so nothing that was verified before counts: the next texts are verified and stored anew. */
  forgetTexts(id: string): void {
    const agent = this.#get(id);
    if (!agent) return;
    this.#sql.exec("UPDATE agent SET texts = '{}' WHERE id = ?", id);
    agent.texts = NO_TEXTS;
  }

  /** What is stored of an agent's texts. */
  textsOf(id: string): KnownTexts {
    return this.#get(id)?.texts ?? NO_TEXTS;
  }

  /** The hashes of all texts, so that the bridge sends only others. */
  storedTexts(): StoredTexts[] {
    return this.#inOrder().flatMap(({ id, texts: { hashes } }) =>
      Object.keys(hashes).length > 0 ? [{ id, ...hashes }] : [],
    );
  }

  /** The agents that a whole snapshot did not name are offline. They stay on record with their last seen. */
  setAbsentExcept(named: ReadonlySet<string>): void {
    for (const { id, online } of this.#all().values())
      if (online && !named.has(id)) this.setOffline(id, "the bridge does not know it");
  }

  /** The agent counts as offline until the bridge reports it anew. */
  setOffline(id: string, reason: string): void {
    const agent = this.#get(id);
    if (!agent || (!agent.online && agent.reason === reason)) return;
    const lastSeen = this.#lastSeenOf(agent, this.#bridge.vouchedUntil());
    this.#sql.exec(
      "UPDATE agent SET online = 0, reason = ?, last_seen = ? WHERE id = ?",
      reason,
      lastSeen,
      id,
    );
    Object.assign(agent, { online: false, reason, lastSeen });
    this.version += 1;
  }

  /** The bridge went at that moment, and vouched for its agents until then. One row for all that are online. */
  setLastSeen(time: number): void {
    this.#sql.exec("UPDATE bridge SET vouched_at = ?", time);
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
    const agent = this.#get(id);
    if (!agent) return;
    this.#sql.exec("DELETE FROM agent WHERE id = ?", id);
    this.#all().delete(id);
    this.#ordered = undefined;
    this.#adverts.release(agent.advert);
    this.version += 1;
    this.onChange(id);
  }

  /** True if there is room for an agent. Where there is none, its id is counted. */
  hasRoomFor(id: string): boolean {
    if (this.has(id) || this.#all().size < AGENTS_MAX) return true;
    if (this.#refused.size < REFUSED_MAX) this.#refused.add(id);
    return false;
  }

  /** How many agents there was no room for, at least. */
  get refused(): number {
    return this.#refused.size;
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
    const isNamed = typeof action === "string" && agent?.names.names.includes(action) === true;
    const tools = isNamed ? this.#adverts.tools(agent.advert) : [];
    return { advert: tools.find(({ name }) => name === action), foreign: agent?.foreign };
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
    const vouched = this.#vouched(now);
    const agents = ids.flatMap((id) => this.#get(id) ?? []);
    return agents.map((agent) => this.#rosterAgent(agent, vouched));
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
    const actions = this.#adverts.tools(agent.advert);
    return { id, line: agent.line, type: agent.type ?? undefined, actions };
  }

  isGroup(name: string): boolean {
    return this.#served().some(({ acceptedGroup }) => acceptedGroup === name);
  }

  /** In their order. */
  idsOfGroup(name: string): string[] {
    return this.#served().flatMap(({ id, acceptedGroup }) => (acceptedGroup === name ? [id] : []));
  }

  target(id: string, now: number): CallTarget | undefined {
    const agent = this.#get(id);
    return agent && this.#isServed(agent) ? this.#target(agent, this.#vouched(now)) : undefined;
  }

  /** Those of these ids that this home serves, in this order. */
  views(ids: readonly string[], activity: ReadonlyMap<string, AgentActivity>, now: number): AgentView[] {
    const vouched = this.#vouched(now);
    const served = ids.flatMap((id) => this.#get(id) ?? []).filter((agent) => this.#isServed(agent));
    return served.map((stored) => {
      const agent = this.#rosterAgent(stored, vouched);
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
        status: !agent.online ? "offline" : counts.open > 0 ? "running" : "idle",
        ...(agent.reason !== undefined && { reason: agent.reason }),
        last_seen: agent.lastSeen,
        last_active: last,
        type: stored.type,
        version: stored.version,
        capabilities: stored.line,
        ...(stored.group !== null && { group: stored.group }),
        foreign: stored.foreign,
        paired: this.#keys.standing(stored.id) === "signed",
        features: [...stored.features],
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
    return AGENT_COMMANDS.has(tool) || agent.names.names.includes(tool) ? "both" : "agent";
  }

  #isServed({ id, reason }: ListedAgent): boolean {
    return reason !== HIDDEN && this.#keys.serves(id);
  }

  #served(): ListedAgent[] {
    return this.#inOrder().filter((agent) => this.#isServed(agent));
  }

  #vouched(now: number): Vouched {
    const seenAt = this.#bridge.lastSeenAt(now);
    return { seenAt, until: seenAt ?? this.#bridge.vouchedUntil() };
  }

  #rosterAgent(agent: ListedAgent, { seenAt, until }: Vouched): RosterAgent {
    const { id, line, names, foreign, features, online, reason, newText, acceptedGroup } = agent;
    // The bridge receives the heartbeats. While it reports the agent online, its own sign of life is the agent's.
    const isOnline = online && seenAt !== null;
    return {
      id,
      line,
      actions: names.actions,
      queues: names.queues,
      hasModel: foreign || features.includes("prompt"),
      foreign,
      ...(acceptedGroup !== undefined && { group: acceptedGroup }),
      ...(newText && { newText: true }),
      online: isOnline,
      reason: isOnline ? undefined : seenAt === null ? "the bridge is not connected" : reason,
      lastSeen: isOnline ? seenAt : this.#lastSeenOf(agent, until),
    };
  }

  /** A bridge that has fallen silent vouched for the agent until then; the row is as old as the last change. */
  #lastSeenOf({ online, lastSeen }: ListedAgent, vouchedUntil: number | null): number | null {
    return online ? Math.max(lastSeen ?? 0, vouchedUntil ?? 0) || null : lastSeen;
  }

  #target(agent: ListedAgent, vouched: Vouched): CallTarget {
    return {
      ...this.#rosterAgent(agent, vouched),
      adverts: [...this.#adverts.tools(agent.advert)],
      asks: agent.features.includes("question"),
      incompatibleWith: agent.incompatibleWith,
    };
  }

  #inOrder(): ListedAgent[] {
    this.#ordered ??= [...this.#all().values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return this.#ordered;
  }

  #get(id: string): ListedAgent | undefined {
    return this.#all().get(id);
  }

  #all(): Map<string, ListedAgent> {
    if (this.#stored) return this.#stored;
    const stored = new Map<string, ListedAgent>();
    this.#adverts.load();
    for (const row of this.#sql.exec<AgentRow>("SELECT * FROM agent")) {
      this.#adverts.use(row.advert);
      stored.set(row.id, toListed(row, this.#adverts.namesOf(row.advert)));
    }
    this.#stored = stored;
    return stored;
  }
}

/** When the bridge was seen last (null: it is not connected), and until when it vouched for its agents. */
type Vouched = { seenAt: number | null; until: number | null };

function toListed(row: AgentRow, names: ActionNames): ListedAgent {
  const { by, online, run, ...hashes } = JSON.parse(row.texts) as Partial<Record<string, string>> & {
    online?: boolean;
  };
  const agent: ListedAgent = {
    id: row.id,
    online: row.online === 1,
    reason: row.reason ?? undefined,
    lastSeen: row.last_seen,
    foreign: row.is_foreign === 1,
    line: row.line,
    type: row.type,
    version: row.version,
    features: JSON.parse(row.features) as string[],
    advert: row.advert,
    names,
    problem: row.problem,
    group: row.share_group,
    acceptedGroup: undefined,
    changedAt: row.changed_at,
    // Another version may read the same text otherwise.
    texts: by === VERSION ? { hashes, saysOnline: online === true, run } : NO_TEXTS,
    greeted: row.greeted,
    incompatibleWith: undefined,
    newText: undefined,
  };
  return finish(agent, JSON.parse(row.accepted) as AcceptedText);
}

/** What of its adverts is stored in a form that can be read. */
function advertisedBy({ texts: { hashes }, problem }: ListedAgent): { line: boolean; actions: boolean } {
  return {
    line: hashes.capabilities !== undefined,
    actions: hashes.tools !== undefined && problem?.startsWith("tools:") !== true,
  };
}

/** What was wrong with a text that stays. */
function problemOf(agent: ListedAgent | undefined, kind: string): string | undefined {
  return agent?.problem?.startsWith(`${kind}:`) === true ? agent.problem : undefined;
}

/** Adds what follows from the rest. */
function finish(agent: ListedAgent, accepted: AcceptedText): ListedAgent {
  // A foreign agent has versions of its own.
  agent.incompatibleWith = agent.features.length > 0 ? versionProblem("agent", agent.version) : undefined;
  agent.newText = newText(textOf(agent), accepted);
  const { group } = agent;
  agent.acceptedGroup = group !== null && isAcceptedGroup(group, accepted) ? group : undefined;
  return agent;
}

/** True if a row would say nothing new. While an agent is online, the bridge's own sign of life is its last seen. */
function isSame(a: ListedAgent, b: ListedAgent): boolean {
  return (
    a.online === b.online &&
    a.reason === b.reason &&
    (b.online || a.lastSeen === b.lastSeen) &&
    a.foreign === b.foreign &&
    a.line === b.line &&
    a.type === b.type &&
    a.version === b.version &&
    a.features.join() === b.features.join() &&
    a.advert === b.advert &&
    a.problem === b.problem &&
    a.greeted === b.greeted &&
    a.group === b.group &&
    JSON.stringify(a.texts) === JSON.stringify(b.texts)
  );
}

function textOf({
  id,
  line,
  names,
  group,
}: Pick<ListedAgent, "id" | "line" | "names" | "group">): AdvertText {
  return { id, line, actions: names.names, group };
}
