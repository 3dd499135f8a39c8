/** Agents that other homes lend to this one: the rows, and the agents as models and lists see them. Ids are `name/agent`. */

import type { IndexedAgent } from "@edgecall/core/agents/agent-index.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { isLent } from "../../../kernel/api/agent-ids.ts";
import type { BorrowedView, GrantScope } from "../../../kernel/api/answers.ts";
import type { CallTarget } from "../../../kernel/api/edge-call.ts";
import { oneLine, type RosterAgent } from "../../../kernel/api/roster.ts";
import {
  type AcceptedText,
  accept,
  NOTHING_ACCEPTED,
  newText,
} from "../../../kernel/home/agents/advert-text.ts";
import { namesByUse } from "../../../kernel/home/agents/adverts.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";
import type { LentAgents } from "../contract.ts";

const BORROWED_MAX = 50;
const LINE_MAX = 1_000;
/** The time of the last sign of life is stored this coarsely, since each change is a billed row. */
const SEEN_GRAIN_MS = 3_600_000;

/** As the lender described it, and what of that an owner of this home accepted. */
type BorrowedAgent = LentAgents["agents"][number] & { accepted: AcceptedText };

export type Borrowing = {
  name: string;
  grant: string;
  /** "": the lender is at this gateway. */
  url: string;
  home: string;
  lenderKey: string;
  readsOnly: boolean;
  scopes: GrantScope[];
  expiresAt: number;
  agents: BorrowedAgent[];
  seenAt: number | null;
  problem: string | null;
  by: string;
  at: number;
};

type NewBorrowing = Pick<Borrowing, "name" | "grant" | "url" | "home" | "lenderKey" | "by">;

type Row = {
  name: string;
  grant_id: string;
  url: string;
  home: string;
  lender_key: string;
  reads_only: number;
  scopes: string;
  expires_at: number;
  agents: string;
  seen_at: number | null;
  problem: string | null;
  by: string;
  at: number;
};

class BorrowingStore extends SqlStore {
  /** Read once: this class alone writes the rows, and each plan of a turn needs them. */
  #stored: Map<string, Borrowing> | undefined;
  /** Rises with each change of what a roster says of a lent agent. */
  version = 0;
  /** The words of this agent changed, or it came or went. */
  onChange: (id: string) => void = () => {};

  list(): Borrowing[] {
    return [...this.#all().values()];
  }

  get(name: string): Borrowing | undefined {
    return this.#all().get(name);
  }

  byGrant(grant: string): Borrowing | undefined {
    return this.list().find((one) => one.grant === grant);
  }

  /** @param agent `name/agent` */
  ofAgent(agent: string): Borrowing | undefined {
    return isLent(agent) ? this.get(agent.split("/")[0] ?? "") : undefined;
  }

  get isFull(): boolean {
    return this.#all().size >= BORROWED_MAX;
  }

  /** An owner borrows: that accepts the words by which the agents describe themselves now. */
  add(borrowing: NewBorrowing, granted: LentAgents, now: number): Borrowing {
    const added: Borrowing = {
      ...borrowing,
      ...termsOf(granted),
      agents: granted.agents.map((agent) => ({ ...read(agent), accepted: acceptAll(agent) })),
      seenAt: now,
      problem: null,
      at: now,
    };
    this.#store(added);
    return added;
  }

  /** The lender described what it lends. It may be given back by now, and another lender have its name. */
  refresh(grant: string, granted: LentAgents, now: number): void {
    const before = this.byGrant(grant);
    if (!before) return;
    const acceptedOf = new Map(before.agents.map(({ id, accepted }) => [id, accepted]));
    const agents = granted.agents.map((agent) => ({
      ...read(agent),
      accepted: acceptedOf.get(agent.id) ?? NOTHING_ACCEPTED,
    }));
    const next = { ...before, ...termsOf(granted), agents, seenAt: now, problem: null };
    const isSame = JSON.stringify({ ...next, seenAt: 0 }) === JSON.stringify({ ...before, seenAt: 0 });
    if (isSame && now - (before.seenAt ?? 0) < SEEN_GRAIN_MS) before.seenAt = now;
    else this.#store(next);
  }

  /** The lender does not answer, or answers no more. @param problem in words */
  setProblem(grant: string, problem: string): void {
    const before = this.byGrant(grant);
    if (before && before.problem !== problem) this.#store({ ...before, problem });
  }

  /** An owner accepts the words by which these agents describe themselves. */
  acceptTexts(name: string): boolean {
    const before = this.get(name);
    if (!before) return false;
    const agents = before.agents.map((agent) => ({ ...agent, accepted: acceptAll(agent, agent.accepted) }));
    this.#store({ ...before, agents });
    return true;
  }

  remove(name: string): void {
    const before = this.get(name);
    if (!before) return;
    this.sql.exec("DELETE FROM borrowed WHERE name = ?", name);
    this.#all().delete(name);
    this.#changed(before);
  }

  // As a home's own agents

  /** Those that may be used now. */
  ids(now: number): string[] {
    return this.list().flatMap((one) =>
      one.expiresAt > now ? one.agents.map(({ id }) => `${one.name}/${id}`) : [],
    );
  }

  has(id: string, now: number): boolean {
    return this.#agent(id, now) !== undefined;
  }

  rosterAgent(id: string, now: number): RosterAgent | undefined {
    const found = this.#agent(id, now);
    return found && toRoster(id, ...found);
  }

  target(id: string, now: number): CallTarget | undefined {
    const found = this.#agent(id, now);
    if (!found) return undefined;
    // The lender asks its own people, since it takes each of these calls for tainted.
    return {
      ...toRoster(id, ...found),
      adverts: found[1].actions,
      asks: true,
      incompatibleWith: undefined,
      lent: true,
    };
  }

  searchable(id: string, now: number): IndexedAgent | undefined {
    const [, agent] = this.#agent(id, now) ?? [];
    return agent && { id, line: agent.line, type: undefined, actions: agent.actions };
  }

  #agent(id: string, now: number): [Borrowing, BorrowedAgent] | undefined {
    const borrowing = this.ofAgent(id);
    const agent = borrowing?.agents.find((one) => `${borrowing.name}/${one.id}` === id);
    return borrowing && agent && borrowing.expiresAt > now ? [borrowing, agent] : undefined;
  }

