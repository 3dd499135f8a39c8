/**
 * The roster: which agents exist and which are online, from what they publish and from their silence.
 *
 * Nothing here waits or publishes. Time comes from the clock, and `changes()` returns what Home has to be told.
 * Online means:
 *
 *   our agents       presence says "online", and the last sign of life is younger than HEARTBEAT_LOST_MS
 *   foreign agents   a live heartbeat or report, not silent for HEARTBEAT_LOST_MS since, and not deaf
 *
 * A retained message may be old, so it is never a sign of life.
 */

import { conditionOf } from "@edgecall/core/conditions/conditions.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { counterTime } from "@edgecall/core/protocol/counter.ts";
import { type AgentState, BROKER_UNREACHABLE, type TextKind } from "@edgecall/core/protocol/frames.ts";
import type { Capabilities, Presence } from "@edgecall/core/protocol/mqtt.ts";
import { AGENTS_MAX, HEARTBEAT_LOST_MS } from "@edgecall/core/protocol/names.ts";
import type { Truths } from "@edgecall/core/protocol/rules.ts";
import { stampOf } from "@edgecall/core/protocol/signing.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Clock } from "@edgecall/node/clock.ts";

/** A retained "online" counts this long. One heartbeat (30 s) has to follow, with room for a slow Pi. */
export const RETAINED_ONLINE_MS = 40_000;
/** A broker that is back this soon was merely restarted, and Home is not told. */
export const BROKER_GRACE_MS = 3_000;
/** Of agents that the home does not serve, only this many ids are stored: a person may want to pair one of them. */
export const STRANGERS_MAX = 32;
/** Bytes of all adverts of agents without a key or a name in the home's settings: of 5,000 Pis with 28 tools each. */
export const UNNAMED_MAX_BYTES = 64 * 1024 * 1024;
/** Ids of agents without room, so that each is counted once. */
const REFUSED_MAX = 1_000;

const NOT_SERVED = "it has no key, and the home's settings do not name it";

/** An agent's standing with the home. Agents with a key or a name in the settings (`named`) have room first. */
export type Standing = "named" | "any" | "stranger";

/** Each change of `last_seen` costs Home a row, so it is not sent at every heartbeat. */
const LAST_SEEN_EVERY_MS = 120_000;

const REASON_MAX = 200;

/** When the agent was last heard. `retained`: only by a retained "online". `until`: monotonic ms. */
type Life = { kind: "never" } | { kind: "retained" | "heard"; until: number };

type Known = {
  id: string;
  capabilities: string | undefined;
  tools: string | undefined;
  presence: string | undefined;
  /** One of our own agents: its advert has `features`, or it has no advert yet but a presence topic. */
  own: boolean;
  /** The `boot_id` of the run that was last online. */
  run: string | undefined;
  /** A signed report, as published, that shows that the agent is online where its presence topic does not. */
  alive: string | undefined;
  /** Its presence topic's content since the broker was last connected. */
  state: Presence | undefined;
  /** After a short break the earlier state stands until then (monotonic ms). */
  confirmBy: number | undefined;
  life: Life;
  /** Epoch ms. */
  lastSeen: number | null;
  /** A live message came, so the agent is listed even without an advert. */
  isHeard: boolean;
  /** Its presence is signed, so the agent is listed even if somebody else has overwritten its advert. */
  isPresenceSigned: boolean;
  /** The home does not serve it: only its id is stored. */
  isStranger: boolean;
  /** It took its advert back. Only a new advert brings it back. */
  isWithdrawn: boolean;
  /** A foreign agent works on a call until then (monotonic ms), and may be silent. */
  busyUntil: number | undefined;
  /** The reason why it counts as deaf: alive, but it takes no commands. */
  deaf: string | undefined;
  /** The reason once a heartbeat came after it was found to be deaf. */
  deafBeating: string | undefined;
  /** Its messages are signed, but too old to count. */
  oldNumbers: Condition | undefined;
};

type Broker = { kind: "never" } | { kind: "up"; again: boolean } | { kind: "lost"; at: number };

