/** The rows of Home's agents: what the bridge told, read with care, since an advert is a stranger's text. */

import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { type ActionAdvert, Capabilities, ToolsAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import type { AgentView } from "../../api/answers.ts";
import type { CallTarget } from "../../api/edge-call.ts";
import { oneLine, type RosterAgent } from "../../api/roster.ts";
import { type AcceptedText, accept, acceptFirst, NOTHING_ACCEPTED, newText } from "./advert-text.ts";
import type { Believed } from "./believing.ts";

/** In place of a reason: its key was revoked, and it was taken off the list. The row stays, so that nothing retained brings it back. */
const HIDDEN = "(removed)";
/** An agent's line may be this long in the roster; what a model sees of it is shorter. */
const LINE_MAX = 1_000;

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

type KnownAgent = {
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
  /** Names of its actions, those first that a model needs most; and of those that may wait for it. */
  actions: string[];
  queues: string[];
  problem: string | null;
  /** Why its program does not fit this gateway. */
  misfit: string | undefined;
  toldAt: number;
  accepted: AcceptedText;
};

/** Which agents are there for this home: those with a key, and any other only by the settings. */
export type Served = (agent: { id: string }) => boolean;

export class Agents {
  readonly #sql: SqlStorage;
  /** The rows, read once: this class alone writes them, and they are wanted at every step of every turn. */
  #known: Map<string, KnownAgent> | undefined;

  readonly #vouchedAt: () => number | null;

  /** @param vouchedAt when a bridge vouched for its agents last, also one that has fallen silent since */
  constructor(storage: DurableObjectStorage, vouchedAt: () => number | null = () => null) {
    this.#sql = storage.sql;
    this.#vouchedAt = vouchedAt;
  }

  /**
   * Stores what counts of what the bridge tells of an agent.
   * @param isLetIn an owner paired it, or named it: that accepts the first text by which it describes itself
   * @returns whether it came online with this, or anew
   */
  update({ state, keepsAdverts, problem, isNewRun }: Believed, isLetIn: boolean): boolean {
    const before = this.#one(state.id);
    const advert = readAdvert(state);
    if (keepsAdverts && before && state.capabilities === undefined) {
      const { line, type, version, features } = before;
      Object.assign(advert, { line, type, version, features });
    }
    if (keepsAdverts && before && state.tools === undefined) advert.tools = before.tools;
    advert.problem ??= problem ?? null;
    const acceptedBefore = before?.accepted ?? NOTHING_ACCEPTED;
    const told = {
      line: state.capabilities !== undefined,
      actions: state.tools !== undefined && advert.problem?.startsWith("tools:") !== true,
    };
    const accepted = isLetIn
      ? acceptFirst(textOf({ ...advert, id: state.id }), told, acceptedBefore)
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
    return state.online && (before?.online !== true || isNewRun);
  }

  /**
   * An owner accepts the words by which an agent describes itself.
   * @param line as the owner read it; undefined: whatever it is
   * @returns "changed": it says something else by now
   */
  acceptText(id: string, line: string | undefined): "accepted" | "changed" | "unknown" {
    const known = this.#one(id);
    if (!known) return "unknown";
    if (line !== undefined && line !== known.line) return "changed";
    this.#keepAccepted(id, accept(textOf(known), known.accepted));
    return "accepted";
  }

  /** The next text of an agent that is let in is its first. */
  forgetAccepted(id: string): void {
    this.#keepAccepted(id, NOTHING_ACCEPTED);
  }

  #keepAccepted(id: string, accepted: AcceptedText): void {
    this.#sql.exec("UPDATE agent SET accepted = ? WHERE id = ?", JSON.stringify(accepted), id);
    this.#known = undefined;
  }

  /** The agents that a whole snapshot did not name are not there. They stay known, with their last seen. */
  absentSince(snapshotBegan: number): void {
    this.#sql.exec(
      "UPDATE agent SET online = 0, reason = 'the bridge does not know it' WHERE online = 1 AND changed_at < ?",
      snapshotBegan,
    );
    this.#known = undefined;
  }

  /** It counts as offline until it is told of anew. */
  distrust(id: string, reason: string): void {
    this.#sql.exec("UPDATE agent SET online = 0, reason = ? WHERE id = ?", reason, id);
    this.#known = undefined;
  }

  /** The bridge went at that moment, and vouched for them until then. */
  vouchedUntil(time: number): void {
    this.#sql.exec("UPDATE agent SET last_seen = ? WHERE online = 1", time);
    this.#known = undefined;
  }

  /** Agents that are offline, and were last seen (or, if never, last told of) before then. */
  goneSince(time: number): string[] {
    return [...this.#read().values()]
      .filter(({ online, lastSeen, toldAt }) => !online && (lastSeen ?? toldAt) < time)
      .map(({ id }) => id);
  }

  hide(id: string): void {
    this.#sql.exec("UPDATE agent SET online = 0, reason = ? WHERE id = ?", HIDDEN, id);
    this.#known = undefined;
  }

  isHidden(id: string): boolean {
    return this.#one(id)?.reason === HIDDEN;
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM agent WHERE id = ?", id);
    this.#known = undefined;
  }

  /** @param bridge when the bridge vouched for its agents last; null = it is not connected, so nobody is online */
  roster(bridge: number | null, served: Served): RosterAgent[] {
    return this.#all(served).map((agent) => this.#rosterAgent(agent, bridge));
  }

  target(id: string, bridge: number | null, served: Served): CallTarget | undefined {
    const agent = this.#one(id);
    if (!agent || agent.reason === HIDDEN || !served(agent)) return undefined;
    return {
      ...this.#rosterAgent(agent, bridge),
      adverts: agent.tools,
      asks: agent.features.includes("question"),
      misfit: agent.misfit,
    };
  }

  targets(bridge: number | null, served: Served): CallTarget[] {
    return this.#all(served).flatMap(({ id }) => this.target(id, bridge, served) ?? []);
  }

  /** Its advertised actions, by name; undefined: there is no such agent. */
  toolNames(id: string): ReadonlySet<string> | undefined {
    const agent = this.#one(id);
    return agent && new Set(agent.tools.map(({ name }) => name));
  }

  /** All ids, served or not. */
  ids(): string[] {
    return [...this.#read().keys()];
  }

  features(id: string): readonly string[] {
    return this.#one(id)?.features ?? [];
  }

  views(
    bridge: number | null,
    served: Served,
    activity: ReadonlyMap<
      string,
      { last: number; calls: number; success: number; error: number; open: number }
    >,
    paired: (id: string) => boolean,
  ): AgentView[] {
    return this.#all(served).map((known) => {
      const agent = this.#rosterAgent(known, bridge);
      const { last = null, ...counts } = activity.get(known.id) ?? {
        calls: 0,
        success: 0,
        error: 0,
        open: 0,
      };
      const problem = known.misfit ?? known.problem;
      return {
        id: known.id,
        online: agent.online,
        status: agent.online ? "online" : "offline",
        ...(agent.reason !== undefined && { reason: agent.reason }),
        last_seen: agent.lastSeen,
        last_active: last,
        type: known.type,
        version: known.version,
        capabilities: known.line,
        foreign: known.foreign,
        paired: paired(known.id),
        features: known.features,
        actions: agent.actions,
        ...(problem !== null && { problem }),
        ...newTextOf(known),
        counts,
      };
    });
  }

  /** One row, and not all of them: a snapshot of many agents would read each as often as there are others. */
  #reread(id: string): void {
    const known = this.#known;
    const row = known && this.#sql.exec<AgentRow>("SELECT * FROM agent WHERE id = ?", id).toArray()[0];
    if (!row) return;
    const isNew = !known.has(id);
    known.set(id, toKnown(row));
    // In the order in which the rows are read.
    if (isNew) this.#known = new Map([...known].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #rosterAgent(known: KnownAgent, bridge: number | null): RosterAgent {
    const agent = rosterAgent(known, bridge);
    if (bridge !== null || !known.online) return agent;
    // Its bridge has fallen silent, and said until then that it is there; its row is as old as the last change.
    return { ...agent, lastSeen: Math.max(known.lastSeen ?? 0, this.#vouchedAt() ?? 0) || null };
  }

  #one(id: string): KnownAgent | undefined {
    return this.#read().get(id);
  }

  #all(served: Served): KnownAgent[] {
    return [...this.#read().values()].filter((agent) => agent.reason !== HIDDEN && served(agent));
  }

  #read(): Map<string, KnownAgent> {
    this.#known ??= new Map(
      this.#sql
        .exec<AgentRow>("SELECT * FROM agent ORDER BY id")
        .toArray()
        .map((row) => [row.id, toKnown(row)]),
    );
    return this.#known;
  }
}

