/**
 * The rows of Home's agents, as the bridge reported them, and the roster that follows from them.
 *
 * Memory holds of each agent what lists need. What it advertises of its actions (12 KB of schemas) stays in the table `advert`,
 * once for all agents that advertise the same, and is parsed when an agent is called or shown in full.
 */

import type { IndexedAgent } from "@edgecall/core/agents/agent-index.ts";
import { firstProblem } from "@edgecall/core/conditions/conditions.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import type { HostedState } from "@edgecall/core/protocol/devices.ts";
import type { StoredTexts } from "@edgecall/core/protocol/frames.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { AGENTS_MAX, VERSION } from "@edgecall/core/protocol/names.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { isOwnTool } from "@edgecall/core/tools/own-names.ts";
import type { AgentView } from "../../api/answers.ts";
import { AGENT_COMMANDS, type CallTarget } from "../../api/edge-call.ts";
import type { RosterAgent } from "../../api/roster.ts";
import type { Env } from "../../env.ts";
import { SqlStore } from "../../sql-store.ts";
import type { BridgeSocket } from "../bridge/bridge-socket.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { areaOf, lineOf, nameOf } from "../devices/device-line.ts";
import { type DeviceChange, type DeviceSetting, DeviceSettings } from "../devices/device-settings.ts";
import { slot } from "../slot.ts";
import { type ActionNames, Adverts } from "./advert-store.ts";
import { type AcceptedText, accept, acceptFirst, type NewText, NOTHING_ACCEPTED } from "./advert-text.ts";
import { readCapabilities, readTools } from "./adverts.ts";
import { conditionsOf } from "./agent-conditions.ts";
import type { AgentKeys } from "./agent-keys.ts";
import { keysOf } from "./agent-keys.ts";
import { gatewayFeatures } from "./gateway-features.ts";
import {
  type AgentRow,
  AS_HOSTED,
  advertisedBy,
  finish,
  isSame,
  type ListedAgent,
  problemOf,
  textOf,
  toListed,
} from "./listed-agent.ts";
import { type KnownTexts, NO_TEXTS, type VerifiedState } from "./verify-presence.ts";

/** The reason in the row of an agent whose key was revoked and that was taken off the list. Nothing that the broker retains brings it back. */
const HIDDEN = "(removed)";
/** Ids of agents for which there was no room, so that each is counted once. */
const REFUSED_MAX = 1_000;
/** A hosted device that is silent for so long is not told of to a model any more. */
const GHOST_AFTER_MS = 7 * 86_400_000;

/** A device that the bridge hosts, with what people decided about it. */
export type HostedDevice = { id: string; hosted: HostedState; setting: DeviceSetting | undefined };

/** What an agent was asked so far; times are epoch ms. */
export type AgentActivity = { last: number; calls: number; success: number; error: number; open: number };

