/**
 * The rows of Home's agents, as the bridge reported them.
 *
 * Memory holds of each agent what lists need. What it advertises of its actions (12 KB of schemas) stays in the table `advert`,
 * once for all agents that advertise the same, and is parsed when an agent is called or shown in full.
 */

import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import type { StoredTexts } from "@edgecall/core/protocol/home-frames.ts";
import { AGENTS_MAX, VERSION } from "@edgecall/core/protocol/names.ts";
import { isOwnTool } from "@edgecall/core/tools/own-names.ts";
import { SqlStore } from "../../sql-store.ts";
import { type BridgeSocket, bridgeOf } from "../bridge/bridge-socket.ts";
import { slot } from "../slot.ts";
import { Adverts } from "./advert-store.ts";
import { type AcceptedText, accept, type NewText, NOTHING_ACCEPTED } from "./advert-text.ts";
import { type AgentKeys, keysOf } from "./agent-keys.ts";
import { type AgentRow, finish, type ListedAgent, lastSeenOf, textOf, toListed } from "./listed-agent.ts";
import { type KnownTexts, NO_TEXTS } from "./verify-presence.ts";

/** The reason in the row of an agent whose key was revoked and that was taken off the list. Nothing that the broker retains brings it back. */
export const HIDDEN = "(removed)";
/** Ids of agents for which there was no room, so that each is counted once. */
const REFUSED_MAX = 1_000;