function toKnown(row: AgentRow): KnownAgent {
  const features = JSON.parse(row.features) as string[];
  const tools = JSON.parse(row.tools) as ActionAdvert[];
  return {
    id: row.id,
    online: row.online === 1,
    reason: row.reason ?? undefined,
    lastSeen: row.last_seen,
    foreign: row.is_foreign === 1,
    line: row.line,
    type: row.type,
    version: row.version,
    features,
    tools,
    actions: tools.toSorted(byUse).map(({ name }) => name),
    queues: tools.flatMap(({ name, queue_ms }) => (queue_ms === undefined ? [] : [name])).sort(),
    problem: row.problem,
    // A foreign agent has versions of its own.
    misfit: features.length > 0 ? versionProblem("agent", row.version) : undefined,
    toldAt: row.changed_at,
    accepted: JSON.parse(row.accepted) as AcceptedText,
  };
}

function rosterAgent(known: KnownAgent, bridge: number | null): RosterAgent {
  const online = known.online && bridge !== null;
  return {
    id: known.id,
    online,
    reason: online ? undefined : bridge === null ? "the bridge is not connected" : known.reason,
    // Heartbeats end at the bridge: while it says online, the bridge's own sign of life is the agent's.
    lastSeen: online ? bridge : known.lastSeen,
    line: known.line,
    actions: known.actions,
    queues: known.queues,
    hasModel: known.foreign || known.features.includes("prompt"),
    foreign: known.foreign,
    ...(newText(textOf(known), known.accepted) && { newText: true }),
  };
}