export class Agents extends SqlStore {
  readonly #bridge: Pick<BridgeSocket, "has" | "lastSeenAt" | "confirmedUntil">;
  readonly #keys: Pick<AgentKeys, "serves" | "standing">;
  readonly #env: Env;
  readonly #adverts: Adverts;
  readonly #settings: DeviceSettings;
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
    bridge: Pick<BridgeSocket, "has" | "lastSeenAt" | "confirmedUntil">,
    keys: Pick<AgentKeys, "serves" | "standing">,
    env: Env,
  ) {
    super(storage);
    this.#env = env;
    this.#bridge = bridge;
    this.#keys = keys;
    this.#adverts = new Adverts(storage);
    this.#settings = new DeviceSettings(storage);
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
    const isKnown = this.has(state.id);
    const capabilities = isKnown && kept.has("capabilities") ? undefined : readCapabilities(state);
    const tools = isKnown && kept.has("tools") ? undefined : readTools(state);
    const key = tools && (await this.#adverts.keyOf(tools.tools));
    // From here on nothing is awaited, so the rows stay what they are.
    const before = this.#get(state.id);
    const { hosted } = state;
    if (hosted) this.#settings.compare(hosted, Date.now());
    const read = capabilities ?? before ?? readCapabilities(state);
    const { line, version, type, features, group } = hosted ? { ...read, ...AS_HOSTED } : read;
    const own = capabilities?.conditions ?? before?.conditions.own ?? [];
    const { advert, names } =
      tools && key !== undefined ? this.#adverts.store(key, tools.tools) : (before ?? this.#adverts.none);
    const agent: ListedAgent = {
      id: state.id,
      online: state.online,
      reason: state.reason,
      // A bridge that was started anew has not seen it yet; the one before may have.
      lastSeen: state.last_seen ?? (before ? this.#lastSeenOf(before, this.#bridge.confirmedUntil()) : null),
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
    const acceptedBefore = isSameOne ? this.#acceptedOf(state.id) : NOTHING_ACCEPTED;
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
      this.#write(agent, accepted);
    return { isNew, greets };
  }

  #write(agent: ListedAgent, accepted: AcceptedText): void {
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
      before.hosted?.area !== agent.hosted?.area;
    finish(agent, accepted, this.#keys.standing(agent.id) === "signed");
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
    const { byUse: _, ...before } = this.#acceptedOf(id);
    this.#storeAccepted(id, accept(textOf(agent), before));
    return "accepted";
  }

  /** The next text of an agent that is let in counts as its first. */
  forgetAccepted(id: string): void {
    this.#storeAccepted(id, NOTHING_ACCEPTED);
  }

  #storeAccepted(id: string, accepted: AcceptedText): void {
    const agent = this.#get(id);
    if (!agent) return;
    this.sql.exec("UPDATE agent SET accepted = ? WHERE id = ?", JSON.stringify(accepted), id);
    this.#put(agent, accepted);
  }

  #acceptedOf(id: string): AcceptedText {
    const row = this.sql.first<{ accepted: string }>("SELECT accepted FROM agent WHERE id = ?", id);
    return row ? (JSON.parse(row.accepted) as AcceptedText) : NOTHING_ACCEPTED;
  }

  /** Its key changed, so nothing that was verified before counts: the next texts are verified and stored anew. */
  forgetTexts(id: string): void {
    const agent = this.#get(id);
    if (!agent) return;
    this.sql.exec("UPDATE agent SET texts = '{}' WHERE id = ?", id);
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
    const lastSeen = this.#lastSeenOf(agent, this.#bridge.confirmedUntil());
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
    return this.#get(id)?.reason === HIDDEN;
  }

  remove(id: string): void {
    const agent = this.#get(id);
    if (!agent) return;
    this.sql.exec("DELETE FROM agent WHERE id = ?", id);
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

  // Hosted devices

  /** The device that the bridge hosts under this id. An agent with a key comes before it, as does one whose key was revoked. */
  device(id: string): HostedDevice | undefined {
    const agent = this.#get(id);
    return agent && this.#deviceOf(agent);
  }

  /** In the order of their ids, also those that are switched off. */
  devices(): HostedDevice[] {
    return this.#inOrder().flatMap((agent) => this.#deviceOf(agent) ?? []);
  }

  /** Its state and its words, whether or not it is switched off. */
  deviceState(
    { id }: HostedDevice,
    now: number,
  ): { target: CallTarget; newText: NewText | undefined } | undefined {
    const agent = this.#get(id);
    return agent && { target: this.#target(agent, this.#confirmed(now)), newText: agent.newText };
  }

  /** @param by the person */
  changeDevice({ id, hosted }: HostedDevice, change: DeviceChange, by: string): void {
    this.#settings.change(hosted, change, by, Date.now());
    this.#deviceChanged(id);
  }

  /** People's decisions about it are gone, and the device too until the bridge tells of it again. */
  forgetDevice({ id, hosted }: HostedDevice): void {
    this.#settings.forget(hosted.key);
    this.remove(id);
  }

  /** Devices that were allowed up to 0.3 and ask again, with the time since when (epoch ms). */
  voided(): Array<{ device: HostedDevice; since: number }> {
    const voided = this.#settings.voided();
    return voided.size === 0
      ? []
      : this.devices().flatMap((device) => {
          const since = voided.get(device.hosted.key);
          return since === undefined ? [] : [{ device, since }];
        });
  }

  markVoidedNotified(): void {
    this.#settings.markVoidedNotified();
  }

  /** True for a hosted device of whose words nothing is a stranger's. What it reports is the bridge's word. */
  isPlainDevice(id: string): boolean {
    const agent = this.#get(id);
    const device = agent && this.#deviceOf(agent);
    if (!device || agent.newText) return false;
    // The bridge's words about it have its name.
    return agent.isLineAccepted || isLabel(device.hosted.name);
  }

  /** An agent with this id has a key from now on: what the bridge hosted under it is gone. */
  dropDevice(id: string): void {
    if (this.#get(id)?.hosted) this.remove(id);
  }

  /** True if nobody but Home's ledger knows which calls it was sent: it never gets again what it may have got once. */
  isForgetful(id: string): boolean {
    return this.isForeign(id) || this.device(id) !== undefined;
  }

  #deviceChanged(id: string): void {
    this.version += 1;
    this.onChange(id);
  }

  #deviceOf({ id, hosted }: ListedAgent): HostedDevice | undefined {
    if (!hosted || this.#keys.standing(id) !== "none") return undefined;
    return { id, hosted, setting: this.#settings.get(hosted.key) };
  }

  /** True for an action that changes a setting of a device, and that no person wants to be offered. */
  isHiddenSetting(id: string, action: string): boolean {
    const agent = this.#get(id);
    return agent !== undefined && this.#hiddenOf(agent).includes(action);
  }

  #hiddenOf(agent: ListedAgent): readonly string[] {
    const { settings = [] } = agent.names;
    return settings.length === 0 || this.#deviceOf(agent)?.setting?.offersSettings ? [] : settings;
  }

  /** Its actions that are offered. */
  #toolsOf(agent: ListedAgent): readonly ActionAdvert[] {
    const hidden = this.#hiddenOf(agent);
    const tools = this.#adverts.tools(agent.advert);
    return hidden.length === 0 ? tools : tools.filter(({ name }) => !hidden.includes(name));
  }

  #namesOf(agent: ListedAgent): ActionNames {
    const hidden = this.#hiddenOf(agent);
    if (hidden.length === 0) return agent.names;
    const { names, actions, queues } = agent.names;
    const isShown = (name: string) => !hidden.includes(name);
    return { names: names.filter(isShown), actions: actions.filter(isShown), queues: queues.filter(isShown) };
  }

  /** Names of the actions that change its settings, whether or not they are offered. */
  settingsOf(id: string): readonly string[] {
    return this.#get(id)?.names.settings ?? [];
  }

  #isOff(agent: ListedAgent): boolean {
    return this.#deviceOf(agent)?.setting?.mode === "off";
  }

  /** The line for models and lists. */
  #lineOf(agent: ListedAgent): string {
    const device = this.#deviceOf(agent);
    return device ? lineOf(agent, device.hosted, device.setting, agent.isLineAccepted) : agent.line;
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
  advertOf(
    id: string,
    action: unknown,
  ): { advert: ActionAdvert | undefined; foreign: boolean | undefined; isPlain: boolean } {
    const agent = this.#get(id);
    const isNamed = typeof action === "string" && agent?.names.names.includes(action) === true;
    const tools = isNamed ? this.#toolsOf(agent) : [];
    return {
      advert: tools.find(({ name }) => name === action),
      foreign: agent?.foreign,
      isPlain: this.isPlainDevice(id),
    };
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
    const confirmed = this.#confirmed(now);
    const agents = ids.flatMap((id) => this.#get(id) ?? []);
    return agents.map((agent) => this.#rosterAgent(agent, confirmed));
  }

  isServed(id: string): boolean {
    const agent = this.#get(id);
    return agent !== undefined && this.#isServed(agent);
  }

  /** In the order of the ids. */
  servedIds(): string[] {
    return this.#served().map(({ id }) => id);
  }

  /** Those of which a model is told: without devices that are gone for days, whose descriptions a broker keeps for ever. */
  offeredIds(now: number): string[] {
    return this.#served().flatMap((agent) => (this.#isGhost(agent, now) ? [] : [agent.id]));
  }

  isGhost(id: string, now: number): boolean {
    const agent = this.#get(id);
    return agent !== undefined && this.#isGhost(agent, now);
  }

  #isGhost({ online, hosted, lastSeen, changedAt }: ListedAgent, now: number): boolean {
    return hosted !== undefined && !online && (lastSeen ?? changedAt) < now - GHOST_AFTER_MS;
  }

  /** Of these agents, those that the bridge called online, those whose words nobody has accepted, and those whose words count by use. */
  presenceOf(ids: readonly string[]): { online: number; unread: string[]; byUse: string[] } {
    const agents = ids.flatMap((id) => this.#get(id) ?? []);
    const unread = agents.filter((agent) => agent.newText).map(({ id }) => id);
    const byUse = agents.filter((agent) => agent.isByUse && !agent.newText).map(({ id }) => id);
    return { online: agents.filter(({ online }) => online).length, unread, byUse };
  }

  /** True if all that it says of itself is accepted, by a person or by its first use. */
  isRead(id: string): boolean {
    const agent = this.#get(id);
    return agent !== undefined && !agent.newText;
  }

  /** The words about itself that no person has accepted: new ones, or those that count by their first use alone. */
  unreadOf(id: string): NewText | undefined {
    const agent = this.#get(id);
    if (!agent?.isByUse || agent.newText) return agent?.newText;
    return { line: agent.line, actions: agent.names.names.filter((name) => !isOwnTool(name)) };
  }

  /** The words by which it is found, whether or not this home serves it; undefined: there is no such agent. */
  searchable(id: string): IndexedAgent | undefined {
    const agent = this.#get(id);
    if (!agent) return undefined;
    const actions = this.#toolsOf(agent);
    const device = this.#deviceOf(agent);
    if (!device) return { id, line: agent.line, type: agent.type ?? undefined, actions };
    const area = areaOf(device.hosted, device.setting, agent.isLineAccepted);
    return { id, line: this.#lineOf(agent), area: area?.toLowerCase(), actions };
  }

  isGroup(name: string): boolean {
    return this.#served().some((agent) => this.#groupOf(agent) === name);
  }

  /** In their order. */
  idsOfGroup(name: string): string[] {
    return this.#served().flatMap((agent) => (this.#groupOf(agent) === name ? [agent.id] : []));
  }

  /** The group by whose name it can be called: not that of an agent, which was there first. */
  #groupOf({ acceptedGroup }: ListedAgent): string | undefined {
    return acceptedGroup !== undefined && this.isServed(acceptedGroup) ? undefined : acceptedGroup;
  }

  #groupProblem(agent: ListedAgent): string | null {
    const { acceptedGroup } = agent;
    if (acceptedGroup === undefined || this.#groupOf(agent) !== undefined) return null;
    return `group: '${acceptedGroup}' is the id of an agent here; another name would be right`;
  }

  target(id: string, now: number): CallTarget | undefined {
    const agent = this.#get(id);
    return agent && this.#isServed(agent) ? this.#target(agent, this.#confirmed(now)) : undefined;
  }

  /** Those of these ids that this home serves, in this order. */
  views(ids: readonly string[], activity: ReadonlyMap<string, AgentActivity>, now: number): AgentView[] {
    const confirmed = this.#confirmed(now);
    const served = ids.flatMap((id) => this.#get(id) ?? []).filter((agent) => this.#isServed(agent));
    return served.map((stored) => {
      const agent = this.#rosterAgent(stored, confirmed);
      const { last = null, ...counts } = activity.get(stored.id) ?? {
        calls: 0,
        success: 0,
        error: 0,
        open: 0,
      };
      const conditions = conditionsOf(
        { ...stored, problem: stored.problem ?? this.#groupProblem(stored) },
        agent,
      );
      const problem = firstProblem(conditions);
      return {
        id: stored.id,
        online: agent.online,
        status: !agent.online ? "offline" : counts.open > 0 ? "running" : "idle",
        ...(agent.reason !== undefined && { reason: agent.reason }),
        last_seen: agent.lastSeen,
        last_active: last,
        type: stored.type,
        version: stored.version,
        capabilities: agent.line,
        ...(stored.group !== null && { group: stored.group }),
        foreign: stored.foreign,
        ...(agent.hosted && { hosted: true as const }),
        paired: this.#keys.standing(stored.id) === "signed",
        features: [...stored.features],
        actions: agent.actions,
        ...(problem !== undefined && { problem }),
        ...(conditions.length > 0 && { conditions }),
        ...newTextView(stored, this.unreadOf(stored.id)),
        counts,
      };
    });
  }

  /** A condition of it that the bridge sees. */
  seenCondition(id: string, code: string): Condition | undefined {
    return this.#get(id)?.conditions.seen.find((seen) => seen.code === code);
  }

  /** Whether the names of a call are real: a model may have invented the agent, or the tool. */
  knows(id: string, tool: string): "both" | "agent" | "none" {
    const agent = this.#get(id);
    if (!agent || !(this.#deviceOf(agent) || this.#keys.serves(id))) return "none";
    return AGENT_COMMANDS.has(tool) || this.#namesOf(agent).names.includes(tool) ? "both" : "agent";
  }

  #isServed(agent: ListedAgent): boolean {
    if (this.#deviceOf(agent)) return !this.#isOff(agent);
    return agent.reason !== HIDDEN && this.#keys.serves(agent.id);
  }

  #served(): ListedAgent[] {
    return this.#inOrder().filter((agent) => this.#isServed(agent));
  }

  #confirmed(now: number): Confirmed {
    const seenAt = this.#bridge.lastSeenAt(now);
    return { seenAt, until: seenAt ?? this.#bridge.confirmedUntil() };
  }

  #rosterAgent(agent: ListedAgent, { seenAt, until }: Confirmed): RosterAgent {
    const { id, foreign, features, online, reason, newText } = agent;
    const names = this.#namesOf(agent);
    const group = this.#groupOf(agent);
    // The bridge receives the heartbeats. While it reports the agent online, its own sign of life is the agent's.
    const isOnline = online && seenAt !== null;
    const device = this.#deviceOf(agent);
    const isHosted = device !== undefined;
    const name = device && nameOf(id, device.hosted, device.setting, agent.isLineAccepted);
    return {
      id,
      ...(name !== undefined && { name }),
      line: this.#lineOf(agent),
      actions: names.actions,
      // A device would do it whenever it comes back, and nobody would know of it.
      queues: isHosted ? [] : names.queues,
      ...(isHosted && { hosted: true as const }),
      hasModel: foreign || features.includes("prompt"),
      foreign,
      ...(group !== undefined && { group }),
      ...(newText ? { newText: true } : agent.isByUse && { firstUse: true }),
      online: isOnline,
      reason: isOnline ? undefined : seenAt === null ? "the bridge is not connected" : reason,
      lastSeen: isOnline ? seenAt : this.#lastSeenOf(agent, until),
    };
  }

  /** A bridge that has fallen silent confirmed for the agent until then; the row is as old as the last change. */
  #lastSeenOf({ online, lastSeen }: ListedAgent, confirmedUntil: number | null): number | null {
    return online ? Math.max(lastSeen ?? 0, confirmedUntil ?? 0) || null : lastSeen;
  }

  #target(agent: ListedAgent, confirmed: Confirmed): CallTarget {
    return {
      ...this.#rosterAgent(agent, confirmed),
      adverts: [...this.#toolsOf(agent)],
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
    for (const row of this.sql.exec<AgentRow>("SELECT * FROM agent")) {
      this.#adverts.use(row.advert);
      stored.set(
        row.id,
        toListed(row, this.#adverts.namesOf(row.advert), this.#keys.standing(row.id) === "signed"),
      );
    }
    this.#stored = stored;
    return stored;
  }
}

/** When the bridge was seen last (null: it is not connected), and until when it confirmed for its agents. */
type Confirmed = { seenAt: number | null; until: number | null };

function newTextView({ newText }: ListedAgent, unread: NewText | undefined): Pick<AgentView, "new_text"> {
  return unread ? { new_text: { ...unread, ...(!newText && { by_use: true as const }) } } : {};
}

export const agentsOf = slot((home) => new Agents(home.ctx.storage, bridgeOf(home), keysOf(home), home.env));
