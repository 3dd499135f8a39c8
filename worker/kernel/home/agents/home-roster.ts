/**
 * Tells models of a home's agents, own and lent ones: all of a small home, and of a large one those that fit a question. Holds the search index,
 * which is made of the rows when it is first needed and follows them from then on.
 */

import { AgentIndex, type AgentQuery, type FoundAgent } from "@edgecall/core/agents/agent-index.ts";
import { closestIds } from "@edgecall/core/agents/closest-ids.ts";
import { agentSource, firstUseSource, type Source } from "@edgecall/core/loop/taint.ts";
import { AUTOMATIONS_FEATURE } from "@edgecall/core/protocol/automation.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { HISTORY_FEATURE } from "@edgecall/core/protocol/past.ts";
import { isLent } from "../../api/agent-ids.ts";
import type { CallTarget } from "../../api/edge-call.ts";
import {
  type FindQuery,
  type FoundReadings,
  type FoundText,
  foundAgent,
  foundAgents,
  foundByReading,
  limitOf,
} from "../../api/find-agents.ts";
import {
  type HomeCounts,
  idWithName,
  LISTED_MAX,
  type Roster,
  type RosterAgent,
  type RosterQuestion,
} from "../../api/roster.ts";
import { readSearchWords } from "../../search-words.ts";
import type { BridgeSocket } from "../bridge/bridge-socket.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import { devicesByReading, readingsThere, readingsThereOf, unknownWords } from "../devices/by-reading.ts";
import type { DeviceStates, States } from "../devices/device-states.ts";
import { deviceStatesOf } from "../devices/device-states.ts";
import { type Condition, readCondition } from "../devices/reading-condition.ts";
import { listedReadings, readingText } from "../devices/reading-text.ts";
import { featuresOf, type OtherAgents } from "../feature.ts";
import { slot } from "../slot.ts";
import type { AgentKeys } from "./agent-keys.ts";
import { keysOf } from "./agent-keys.ts";
import { type AgentRows, agentRowsOf } from "./agent-rows.ts";
import { type ServedAgents, servedAgentsOf } from "./served-agents.ts";

/** Agents that are read into the index at a time, some 10 ms with 28 actions each; then others get their turn. */
const BATCH = 100;
/** Found for a question; the words of the system prompt have room for about as many. */
const FOUND_FOR_QUESTION = 8;
/** Characters of a device's readings: in a list, and where it stands alone. */
const READINGS_CHARS = { listed: 240, alone: 2_000 };
/** Receivers of changes that come with the time alone: a device that is silent for days is a ghost. */
const REACH_FRESH_MS = 3_600_000;

/** The agents in somebody's reach. `own`: without lent ones. `unread`: no owner has accepted all their words. */
type Reached = {
  ids: readonly string[];
  among: (id: string) => boolean;
  online: number;
  own: { known: number; online: number };
  unread: string[];
  /** Their words count by their first use alone. */
  byUse: string[];
};
type Counted = Pick<HomeCounts, "kinds" | "areas" | "kindsIn">;

export class HomeRoster {
  readonly #rows: Pick<AgentRows, "ids" | "inOrder" | "version">;
  readonly #agents: ServedAgents;
  readonly #keys: Pick<AgentKeys, "version">;
  readonly #bridge: Pick<BridgeSocket, "has" | "lastSeenAt">;
  readonly #borrowed: OtherAgents;
  readonly #states: Pick<DeviceStates, "ask">;
  readonly #readWords: () => Promise<void>;
  readonly #index = new AgentIndex();
  /** Agents that the index does not have as they are now; undefined: it has none yet. */
  #changed: Set<string> | undefined;
  /** Of all agents, with the version that they are of. */
  #served: { version: number; at: number; reached: Reached } | undefined;
  #counts: { version: number; counts: Counted } | undefined;

  constructor(
    rows: Pick<AgentRows, "ids" | "inOrder" | "version" | "onChange">,
    agents: ServedAgents,
    keys: Pick<AgentKeys, "version">,
    bridge: Pick<BridgeSocket, "has" | "lastSeenAt">,
    borrowed: OtherAgents,
    states: Pick<DeviceStates, "ask">,
    readWords: () => Promise<void>,
  ) {
    this.#borrowed = borrowed;
    this.#states = states;
    this.#readWords = readWords;
    borrowed.onChange = (id) => this.#changed?.add(id);
    this.#rows = rows;
    this.#agents = agents;
    this.#keys = keys;
    this.#bridge = bridge;
    rows.onChange = (id) => this.#changed?.add(id);
  }

