/**
 * Who is there: the roster, from what agents publish and from their silence.
 *
 * Nothing here waits or publishes; time comes from the clock, and `changes()` says what Home should hear.
 * Online means:
 *
 *   our agents       presence says "online", and the last sign of life is younger than HEARTBEAT_LOST_MS
 *   foreign agents   a live heartbeat or report, not silent for HEARTBEAT_LOST_MS since, and not deaf
 *
 * A retained message is what somebody said once, so it is never a sign of life.
 */
import { type AgentState, BROKER_UNREACHABLE } from "@edgecall/core/protocol/frames.ts";
import type { Capabilities, Presence } from "@edgecall/core/protocol/mqtt.ts";
import { HEARTBEAT_LOST_MS } from "@edgecall/core/protocol/names.ts";
import type { Clock } from "../clock.ts";

/** A retained "online" is believed this long: one heartbeat (30 s) has to follow, with room for a slow Pi. */
export const BELIEVED_MS = 40_000;
/** A broker that is back this soon was merely restarted: nobody needs to hear of it. */
export const BROKER_GRACE_MS = 3_000;
/** More agents than a home has; beyond it somebody is inventing ids. */
export const AGENTS_MAX = 1_000;
/** Of agents that the home does not serve only the ids are kept, and so many: a person may want to pair one of them. */
export const STRANGERS_MAX = 32;
/** Bytes of what is advertised without a key and without a name in the home's settings. A Pi's tools are 60 KiB. */
export const UNNAMED_MAX_BYTES = 4 * 1024 * 1024;

const NOT_SERVED = "it has no key, and the home's settings do not name it";

/** The standing of an agent: those with a key or a name in the settings have room first. */
export type Standing = "named" | "any" | "stranger";

/** A row of Home's for each: not at every heartbeat. */
const LAST_SEEN_EVERY_MS = 120_000;

const REASON_MAX = 200;

type Life = { kind: "never" } | { kind: "believed" | "heard"; until: number };

type Known = {
  id: string;
  capabilities: string | undefined;
  tools: string | undefined;
  presence: string | undefined;
  /** Our own kind, by its `features`, or as long as there is no advert by its having a presence topic. */
  own: boolean;
  /** The run that said last that it is there. */
  run: string | undefined;
  /** A signed report by which it is there, as published, where its presence topic does not say so. */
  alive: string | undefined;
  /** What its presence topic says since the broker was last connected. */
  state: Presence | undefined;
  /** After a short break: until then the state from before it stands. */
  confirmBy: number | undefined;
  life: Life;
  /** Epoch ms. */
  lastSeen: number | null;
  /** A live message came: it is shown even without an advert. */
  heard: boolean;
  /** Its presence is signed: that alone shows it, should somebody else have overwritten its advert. */
  vouched: boolean;
  /** The home does not serve it: nothing of it is kept but that it is there. */
  isStranger: boolean;
  /** It took its advert back: only a new one brings it back. */
  withdrawn: boolean;
  /** A foreign agent works on a call until then, and may be silent. */
  busyUntil: number | undefined;
  /** Why it is held to be deaf: it lives, but takes no commands. */
  deaf: string | undefined;
  /** Why, once a heartbeat came after it was found to be deaf. */
  deafBeating: string | undefined;
};

type Broker = { kind: "never" } | { kind: "up"; again: boolean } | { kind: "lost"; at: number };

/** An agent as the roster judges it now. */
export type Judgement = { online: boolean; reason: string | undefined; foreign: boolean };

export type RosterChange = { kind: "agent"; agent: AgentState } | { kind: "gone"; id: string };

export class Roster {
  readonly #clock: Clock;
  readonly #agents = new Map<string, Known>();
  /** What Home was last told, by id. A new run is news even when nobody saw the one before it go. */
  readonly #told = new Map<string, { state: AgentState; run: string | undefined }>();
  #broker: Broker = { kind: "never" };
  /** Until Home has told, any agent may be one that it serves. */
  #standing: (id: string) => Standing = () => "any";
  /** Something was not kept that may be wanted later: the broker still has it. */
  #turnedAway = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The broker is there; its retained topics follow, and say anew who is online. */
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