/** An agent as the roster judges it now. */
export type Judgement = { online: boolean; reason: string | undefined; foreign: boolean };

export type RosterChange = { kind: "agent"; agent: AgentState } | { kind: "gone"; id: string };

export class Roster {
  readonly #clock: Clock;
  readonly #agents = new Map<string, Known>();
  /** The last state that Home was sent, by id. A new run is a change even when the end of the one before was not seen. */
  readonly #sent = new Map<string, { state: AgentState; run: string | undefined }>();
  #broker: Broker = { kind: "never" };
  /** Until Home has said whom it serves, it may serve any agent. */
  #standing: (id: string) => Standing = () => "any";
  /** Something that may be wanted later was not stored. The broker still has it. */
  #isIncomplete = false;
  /** Agents that may have changed since `changes` was called. */
  readonly #touched = new Set<string>();
  /** Agents that there was no room for. */
  readonly #refused = new Set<string>();
  #strangers = 0;
  /** Bytes of the adverts of all agents that are not named. */
  #unnamedBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many agents there was no room for, at least. Agents that the home does not serve are not counted. */
  get over(): number {
    return this.#refused.size;
  }

  /** The broker is connected. Its retained topics follow, and with them who is online. */
  brokerConnected(): void {
    const now = this.#clock.now();
    const brief = this.#broker.kind === "lost" && now - this.#broker.at < BROKER_GRACE_MS;
    this.#broker = { kind: "up", again: this.#broker.kind !== "never" };
    for (const agent of this.#agents.values()) {
      if (brief) {
        if (agent.state !== undefined) agent.confirmBy = now + BROKER_GRACE_MS;
      } else {
        agent.state = undefined;
        agent.alive = undefined;
        agent.life = { kind: "never" };
        agent.busyUntil = undefined;
      }
    }
  }