  /** Differs as soon as an agent, or the bridge, comes, goes or describes itself otherwise. */
  version(now: number): number {
    return 2 * this.#version() + (this.#bridge.lastSeenAt(now) === null ? 0 : 1);
  }

  /** @param question absent: of a large home no agent is named */
  async forQuestion(question: RosterQuestion | undefined, now: number): Promise<Roster> {
    const bridgeOnline = this.#bridge.lastSeenAt(now) !== null;
    // While it is away a model asks all the same, and is told where the past is.
    const isBridges = bridgeOnline ? this.#bridge.has(HISTORY_FEATURE, now) : this.#agents.hasHosted();
    const keeps =
      isBridges || this.#rows.inOrder().some(({ features }) => features.includes(HISTORY_FEATURE));
    const acts = this.#bridge.has(AUTOMATIONS_FEATURE, now);
    const bridge = {
      bridgeOnline,
      ...(keeps && { history: true as const }),
      ...(acts && { acts: true as const }),
    };
    const reached = this.#reach(question?.reach);
    if (reached.ids.length <= LISTED_MAX) return { ...bridge, agents: this.#rosterOf(reached.ids, now) };
    await this.#ready();
    const excerptOf = this.#countsOf(reached, now);
    if (!question) return { ...bridge, agents: [], excerptOf };
    const used = question.used.filter(reached.among);
    const { among } = reached;
    const found = this.#index.search({
      text: question.text,
      used: new Set(used),
      among,
      limit: FOUND_FOR_QUESTION,
    });
    const fitting = new Map(found.map(({ id, actions }) => [id, actions]));
    const ids = [...new Set([...fitting.keys(), ...used])];
    const agents = this.#rosterOf(ids, now).map((agent) => actionsFirst(agent, fitting.get(agent.id)));
    return { ...bridge, agents, excerptOf };
  }

  /** All agents in somebody's reach. @param reach undefined: all of the home */
  reachable(reach: readonly string[] | undefined, now: number): RosterAgent[] {
    return this.#rosterOf(this.#reach(reach).ids, now);
  }

  /** The answer of find_agents. */
  async find(query: FindQuery, reach: readonly string[] | undefined, now: number): Promise<FoundText> {
    const reached = this.#reach(reach);
    const { among } = reached;
    if (query.reading !== undefined) {
      await this.#readWords();
      return await this.#findByReading(query, readCondition(query.reading), reached, now);
    }
    const isId = among(query.text);
    const found = isId
      ? [{ id: query.text, actions: [] }]
      : await this.search({ ...query, limit: limitOf(query), among });
    const [first] = found;
    const target = first && found.length === 1 ? this.target(first.id, now) : undefined;
    if (first && target) {
      const readings = await this.#readingsOf([target], true);
      return foundAgent(target, first.actions, readings, Date.now());
    }
    const fitting = new Map(found.map(({ id, actions }) => [id, actions]));
    const agents = this.#rosterOf([...fitting.keys()], now);
    const readings = await this.#readingsOf(agents, false);
    await this.#ready();
    return foundAgents(
      agents.map((agent) => this.#withParameters(actionsFirst(agent, fitting.get(agent.id)), now)),
      this.#countsOf(reached, now),
      Date.now(),
      { readings, there: this.#thereOf(query, among) },
    );
  }

  /** How many agents are there, or of that kind, where the query names an area or a kind. */
  #thereOf({ area, kind }: FindQuery, among: Reached["among"]): number | undefined {
    return area || kind ? this.#index.within({ area, kind, among }).length : undefined;
  }

  /** The bridge names the actions of hosted devices and their parameters, so a list may show both. */
  #withParameters(agent: RosterAgent, now: number): RosterAgent {
    const adverts = agent.hosted ? (this.target(agent.id, now)?.adverts ?? []) : [];
    if (adverts.length === 0) return agent;
    const named = new Map(adverts.map((advert) => [advert.name, withParameters(advert)]));
    return { ...agent, actions: agent.actions.map((name) => named.get(name) ?? name) };
  }

  /** The last reports of the hosted devices among them. @param all also what is diagnostic */
  async #readingsOf(agents: readonly RosterAgent[], all: boolean): Promise<FoundReadings | undefined> {
    const ids = agents.filter(({ hosted }) => hosted).map(({ id }) => id);
    if (ids.length === 0) return undefined;
    const states = await this.#states.ask(ids, all);
    if (!states) return "none";
    const now = Date.now();
    const max = all ? READINGS_CHARS.alone : READINGS_CHARS.listed;
    return new Map(ids.map((id) => [id, listedReadings(states.get(id)?.readings ?? [], now, max)] as const));
  }

  /** The hosted devices with a reading that fits. All of them are asked for: what they report stands in no index. */
  async #findByReading(
    query: FindQuery,
    condition: Condition,
    reached: Reached,
    now: number,
  ): Promise<FoundText> {
    await this.#ready();
    const ids = this.#index.within({ ...query, among: reached.among });
    const devices = this.#rosterOf(ids.sort(), now).filter(({ hosted }) => hosted);
    const none: States = new Map();
    const states = devices.length > 0 ? await this.#states.ask(undefined, true) : none;
    if (!states) return foundByReading(undefined, devices.length);
    const at = Date.now();
    const agents = new Map(devices.map((agent) => [agent.id, agent]));
    const asked = devices.map(({ id, line }) => ({ id, line, readings: states.get(id)?.readings ?? [] }));
    const found = devicesByReading(condition, asked, this.#index.isThere(query.text));
    const listed = found.flatMap(({ id, readings }) => {
      const agent = agents.get(id);
      return agent ? [{ agent, readings: readings.map((one) => readingText(one, at)) }] : [];
    });
    if (listed.length > 0) return foundByReading(listed, devices.length);
    const unknown = unknownWords(condition, asked);
    const there = unknown.length > 0 ? readingsThere(asked) : readingsThereOf(condition, asked);
    return foundByReading(listed, devices.length, { unknown, there });
  }

  /** Agents of this home by a person's words, the best first. */
  async search(query: AgentQuery): Promise<FoundAgent[]> {
    await this.#ready();
    return this.#index.search({ among: (id) => this.#isThere(id), ...query });
  }

  /** Ids with names beside those that do not say them. */
  withNames(ids: readonly string[]): string[] {
    const named = new Map(this.#rosterOf(ids, Date.now()).map((agent) => [agent.id, idWithName(agent)]));
    return ids.map((id) => named.get(id) ?? id);
  }

  /** Ids that may be meant by an unknown one. */
  closestIds(id: string): string[] {
    const { ids, among } = this.#reach(undefined);
    return this.#changed ? this.#index.closestIds(id, among) : closestIds(id, ids);
  }

  /** Counts the home's own agents, and those of them that are online. Lent ones are their lender's. */
  count(now: number): { known: number; online: number } {
    const { own } = this.#reach(undefined);
    return this.#bridge.lastSeenAt(now) === null ? { ...own, online: 0 } : own;
  }

  /** Ids of the agents that are online in a home of a few; undefined: there are many. */
  onlineIfFew(now: number): string[] | undefined {
    const { ids } = this.#reach(undefined);
    return ids.length > LISTED_MAX ? undefined : ids.filter((id) => this.#isOnline(id, now));
  }

  /** Agents whose words no owner has accepted. */
  unread(): Source[] {
    const { unread, byUse } = this.#reach(undefined);
    return [...unread.map(agentSource), ...byUse.map(firstUseSource)];
  }

  #version(): number {
    return this.#rows.version + this.#keys.version + this.#borrowed.version;
  }

  /** An agent with the schemas of its actions, own or lent. */
  target(id: string, now: number): CallTarget | undefined {
    return isLent(id) ? this.#borrowed.target(id, now) : this.#agents.target(id, now);
  }

  #rosterOf(ids: readonly string[], now: number): RosterAgent[] {
    if (!ids.some(isLent)) return this.#agents.rosterOf(ids, now);
    return ids.flatMap((id) =>
      isLent(id) ? (this.#borrowed.rosterAgent(id, now) ?? []) : this.#agents.rosterOf([id], now),
    );
  }

  #isThere(id: string): boolean {
    const now = Date.now();
    if (isLent(id)) return this.#borrowed.has(id, now);
    return this.#agents.has(id) && !this.#agents.isGhost(id, now);
  }

  #isOnline(id: string, now: number): boolean {
    return isLent(id) ? this.#borrowed.rosterAgent(id, now)?.online === true : this.#agents.isOnline(id, now);
  }

  #reach(reach: readonly string[] | undefined): Reached {
    if (reach) return this.#reachOf(reach.filter((id) => this.#isThere(id)).sort(), new Set(reach));
    const version = this.#version();
    const now = Date.now();
    if (this.#served?.version !== version || now - this.#served.at > REACH_FRESH_MS)
      this.#served = {
        version,
        at: now,
        reached: this.#reachOf([...this.#agents.offeredIds(now), ...this.#borrowed.ids(now)]),
      };
    return this.#served.reached;
  }

  #reachOf(ids: readonly string[], only?: ReadonlySet<string>): Reached {
    const among = (id: string) => (only?.has(id) ?? true) && this.#isThere(id);
    const { online, unread, byUse } = this.#agents.presenceOf(ids);
    const all = [...new Set(ids)];
    const lent = this.#rosterOf(all.filter(isLent), Date.now());
    return {
      ids: all,
      among,
      online: online + lent.filter((agent) => agent.online).length,
      own: { known: all.filter((id) => !isLent(id)).length, online },
      byUse,
      unread: [...unread, ...lent.flatMap(({ id, newText }) => (newText ? [id] : []))],
    };
  }

  /** The index has to be ready. */
  #countsOf(reached: Reached, now: number): HomeCounts {
    const isWhole = reached === this.#served?.reached;
    const version = this.#version();
    const known = isWhole && this.#counts?.version === version ? this.#counts.counts : undefined;
    const counts = known ?? this.#index.counts(reached.among);
    if (isWhole) this.#counts = { version, counts };
    const online = this.#bridge.lastSeenAt(now) === null ? 0 : reached.online;
    return { known: reached.ids.length, online, ...counts };
  }

  /** Brings the index up to the rows. */
  async #ready(): Promise<void> {
    await this.#readWords();
    this.#changed ??= new Set([...this.#rows.ids(), ...this.#borrowed.ids(Date.now())]);
    while (this.#changed.size > 0) {
      for (const id of [...this.#changed].slice(0, BATCH)) {
        this.#changed.delete(id);
        const agent = isLent(id) ? this.#borrowed.searchable(id, Date.now()) : this.#agents.searchable(id);
        if (agent) this.#index.set(agent);
        else this.#index.delete(id);
      }
      if (this.#changed.size > 0) await scheduler.wait(0);
    }
  }
}