  #store(borrowing: Borrowing): void {
    const { name, grant, url, home, lenderKey, expiresAt, seenAt, problem, by, at } = borrowing;
    const before = this.get(name);
    this.sql.insert("OR REPLACE INTO borrowed", {
      name,
      grant_id: grant,
      url,
      home,
      lender_key: lenderKey,
      reads_only: borrowing.readsOnly ? 1 : 0,
      scopes: JSON.stringify(borrowing.scopes),
      expires_at: expiresAt,
      agents: JSON.stringify(borrowing.agents),
      seen_at: seenAt,
      problem,
      by,
      at,
    });
    this.#all().set(name, borrowing);
    if (before) this.#changed(before);
    this.#changed(borrowing);
  }

  #changed({ name, agents }: Borrowing): void {
    this.version += 1;
    for (const { id } of agents) this.onChange(`${name}/${id}`);
  }

  #all(): Map<string, Borrowing> {
    if (this.#stored) return this.#stored;
    const rows = this.sql.all<Row>("SELECT * FROM borrowed ORDER BY name");
    this.#stored = new Map(rows.map((row) => [row.name, toStored(row)]));
    return this.#stored;
  }
}

export function borrowedView(borrowing: Borrowing): BorrowedView {
  const { name, url, scopes, seenAt, problem, by, at } = borrowing;
  return {
    name,
    url: url === "" ? null : url,
    agents: borrowing.agents.map((agent) => {
      const shown = toRoster(`${name}/${agent.id}`, borrowing, agent);
      const { id, online, line, actions } = shown;
      return { id, online, line, actions, ...(shown.newText && { new_text: true }) };
    }),
    scopes,
    reads_only: borrowing.readsOnly,
    expires_at: borrowing.expiresAt,
    seen_at: seenAt,
    problem,
    by,
    at,
  };
}

function toRoster(id: string, { seenAt, problem }: Borrowing, agent: BorrowedAgent): RosterAgent {
  const actions = namesByUse(agent.actions);
  const isOnline = agent.online && problem === null;
  return {
    id,
    line: agent.line,
    actions,
    queues: [],
    hasModel: agent.takes_queries,
    foreign: false,
    ...(newText({ id: agent.id, line: agent.line, actions }, agent.accepted) && { newText: true }),
    online: isOnline,
    reason: isOnline ? undefined : (problem ?? undefined),
    lastSeen: isOnline ? seenAt : null,
  };
}

/** The lender's words are bounded like those of a device. */
function read(agent: LentAgents["agents"][number]): LentAgents["agents"][number] {
  return { ...agent, line: oneLine(agent.line, LINE_MAX) };
}

function acceptAll({ line, actions }: { line: string; actions: ActionAdvert[] }, before = NOTHING_ACCEPTED) {
  const words = { line: oneLine(line, LINE_MAX), actions: actions.map(({ name }) => name) };
  return accept(words, before);
}

function termsOf({ scopes, reads_only, expires_at }: LentAgents) {
  return { scopes, readsOnly: reads_only, expiresAt: expires_at };
}

function toStored(row: Row): Borrowing {
  return {
    name: row.name,
    grant: row.grant_id,
    url: row.url,
    home: row.home,
    lenderKey: row.lender_key,
    readsOnly: row.reads_only === 1,
    scopes: JSON.parse(row.scopes) as GrantScope[],
    expiresAt: row.expires_at,
    agents: JSON.parse(row.agents) as BorrowedAgent[],
    seenAt: row.seen_at,
    problem: row.problem,
    by: row.by,
    at: row.at,
  };
}

export const borrowingsOf = slot(({ ctx }) => new BorrowingStore(ctx.storage));