  /** Home has told whom it serves. What was kept of others is dropped. */
  serve(standing: (id: string) => Standing): void {
    this.#standing = standing;
    for (const agent of this.#agents.values()) {
      const isStranger = standing(agent.id) === "stranger";
      if (isStranger && !agent.isStranger) this.#agents.delete(agent.id);
      if (isStranger && !agent.isStranger && isShown(agent)) this.#know(agent.id);
      if (!isStranger && agent.isStranger) this.#agents.delete(agent.id);
    }
  }

  /** True: the broker has to be asked again for its retained texts, since one of these agents' may have been turned away. */
  lacks(ids: Iterable<string>): boolean {
    if (!this.#turnedAway) return false;
    const isMissing = [...ids].some((id) => this.#agents.get(id)?.capabilities === undefined);
    if (isMissing) this.#turnedAway = false;
    return isMissing;
  }

  /** `raw`: as published. False when there are too many agents already, or too much of theirs. */
  advertised(id: string, raw: string, advert: Capabilities, live: boolean): boolean {
    const agent = this.#know(id);
    if (agent === undefined || !this.#fits(agent, "capabilities", raw)) return false;
    if (agent.isStranger) return true;
    agent.capabilities = raw;
    agent.own = advert.features !== undefined;
    agent.withdrawn = false;
    // EvoClaw's agent advertises right after it subscribed, so a fresh advert is a fresh pair of ears.
    if (live) agent.deaf = undefined;
    return true;
  }

  /** The advert was taken back. Heartbeats that still come do not bring the agent back; an advert does. */
  withdrawn(id: string): void {
    const agent = this.#agents.get(id);
    if (agent === undefined) return;
    agent.capabilities = undefined;
    agent.tools = undefined;
    agent.withdrawn = true;
  }

  /** @returns whether there was room for it */
  toolsAdvertised(id: string, raw: string | undefined): boolean {
    const agent = this.#know(id);
    if (agent === undefined || !this.#fits(agent, "tools", raw ?? "")) return false;
    if (!agent.isStranger) agent.tools = raw;
    return true;
  }

  /** What its presence topic says is signed by it. */
  vouched(id: string): void {
    const agent = this.#know(id);
    if (agent !== undefined) agent.vouched = true;
  }

  /** Takes back what does not count of an agent any more: it has to say it anew. */
  believeOnly(
    id: string,
    counts: (kind: "capabilities" | "tools" | "presence", raw: string) => boolean,
  ): void {
    const agent = this.#agents.get(id);
    if (agent === undefined) return;
    // Ours alone have keys.
    agent.own = true;
    if (agent.capabilities !== undefined && !counts("capabilities", agent.capabilities))
      agent.capabilities = undefined;
    if (agent.tools !== undefined && !counts("tools", agent.tools)) agent.tools = undefined;
    agent.vouched = agent.presence !== undefined && counts("presence", agent.presence);
    agent.alive = undefined;
    if (agent.vouched) return;
    agent.presence = undefined;
    agent.state = undefined;
    agent.life = { kind: "never" };
  }

  /** A message on the agent's presence topic: birth, goodbye or last will. */
  presenceSaid(id: string, raw: string, presence: Presence, live: boolean): void {
    const agent = this.#know(id);
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
    else agent.life = { kind: "believed", until: this.#clock.now() + BELIEVED_MS };
  }

  /** The presence topic was cleared: nothing says any more that the agent is online. */
  presenceCleared(id: string): void {
    const agent = this.#agents.get(id);
    if (agent === undefined) return;
    agent.presence = undefined;
    agent.state = undefined;
  }

  heartbeat(id: string): void {
    const agent = this.#know(id);
    if (agent === undefined) return;
    // An offline notice that is followed by a heartbeat was an older connection's will: the agent's own
    // messages keep their order, and after its goodbye it sends none.
    if (agent.state?.state === "offline") agent.state = { ...agent.state, state: "online" };
    if (agent.deaf !== undefined) agent.deaf = agent.deafBeating;
    this.#alive(agent);
  }

  /**
   * A report that it signed after everything that is known of its presence: it is there, whatever stands on that topic.
   * @returns whether it is only by this that it is there
   */
  reportSigned(id: string, raw: string, run: string): boolean {
    const agent = this.#know(id);
    if (agent === undefined || (agent.state?.state === "online" && agent.run === run)) return false;
    agent.own = true;
    agent.vouched = true;
    agent.alive = raw;
    agent.run = run;
    agent.state = { state: "online", boot_id: run };
    this.#alive(agent);
    return true;
  }

  /** An answer to a command: it lives, and it hears. */
  answered(id: string): void {
    const agent = this.#know(id);
    if (agent === undefined) return;
    agent.deaf = undefined;
    this.#alive(agent);
  }

  /** Any other live message (an event, a status). */
  heard(id: string): void {
    const agent = this.#know(id);
    if (agent !== undefined) this.#alive(agent);
  }

  /** A foreign agent works on a call until `until` (monotonic ms); undefined: it is done. */
  busy(id: string, until: number | undefined): void {
    const agent = this.#agents.get(id);
    if (agent !== undefined) agent.busyUntil = until;
  }

  /** @param beating what is to be said once it is heard all the same */
  deaf(id: string, why: string, beating = why): void {
    const agent = this.#agents.get(id);
    if (agent === undefined) return;
    agent.deaf = why;
    agent.deafBeating = beating;
    agent.busyUntil = undefined;
  }

  /** Deaf, and alive but for that: worth a probe. */
  isDeafButAlive(id: string): boolean {
    const agent = this.#agents.get(id);
    if (agent?.deaf === undefined || this.#broker.kind !== "up") return false;
    return agent.life.kind === "heard" && this.#clock.now() < agent.life.until;
  }

  /** Foreign agents that advertise and were not heard yet: they may be there, and say so within half a minute. */
  unheardForeign(): string[] {
    return [...this.#agents.values()]
      .filter(({ own, life, capabilities }) => !own && life.kind === "never" && capabilities !== undefined)
      .map(({ id }) => id);
  }

  isDeaf(id: string): boolean {
    return this.#agents.get(id)?.deaf !== undefined;
  }

  /** Undefined for an agent that nobody has heard of. */
  judge(id: string): Judgement | undefined {
    const agent = this.#agents.get(id);
    return agent === undefined || !isShown(agent) ? undefined : this.#judge(agent);
  }

  /** Whether the agent speaks only EvoClaw's shapes; true for one that is not known. */
  isForeign(id: string): boolean {
    return this.#agents.get(id)?.own !== true;
  }

  /** All agents for a snapshot; from here on `changes` tells the difference to it. */
  snapshot(): AgentState[] {
    this.#told.clear();
    const shown = [...this.#agents.values()].filter(isShown);
    for (const agent of shown) this.#told.set(agent.id, { state: this.#state(agent), run: agent.run });
    return [...this.#told.values()].map(({ state }) => state);
  }

  /** Whether Home has not heard yet of the run that speaks now. */
  hasUntoldRun(id: string): boolean {
    return this.#told.get(id)?.run !== this.#agents.get(id)?.run;
  }

  /** Everybody as they are judged now; Home has been told of nothing by it. */
  now(): AgentState[] {
    return [...this.#agents.values()].filter(isShown).map((agent) => this.#state(agent));
  }

  /**
   * The changes since the last call, for Home. A new last_seen alone is nothing while an agent is online; of one that is
   * offline and yet heard (it is deaf, say) it is told now and then, since people read it.
   */
  changes(): RosterChange[] {
    const changes: RosterChange[] = [];
    for (const id of this.#told.keys()) {
      const agent = this.#agents.get(id);
      if (agent !== undefined && isShown(agent)) continue;
      this.#told.delete(id);
      changes.push({ kind: "gone", id });
    }
    for (const agent of this.#agents.values()) {
      if (!isShown(agent)) continue;
      const state = this.#state(agent);
      const told = this.#told.get(agent.id);
      const isNews = told === undefined || told.run !== agent.run || !saysTheSame(told.state, state);
      if (!isNews && !isLate(told.state, state)) continue;
      this.#told.set(agent.id, { state, run: agent.run });
      changes.push({ kind: "agent", agent: state });
    }
    return changes;
  }

  #know(id: string): Known | undefined {
    const known = this.#agents.get(id);
    if (known !== undefined) return known;
    const standing = this.#standing(id);
    const isStranger = standing === "stranger";
    if (isStranger) this.#turnedAway = true;
    const strangers = this.#strangers();
    const isFull = isStranger ? strangers >= STRANGERS_MAX : this.#agents.size - strangers >= AGENTS_MAX;
    if (isFull && (isStranger || !this.#makeRoom(standing))) {
      this.#turnedAway = true;
      return undefined;
    }
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
      heard: isStranger,
      isStranger,
      withdrawn: false,
      vouched: false,
      busyUntil: undefined,
      deaf: undefined,
      deafBeating: undefined,
    };
    this.#agents.set(id, agent);
    return agent;
  }

  /**
   * Forgets one that never advertised anything: an advert is what an agent is called by. One that is named has the place
   * of any other that is not.
   */
  #makeRoom(standing: Standing): boolean {
    const isLess = ({ id }: Known) => this.#standing(id) === "any";
    const others = [...this.#agents.values()].filter(
      (agent) => !agent.isStranger && (standing === "any" || isLess(agent)),
    );
    const gone =
      others.find((agent) => agent.capabilities === undefined && isLess(agent)) ??
      (standing === "named" ? others.at(-1) : undefined);
    if (gone === undefined) return false;
    this.#turnedAway = true;
    return this.#agents.delete(gone.id);
  }

  #strangers(): number {
    let strangers = 0;
    for (const { isStranger } of this.#agents.values()) if (isStranger) strangers += 1;
    return strangers;
  }

  /** Tells whether there is room for a text in place of the one before it. */
  #fits(agent: Known, kind: "capabilities" | "tools", raw: string): boolean {
    if (agent.isStranger || this.#standing(agent.id) === "named") return true;
    const before = bytesOf(agent) - (agent[kind]?.length ?? 0);
    let others = 0;
    for (const other of this.#agents.values())
      if (other !== agent && this.#standing(other.id) === "any") others += bytesOf(other);
    if (others + before + raw.length <= UNNAMED_MAX_BYTES) return true;
    this.#turnedAway = true;
    return false;
  }

  #alive(agent: Known): void {
    agent.life = { kind: "heard", until: this.#clock.now() + HEARTBEAT_LOST_MS };
    agent.confirmBy = undefined;
    agent.heard = true;
    agent.lastSeen = this.#clock.wall();
  }

  #state(agent: Known): AgentState {
    const { online, reason, foreign } = this.#judge(agent);
    return {
      id: agent.id,
      online,
      ...(reason !== undefined && { reason: reason.slice(0, REASON_MAX) }),
      last_seen: agent.lastSeen,
      foreign,
      ...(agent.capabilities !== undefined && { capabilities: agent.capabilities }),
      ...(agent.tools !== undefined && { tools: agent.tools }),
      ...(agent.presence !== undefined && { presence: agent.presence }),
      ...(agent.alive !== undefined && { alive: agent.alive }),
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
    // While the broker is away nobody can be heard: silence counts from its return.
    if (now < agent.life.until || broker.kind === "lost") return { online: true, reason: undefined, foreign };
    if (agent.busyUntil !== undefined && now < agent.busyUntil) {
      return { online: true, reason: "busy with a call", foreign };
    }
    if (agent.life.kind === "believed") return offline(`no heartbeat ${since}`);
    return offline(`no heartbeat for ${HEARTBEAT_LOST_MS / 1_000} s`);
  }
}

function bytesOf({ capabilities = "", tools = "" }: Known): number {
  return capabilities.length + tools.length;
}

/** Presence and tools alone are what a clean shutdown may leave behind: unsigned they make no agent. */
function isShown(agent: Known): boolean {
  return agent.vouched || agent.capabilities !== undefined || (agent.heard && !agent.withdrawn);
}

/** The will of an earlier boot, sent when its half-open connection ran out, after the next boot's birth. */
function isStaleWill(will: Presence, agent: Known): boolean {
  return (
    agent.state?.state === "online" &&
    will.boot_id !== undefined &&
    agent.state.boot_id !== undefined &&
    will.boot_id !== agent.state.boot_id
  );
}

/** Home believes that an agent which is offline was heard of last much earlier than it was. */
function isLate(told: AgentState, now: AgentState): boolean {
  return !now.online && (now.last_seen ?? 0) - (told.last_seen ?? 0) >= LAST_SEEN_EVERY_MS;
}

function saysTheSame(a: AgentState, b: AgentState): boolean {
  return (
    a.online === b.online &&
    a.reason === b.reason &&
    a.foreign === b.foreign &&
    a.capabilities === b.capabilities &&
    a.tools === b.tools
  );
}