function textOf(agent: { id: string; line: string; tools: readonly ActionAdvert[] }) {
  const { id, line, tools } = agent;
  return { id, line, actions: tools.map(({ name }) => name) };
}

function newTextOf(known: KnownAgent): Pick<AgentView, "new_text"> {
  const fresh = newText(textOf(known), known.accepted);
  return fresh ? { new_text: fresh } : {};
}

type Advert = {
  line: string;
  type: string | null;
  version: string | null;
  features: string[];
  tools: ActionAdvert[];
  problem: string | null;
};

/** What of an agent's adverts can be used. A broken one is told (`problem`), and does not hide the agent. */
function readAdvert(state: AgentState): Advert {
  const advert: Advert = {
    line: `${state.id} edge agent`,
    type: null,
    version: null,
    features: [],
    tools: [],
    problem: null,
  };
  if (state.capabilities !== undefined) {
    const read = checkJson(Capabilities, state.capabilities);
    if (read.ok) {
      const line = oneLine(read.value.capabilities, LINE_MAX);
      // Blanks that a person does not see are no line either.
      if (/[^\p{C}\p{Z}]/u.test(line)) advert.line = line;
      advert.type = read.value.agent_type ?? null;
      advert.version = read.value.version ?? null;
      advert.features = read.value.features ?? [];
    } else advert.problem = `capabilities: ${read.error}`;
  }
  if (state.tools !== undefined) {
    const read = checkJson(ToolsAdvert, state.tools);
    if (read.ok) advert.tools = read.value.tools;
    else advert.problem = `tools: ${read.error}`;
  }
  return advert;
}

/**
 * What a device is asked for comes first, since a model is shown the beginning of the list: its figures, then
 * what it can do with its hardware, then files, shell and the rest.
 */
function byUse(a: ActionAdvert, b: ActionAdvert): number {
  return rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);
}

/** What serves a device's own loop, and a model at the gateway hardly ever. */
const OF_ITS_LOOP = ["question", "skill", "task", "todoread", "todowrite"];

function rankOf({ name, effect, taints }: ActionAdvert): number {
  if (OF_ITS_LOOP.includes(name)) return 4;
  if (effect === "read") return taints ? 2 : 0;
  return effect === "device" ? 1 : 3;
}