export class AgentRows extends SqlStore {
  readonly #bridge: Pick<BridgeSocket, "confirmedUntil">;
  readonly #keys: Pick<AgentKeys, "standing">;
  readonly adverts: Adverts;
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
    bridge: Pick<BridgeSocket, "confirmedUntil">,
    keys: Pick<AgentKeys, "standing">,
  ) {
    super(storage);
    this.#bridge = bridge;
    this.#keys = keys;
    this.adverts = new Adverts(storage);
  }

  get(id: string): ListedAgent | undefined {
    return this.#all().get(id);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** All ids, whether or not this home serves the agent. */
  ids(): string[] {
    return this.inOrder().map(({ id }) => id);
  }

  /** All agents in the order of their ids. */
  inOrder(): ListedAgent[] {
    this.#ordered ??= [...this.#all().values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return this.#ordered;
  }

  features(id: string): readonly string[] {
    return this.get(id)?.features ?? [];
  }

  /** True if the agent can ask a person, by its advert. */
  canAsk(id: string): boolean {
    return this.features(id).includes("question");
  }

  /** True if the agent is not edgecall's: it has no ledger and advertises no features. */
  isForeign(id: string): boolean {
    return this.features(id).length === 0;
  }

  /** A condition of it that the bridge sees. */
  seenCondition(id: string, code: string): Condition | undefined {
    return this.get(id)?.conditions.seen.find((seen) => seen.code === code);
  }

  // What the bridge reports

  /** Stores an agent in the place of the one before. */
  write(agent: ListedAgent, accepted: AcceptedText): void {
    const { hashes, saysOnline, run, rules } = agent.texts;
    this.sql.insert("OR REPLACE INTO agent", {
      id: agent.id,
      online: agent.online ? 1 : 0,
      reason: agent.reason ?? null,
      last_seen: agent.lastSeen,
      is_foreign: agent.foreign ? 1 : 0,
      line: agent.line,
      type: agent.type,
      version: agent.version,
      features: JSON.stringify(agent.features),
      advert: agent.advert,
      problem: agent.problem,
      changed_at: agent.changedAt,
      accepted: JSON.stringify(accepted),
      texts: JSON.stringify({ ...hashes, online: saysOnline, run, rules, by: VERSION }),
      greeted: agent.greeted,
      share_group: agent.group,
      hosted: agent.hosted ? JSON.stringify(agent.hosted) : null,
      conditions: JSON.stringify(agent.conditions),
    });
    this.#put(agent, accepted);
  }

  /** Puts an agent into memory in the place of the one before. */
  #put(agent: ListedAgent, accepted: AcceptedText): void {
    const all = this.#all();
    const before = all.get(agent.id);
    const advertBefore = before?.advert;
    const hasOtherWords =
      !before ||
      advertBefore !== agent.advert ||
      before.line !== agent.line ||
      before.type !== agent.type ||
      before.hosted?.name !== agent.hosted?.name ||
      before.hosted?.area !== agent.hosted?.area ||
      before.hosted?.floor !== agent.hosted?.floor ||
      String(before.hosted?.aliases) !== String(agent.hosted?.aliases);
    finish(agent, accepted, this.#keys.standing(agent.id) === "signed");
    // The list in order holds the same objects.
    if (before) Object.assign(before, agent);
    else {
      all.set(agent.id, agent);
      this.#ordered = undefined;
    }
    if (advertBefore !== agent.advert) {
      this.adverts.use(agent.advert);
      if (advertBefore !== undefined) this.adverts.release(advertBefore);
    }
    this.version += 1;
    if (hasOtherWords) this.onChange(agent.id);
  }

  /** What people decided about the device of this id changes its words. */
  decided(id: string): void {
    this.version += 1;
    this.onChange(id);
  }

  /** The agents that a whole snapshot did not name are offline. They stay on record with their last seen. */
  setAbsentExcept(named: ReadonlySet<string>): void {
    for (const { id, online } of this.#all().values())
      if (online && !named.has(id)) this.setOffline(id, "the bridge does not know it");
  }

  /** The agent counts as offline until the bridge reports it anew. */
  setOffline(id: string, reason: string): void {
    const agent = this.get(id);
    if (!agent || (!agent.online && agent.reason === reason)) return;
    const lastSeen = lastSeenOf(agent, this.#bridge.confirmedUntil());
    this.sql.exec`UPDATE agent SET online = 0, reason = ${reason}, last_seen = ${lastSeen} WHERE id = ${id}`;
    Object.assign(agent, { online: false, reason, lastSeen });
    this.version += 1;
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
    return this.get(id)?.reason === HIDDEN;
  }

  remove(id: string): void {
    const agent = this.get(id);
    if (!agent) return;
    this.sql.exec("DELETE FROM agent WHERE id = ?", id);
    this.#all().delete(id);
    this.#ordered = undefined;
    this.adverts.release(agent.advert);
    this.version += 1;
    this.onChange(id);
  }

  /** True if there is room for an agent. Where there is none, its id is counted. */
  hasRoomFor(id: string): boolean {
    if (this.has(id) || this.#all().size < AGENTS_MAX) return true;
    if (this.#refused.size < REFUSED_MAX) this.#refused.add(id);
    return false;
  }

  /** The number of agents that had no room, at least. */
  get refused(): number {
    return this.#refused.size;
  }

  // The texts of agents, and what people accepted of them

  /** Returns what is stored of an agent's texts. */
  textsOf(id: string): KnownTexts {
    return this.get(id)?.texts ?? NO_TEXTS;
  }

  /** The hashes of all texts, so that the bridge sends only others. */
  storedTexts(): StoredTexts[] {
    return this.inOrder().flatMap(({ id, texts: { hashes } }) =>
      Object.keys(hashes).length > 0 ? [{ id, ...hashes }] : [],
    );
  }

  /** Its key changed, so nothing that was verified before counts: the next texts are verified and stored anew. */
  forgetTexts(id: string): void {
    const agent = this.get(id);
    if (!agent) return;
    this.sql.exec("UPDATE agent SET texts = '{}' WHERE id = ?", id);
    agent.texts = NO_TEXTS;
  }

  acceptedOf(id: string): AcceptedText {
    const row = this.sql.first<{ accepted: string }>("SELECT accepted FROM agent WHERE id = ?", id);
    return row ? (JSON.parse(row.accepted) as AcceptedText) : NOTHING_ACCEPTED;
  }

  /**
   * An owner accepts the words by which an agent describes itself.
   * @param line as the owner read it; undefined: whatever it is
   * @returns "changed": it describes itself otherwise by now
   */
  acceptText(id: string, line: string | undefined): "accepted" | "changed" | "unknown" {
    const agent = this.get(id);
    if (!agent) return "unknown";
    if (line !== undefined && line !== agent.line) return "changed";
    const { byUse: _, ...before } = this.acceptedOf(id);
    this.#storeAccepted(id, accept(textOf(agent), before));
    return "accepted";
  }

  /** The next text of an agent that is let in counts as its first. */
  forgetAccepted(id: string): void {
    this.#storeAccepted(id, NOTHING_ACCEPTED);
  }

  #storeAccepted(id: string, accepted: AcceptedText): void {
    const agent = this.get(id);
    if (!agent) return;
    this.sql.exec("UPDATE agent SET accepted = ? WHERE id = ?", JSON.stringify(accepted), id);
    this.#put(agent, accepted);
  }

  /** True if all that it says of itself is accepted, by a person or by its first use. */
  isRead(id: string): boolean {
    const agent = this.get(id);
    return agent !== undefined && !agent.newText;
  }

  /** The words about itself that no person has accepted: new ones, or those that count by their first use alone. */
  unreadOf(id: string): NewText | undefined {
    const agent = this.get(id);
    if (!agent?.isByUse || agent.newText) return agent?.newText;
    return { line: agent.line, actions: agent.names.names.filter((name) => !isOwnTool(name)) };
  }

  #all(): Map<string, ListedAgent> {
    if (this.#stored) return this.#stored;
    const stored = new Map<string, ListedAgent>();
    this.adverts.load();
    for (const row of this.sql.exec<AgentRow>("SELECT * FROM agent")) {
      this.adverts.use(row.advert);
      const isSigned = this.#keys.standing(row.id) === "signed";
      stored.set(row.id, toListed(row, this.adverts.namesOf(row.advert), isSigned));
    }
    this.#stored = stored;
    return stored;
  }
}

export const agentRowsOf = slot((home) => new AgentRows(home.ctx.storage, bridgeOf(home), keysOf(home)));