  brokerLost(): void {
    if (this.#broker.kind !== "lost") this.#broker = { kind: "lost", at: this.#clock.now() };
  }

  /** Home has said whom it serves. What is stored of other agents is deleted. */
  serve(standing: (id: string) => Standing): void {
    this.#standing = standing;
    for (const agent of this.#agents.values()) {
      const isStranger = standing(agent.id) === "stranger";
      if (isStranger === agent.isStranger) continue;
      this.#delete(agent);
      if (isStranger && isListed(agent)) this.#addOrGet(agent.id);
    }
    this.#unnamedBytes = 0;
    for (const agent of this.#agents.values())
      if (standing(agent.id) === "any") this.#unnamedBytes += bytesOf(agent);
    for (const id of this.#refused) if (standing(id) === "stranger") this.#refused.delete(id);
  }

  /** True if one of these agents' adverts may not have been stored: the broker has to send its retained texts again. */
  isMissingAny(ids: Iterable<string>): boolean {
    if (!this.#isIncomplete) return false;
    const isMissing = [...ids].some((id) => this.#agents.get(id)?.capabilities === undefined);
    if (isMissing) this.#isIncomplete = false;
    return isMissing;
  }

  /** True if a text of each of these kinds has come. */
  holds(id: string, kinds: readonly TextKind[]): boolean {
    const agent = this.#agents.get(id);
    // The content of the presence topic may be from before the broker was connected.
    const holds = (kind: TextKind) => agent?.[kind] !== undefined && (kind !== "presence" || agent.state);
    return kinds.every(holds);
  }

  /** @param raw as published @returns false when there are too many agents already, or too much of their text */
  advertised(id: string, raw: string, advert: Capabilities, live: boolean): boolean {
    const agent = this.#addOrGet(id);
    if (agent === undefined || !this.#fits(agent, "capabilities", raw)) return false;
    if (agent.isStranger) return true;
    this.#setText(agent, "capabilities", raw);
    agent.own = advert.features !== undefined;
    agent.isWithdrawn = false;
    // EvoClaw's agent advertises right after it has subscribed, so a fresh advert shows that it hears.
    if (live) agent.deaf = undefined;
    return true;
  }

  /** The agent took its advert back. Later heartbeats do not bring it back; a new advert does. */
  withdrawn(id: string): void {
    const agent = this.#get(id);
    if (agent === undefined) return;
    this.#setText(agent, "capabilities", undefined);
    this.#setText(agent, "tools", undefined);
    agent.isWithdrawn = true;
  }

  /** @returns false when there is no room for it */
  toolsAdvertised(id: string, raw: string | undefined): boolean {
    const agent = this.#addOrGet(id);
    if (agent === undefined || !this.#fits(agent, "tools", raw ?? "")) return false;
    if (!agent.isStranger) this.#setText(agent, "tools", raw);
    return true;
  }

  /** The agent signed the content of its presence topic. */
  presenceSigned(id: string): void {
    const agent = this.#addOrGet(id);
    if (agent !== undefined) agent.isPresenceSigned = true;
  }

  /** Drops what no longer counts of an agent. The agent has to publish it again. */
  verify(id: string, counts: (kind: "capabilities" | "tools" | "presence", raw: string) => boolean): void {
    const agent = this.#get(id);
    if (agent === undefined) return;
    // Only our own agents have keys.
    agent.own = true;
    for (const kind of ["capabilities", "tools"] as const) {
      const text = agent[kind];
      if (text !== undefined && !counts(kind, text)) this.#setText(agent, kind, undefined);
    }
    agent.isPresenceSigned = agent.presence !== undefined && counts("presence", agent.presence);
    agent.alive = undefined;
    if (agent.isPresenceSigned) return;
    agent.presence = undefined;
    agent.state = undefined;
    agent.life = { kind: "never" };
  }

  /** A message on the agent's presence topic: birth, goodbye or last will. */
  onPresence(id: string, raw: string, presence: Presence, live: boolean): void {
    const agent = this.#addOrGet(id);
    if (agent === undefined || agent.isStranger) return;
    if (presence.state === "offline" && live && isStaleWill(presence, agent)) return;
    agent.presence = raw;
    agent.alive = undefined;
    if (presence.state === "online") agent.run = presence.boot_id;
    if (agent.capabilities === undefined) agent.own = true;
    agent.state = presence;
    agent.confirmBy = undefined;
    if (presence.state === "offline") return;
    if (live) this.#alive(agent);
    else agent.life = { kind: "retained", until: this.#clock.now() + RETAINED_ONLINE_MS };
  }

  /** The presence topic was cleared, so nothing shows that the agent is online. */
  presenceCleared(id: string): void {
    const agent = this.#get(id);
    if (agent === undefined) return;
    agent.presence = undefined;
    agent.state = undefined;
  }

  /** What its key signs now has numbers from before. Of an agent that is online, that is an old recording. */
  numbersAreOld(id: string, { run, newest }: { run: string; newest: number }): void {
    const agent = this.#addOrGet(id);
    if (agent === undefined || agent.isStranger || this.#judge(agent).online) return;
    const time = counterTime(newest);
    const until = time > this.#clock.wall() ? `${new Date(time).toISOString().slice(0, 16)}Z` : undefined;
    agent.isHeard = true;
    agent.oldNumbers = conditionOf("old_numbers", { run, until });
  }

  /** True if only its numbers keep it from being online. */
  hasOldNumbers(id: string): boolean {
    return this.#agents.get(id)?.oldNumbers !== undefined;
  }

  heartbeat(id: string): void {
    const agent = this.#addOrGet(id);
    if (agent === undefined) return;
    // An offline notice followed by a heartbeat was an older connection's will: the agent's own messages keep their
    // order, and it sends none after its goodbye.
    if (agent.state?.state === "offline") agent.state = { ...agent.state, state: "online" };
    if (agent.deaf !== undefined) agent.deaf = agent.deafBeating;
    this.#alive(agent);
  }

  /**
   * Takes a report that the agent signed after all known messages on its presence topic: the agent is online, whatever that
   * topic says.
   * @returns true if only this report shows that the agent is online
   */
  reportSigned(id: string, raw: string, run: string): boolean {
    const agent = this.#addOrGet(id);
    if (agent === undefined || (agent.state?.state === "online" && agent.run === run)) return false;
    agent.own = true;
    agent.isPresenceSigned = true;
    agent.alive = raw;
    agent.run = run;
    agent.state = { state: "online", boot_id: run };
    this.#alive(agent);
    return true;
  }

  /** An answer to a command came: the agent is alive and hears. */
  answered(id: string): void {
    const agent = this.#addOrGet(id);
    if (agent === undefined) return;
    agent.deaf = undefined;
    this.#alive(agent);
  }

  /** Any other live message came (an event, a status). */
  onMessage(id: string): void {
    const agent = this.#addOrGet(id);
    if (agent !== undefined) this.#alive(agent);
  }

  /** A foreign agent works on a call. @param until monotonic ms; undefined: the call is over */
  busy(id: string, until: number | undefined): void {
    const agent = this.#get(id);
    if (agent !== undefined) agent.busyUntil = until;
  }

  /** The agent takes no commands. @param beating the reason once a heartbeat comes all the same */
  deaf(id: string, why: string, beating = why): void {
    const agent = this.#get(id);
    if (agent === undefined) return;
    agent.deaf = why;
    agent.deafBeating = beating;
    agent.busyUntil = undefined;
  }

  /** True if the agent is alive but deaf, and so worth a probe. */
  isDeafButAlive(id: string): boolean {
    const agent = this.#agents.get(id);
    if (agent?.deaf === undefined || this.#broker.kind !== "up") return false;
    return agent.life.kind === "heard" && this.#clock.now() < agent.life.until;
  }

  /** Foreign agents with an advert that were not heard yet. They may be online, and send a heartbeat within half a minute. */
  silentForeign(): string[] {
    return [...this.#agents.values()]
      .filter(({ own, life, capabilities }) => !own && life.kind === "never" && capabilities !== undefined)
      .map(({ id }) => id);
  }

  /** @returns undefined for an unknown agent */
  judge(id: string): Judgement | undefined {
    const agent = this.#agents.get(id);
    return agent === undefined || !isListed(agent) ? undefined : this.#judge(agent);
  }

  /** What the agent signed in its presence; truths only while it is online. */
  said(id: string): { n: number; truths: Truths | undefined } | undefined {
    const agent = this.#agents.get(id);
    if (!agent?.isPresenceSigned || agent.presence === undefined) return undefined;
    const stamp = stampOf(agent.presence);
    if (!stamp.ok) return undefined;
    return { n: stamp.value.n, truths: this.#judge(agent).online ? agent.state?.truths : undefined };
  }

  /** True if an agent has this id that the home serves, or may serve. */
  isServed(id: string): boolean {
    const agent = this.#agents.get(id);
    return agent !== undefined && !agent.isStranger && isListed(agent);
  }

  /** True if the agent knows only EvoClaw's messages, or is unknown. */
  isForeign(id: string): boolean {
    return this.#agents.get(id)?.own !== true;
  }

  /** All agents for a snapshot. From here on `changes` returns the difference to it. */
  snapshot(): AgentState[] {
    this.#sent.clear();
    const listed = [...this.#agents.values()].filter(isListed);
    for (const agent of listed) this.#sent.set(agent.id, { state: this.#state(agent), run: agent.run });
    return [...this.#sent.values()].map(({ state }) => state);
  }

  /** True if Home was not sent the agent's present run yet. */
  hasUnsentRun(id: string): boolean {
    return this.#sent.get(id)?.run !== this.#agents.get(id)?.run;
  }

  /** All agents as judged now. Unlike `snapshot`, this does not count as sent to Home. */
  now(): AgentState[] {
    return [...this.#agents.values()].filter(isListed).map((agent) => this.#state(agent));
  }

  /** Home has lost what it was sent of an agent, so the agent counts as changed. */
  setUnsent(id: string): void {
    if (this.#sent.delete(id)) this.#touched.add(id);
  }

  /**
   * The changes since the last call, for Home. A new last_seen alone is no change while an agent is online. For an agent
   * that is offline but heard (a deaf one), it is sent now and then, since people read it.
   * @param which `touched`: of agents that sent something, or that a call changed; `all`: also those whose time ran out
   */
  changes(which: "all" | "touched" = "all"): RosterChange[] {
    const ids =
      which === "all" ? new Set([...this.#sent.keys(), ...this.#agents.keys()]) : [...this.#touched];
    this.#touched.clear();
    const changes: RosterChange[] = [];
    for (const id of ids) {
      const change = this.#change(id);
      if (change) changes.push(change);
    }
    return changes;
  }

  /** The change of one agent since it was sent last. */
  changeOf(id: string): RosterChange[] {
    const change = this.#change(id);
    return change ? [change] : [];
  }

  #change(id: string): RosterChange | undefined {
    const agent = this.#agents.get(id);
    if (agent === undefined || !isListed(agent))
      return this.#sent.delete(id) ? { kind: "gone", id } : undefined;
    const state = this.#state(agent);
    const sent = this.#sent.get(id);
    const isChanged = sent === undefined || sent.run !== agent.run || !isSame(sent.state, state);
    if (!isChanged && !isLate(sent.state, state)) return undefined;
    this.#sent.set(id, { state, run: agent.run });
    return { kind: "agent", agent: state };
  }

  /** An agent that is about to change. */
  #get(id: string): Known | undefined {
    this.#touched.add(id);
    return this.#agents.get(id);
  }

  #addOrGet(id: string): Known | undefined {
    const known = this.#get(id);
    if (known !== undefined) return known;
    const standing = this.#standing(id);
    const isStranger = standing === "stranger";
    if (isStranger) this.#isIncomplete = true;
    const isFull = isStranger
      ? this.#strangers >= STRANGERS_MAX
      : this.#agents.size - this.#strangers >= AGENTS_MAX;
    if (isFull && (isStranger || !this.#makeRoom(standing))) {
      this.#isIncomplete = true;
      if (!isStranger) this.#refuse(id);
      return undefined;
    }
    if (isStranger) this.#strangers += 1;
    this.#refused.delete(id);
    const agent: Known = {
      id,
      capabilities: undefined,
      tools: undefined,
      presence: undefined,
      run: undefined,
      alive: undefined,
      own: false,
      state: undefined,
      confirmBy: undefined,
      life: { kind: "never" },
      lastSeen: null,
      isHeard: isStranger,
      isStranger,
      isWithdrawn: false,
      isPresenceSigned: false,
      busyUntil: undefined,
      deaf: undefined,
      deafBeating: undefined,
      oldNumbers: undefined,
    };
    this.#agents.set(id, agent);
    return agent;
  }

  /**
   * Deletes an agent that never advertised anything: without an advert it cannot be called. A named agent takes the place
   * of any other that is not named.
   */
  #makeRoom(standing: Standing): boolean {
    const isLess = ({ id }: Known) => this.#standing(id) === "any";
    const others = [...this.#agents.values()].filter(
      (agent) => !agent.isStranger && (standing === "any" || isLess(agent)),
    );
    const dropped =
      others.find((agent) => agent.capabilities === undefined && isLess(agent)) ??
      (standing === "named" ? others.at(-1) : undefined);
    if (dropped === undefined) return false;
    this.#isIncomplete = true;
    this.#refuse(dropped.id);
    this.#delete(dropped);
    return true;
  }

  #delete(agent: Known): void {
    this.#agents.delete(agent.id);
    this.#touched.add(agent.id);
    if (agent.isStranger) this.#strangers -= 1;
    else if (this.#standing(agent.id) === "any") this.#unnamedBytes -= bytesOf(agent);
  }

  #refuse(id: string): void {
    if (this.#refused.size < REFUSED_MAX) this.#refused.add(id);
  }

  #setText(agent: Known, kind: "capabilities" | "tools", text: string | undefined): void {
    const before = bytesOf(agent);
    agent[kind] = text;
    if (this.#standing(agent.id) === "any") this.#unnamedBytes += bytesOf(agent) - before;
  }

  /** True if there is room for a text in place of the one before it. */
  #fits(agent: Known, kind: "capabilities" | "tools", raw: string): boolean {
    if (agent.isStranger || this.#standing(agent.id) === "named") return true;
    if (this.#unnamedBytes - (agent[kind]?.length ?? 0) + raw.length <= UNNAMED_MAX_BYTES) return true;
    this.#isIncomplete = true;
    this.#refuse(agent.id);
    return false;
  }

  #alive(agent: Known): void {
    agent.life = { kind: "heard", until: this.#clock.now() + HEARTBEAT_LOST_MS };
    agent.confirmBy = undefined;
    agent.oldNumbers = undefined;
    agent.isHeard = true;
    agent.lastSeen = this.#clock.wall();
  }

  #state(agent: Known): AgentState {
    const { online, reason, foreign } = this.#judge(agent);
    return {
      id: agent.id,
      online,
      ...(reason !== undefined && { reason: cutText(reason, REASON_MAX) }),
      last_seen: agent.lastSeen,
      foreign,
      ...(agent.capabilities !== undefined && { capabilities: agent.capabilities }),
      ...(agent.tools !== undefined && { tools: agent.tools }),
      ...(agent.presence !== undefined && { presence: agent.presence }),
      ...(agent.alive !== undefined && { alive: agent.alive }),
      ...(agent.oldNumbers !== undefined && { conditions: [agent.oldNumbers] }),
    };
  }

  #judge(agent: Known): Judgement {
    const foreign = !agent.own;
    const offline = (reason: string): Judgement => ({ online: false, reason, foreign });
    if (agent.isStranger) return offline(NOT_SERVED);
    const broker = this.#broker;
    if (broker.kind === "never") return offline(BROKER_UNREACHABLE);
    const now = this.#clock.now();
    if (broker.kind === "lost" && now - broker.at >= BROKER_GRACE_MS) {
      return offline(BROKER_UNREACHABLE);
    }
    const since =
      broker.kind === "up" && broker.again ? "since the broker came back" : "since the bridge started";
    if (agent.own) {
      const unconfirmed = agent.confirmBy !== undefined && now >= agent.confirmBy && broker.kind === "up";
      if (agent.state === undefined || unconfirmed)
        return offline(`it has not said that it is online ${since}`);
      if (agent.state.state === "offline") return offline(agent.state.reason || "it said goodbye");
    } else if (agent.deaf !== undefined && (agent.life.kind !== "heard" || now < agent.life.until)) {
      return offline(agent.deaf);
    }
    if (agent.life.kind === "never") return offline(`no heartbeat ${since}`);
    // While the broker is away no agent can be heard, so silence counts from its return.
    if (now < agent.life.until || broker.kind === "lost") return { online: true, reason: undefined, foreign };
    if (agent.busyUntil !== undefined && now < agent.busyUntil) {
      return { online: true, reason: "busy with a call", foreign };
    }
    if (agent.life.kind === "retained") return offline(`no heartbeat ${since}`);
    return offline(`no heartbeat for ${HEARTBEAT_LOST_MS / 1_000} s`);
  }
}

function bytesOf({ capabilities = "", tools = "" }: Known): number {
  return capabilities.length + tools.length;
}

/** A clean shutdown may leave presence and tools behind. Unsigned, these alone make no agent. */
function isListed(agent: Known): boolean {
  return agent.isPresenceSigned || agent.capabilities !== undefined || (agent.isHeard && !agent.isWithdrawn);
}

/** True for the will of an earlier boot whose half-open connection ran out after the next boot's birth. */
function isStaleWill(will: Presence, agent: Known): boolean {
  return (
    agent.state?.state === "online" &&
    will.boot_id !== undefined &&
    agent.state.boot_id !== undefined &&
    will.boot_id !== agent.state.boot_id
  );
}

/** True if the last_seen that Home has of an offline agent is much too early. */
function isLate(sent: AgentState, now: AgentState): boolean {
  return !now.online && (now.last_seen ?? 0) - (sent.last_seen ?? 0) >= LAST_SEEN_EVERY_MS;
}

function isSame(a: AgentState, b: AgentState): boolean {
  return (
    a.online === b.online &&
    a.reason === b.reason &&
    a.foreign === b.foreign &&
    JSON.stringify(a.conditions) === JSON.stringify(b.conditions) &&
    a.capabilities === b.capabilities &&
    a.tools === b.tools
  );
}
