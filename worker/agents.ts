/** The rows of Home's agents: what the bridge told, read with care, since an advert is a stranger's text. */

import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { type ActionAdvert, Capabilities, ToolsAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import type { CallTarget } from "./edge-call.ts";
import { oneLine, type RosterAgent } from "./roster.ts";

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
};

/** An agent as `GET /v1/agents` shows it. */
export type AgentView = {
  id: string;
  online: boolean;
  status: "online" | "offline";
  reason?: string;
  last_seen: number | null;
  last_active: number | null;
  type: string | null;
  version: string | null;
  capabilities: string;
  foreign: boolean;
  features: string[];
  actions: string[];
  problem?: string;
  counts: { calls: number; success: number; error: number; open: number };
};

export class Agents {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Stores what the bridge tells of an agent. @returns whether it came online with this */
  update(state: AgentState): boolean {
    const before = this.#row(state.id);
    const advert = readAdvert(state);
    this.#sql.exec(
      `INSERT OR REPLACE INTO agent
         (id, online, reason, last_seen, is_foreign, line, type, version, features, tools, problem, changed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      state.id,
      state.online ? 1 : 0,
      state.reason ?? null,
      state.last_seen,
      state.foreign ? 1 : 0,
      advert.line,
      advert.type,
      advert.version,
      JSON.stringify(advert.features),
      JSON.stringify(advert.tools),
      advert.problem,
      Date.now(),
    );
    return state.online && before?.online !== 1;
  }

  /** The agents that a whole snapshot did not name are not there. They stay known, with their last seen. */
  absentSince(snapshotBegan: number): void {
    this.#sql.exec(
      "UPDATE agent SET online = 0, reason = 'the bridge does not know it' WHERE online = 1 AND changed_at < ?",
      snapshotBegan,
    );
  }

  remove(id: string): void {
    this.#sql.exec("DELETE FROM agent WHERE id = ?", id);
  }

  /** @param bridge when the bridge vouched for its agents last; null = it is not connected, so nobody is online */
  roster(bridge: number | null, served: (agent: { id: string; foreign: boolean }) => boolean): RosterAgent[] {
    return this.#rows(served).map((row) => toRosterAgent(row, bridge));
  }

  target(
    id: string,
    bridge: number | null,
    served: (agent: { id: string; foreign: boolean }) => boolean,
  ): CallTarget | undefined {
    const row = this.#row(id);
    if (!row || !served({ id, foreign: row.is_foreign === 1 })) return undefined;
    const features = JSON.parse(row.features) as string[];
    const adverts = JSON.parse(row.tools) as ActionAdvert[];
    return { ...toRosterAgent(row, bridge), adverts, asks: features.includes("question") };
  }

  features(id: string): string[] {
    const row = this.#row(id);
    return row ? (JSON.parse(row.features) as string[]) : [];
  }

  views(
    bridge: number | null,
    served: (agent: { id: string; foreign: boolean }) => boolean,
    activity: ReadonlyMap<
      string,
      { last: number; calls: number; success: number; error: number; open: number }
    >,
  ): AgentView[] {
    return this.#rows(served).map((row) => {
      const agent = toRosterAgent(row, bridge);
      const { last = null, ...counts } = activity.get(row.id) ?? { calls: 0, success: 0, error: 0, open: 0 };
      return {
        id: row.id,
        online: agent.online,
        status: agent.online ? "online" : "offline",
        ...(agent.reason !== undefined && { reason: agent.reason }),
        last_seen: agent.lastSeen,
        last_active: last,
        type: row.type,
        version: row.version,
        capabilities: row.line,
        foreign: agent.foreign,
        features: JSON.parse(row.features) as string[],
        actions: agent.actions,
        ...(row.problem !== null && { problem: row.problem }),
        counts,
      };
    });
  }

  #row(id: string): AgentRow | undefined {
    return this.#sql.exec<AgentRow>("SELECT * FROM agent WHERE id = ?", id).toArray()[0];
  }

  #rows(served: (agent: { id: string; foreign: boolean }) => boolean): AgentRow[] {
    const rows = this.#sql.exec<AgentRow>("SELECT * FROM agent ORDER BY id").toArray();
    return rows.filter((row) => served({ id: row.id, foreign: row.is_foreign === 1 }));
  }
}

function toRosterAgent(row: AgentRow, bridge: number | null): RosterAgent {
  const online = row.online === 1 && bridge !== null;
  const tools = JSON.parse(row.tools) as ActionAdvert[];
  const features = JSON.parse(row.features) as string[];
  const foreign = row.is_foreign === 1;
  return {
    id: row.id,
    online,
    reason: online ? undefined : bridge === null ? "the bridge is not connected" : (row.reason ?? undefined),
    // Heartbeats end at the bridge: while it says online, the bridge's own sign of life is the agent's.
    lastSeen: online ? bridge : row.last_seen,
    line: row.line,
    actions: tools.map((tool) => tool.name).sort(),
    queues: tools
      .filter((tool) => tool.queue_ms !== undefined)
      .map((tool) => tool.name)
      .sort(),
    hasModel: foreign || features.includes("prompt"),
    foreign,
  };
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
      advert.line = oneLine(read.value.capabilities, LINE_MAX) || advert.line;
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