/** @returns "set(on, brightness_pct)" */
function withParameters({ name, parameters }: ActionAdvert): string {
  const names = Object.keys(parameters.properties ?? {}).filter((one) => PARAMETER.test(one));
  return names.length > 0 ? `${name}(${names.join(", ")})` : name;
}
const PARAMETER = /^[a-z][a-z0-9_]{0,23}$/;

/** Those first that fit the words. */
function actionsFirst(agent: RosterAgent, first: readonly string[] = []): RosterAgent {
  return { ...agent, actions: [...new Set([...first, ...agent.actions])] };
}

const NONE: OtherAgents = {
  version: 0,
  onChange() {},
  ids: () => [],
  has: () => false,
  target: () => undefined,
  rosterAgent: () => undefined,
  searchable: () => undefined,
};

function othersOf(home: HomeContext): OtherAgents {
  return (
    featuresOf(home)
      .find(({ elsewhere }) => elsewhere)
      ?.elsewhere?.agents(home) ?? NONE
  );
}

export const rosterOf = slot(
  (home) =>
    new HomeRoster(
      agentRowsOf(home),
      servedAgentsOf(home),
      keysOf(home),
      bridgeOf(home),
      othersOf(home),
      deviceStatesOf(home),
      () => readSearchWords(home.env),
    ),
);
