/**
 * Home's ledger: each call once, by its UUID, from its arrival to the delivery of its outcome. A call on its way may have no
 * row yet (in-flight.ts). Readers see both alike, and a write to such a call makes its row first.
 */

import type { Source } from "@edgecall/core/loop/taint.ts";
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { LEDGER_KEEP_MS, TAKEN_WITHIN_MS } from "@edgecall/core/protocol/names.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { type ErrorType, errorText } from "@edgecall/core/tools/errors.ts";
import { isLent } from "../../api/agent-ids.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import type { AgentCommand } from "../../api/edge-call.ts";
import type { Limits } from "../../api/turns.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";
import { CallsInFlight } from "./in-flight.ts";

/**
 * Settled calls are kept this long, so that a late repetition is recognised (the agents' ledgers keep 24 h). An outcome
 * that its conversation has not accepted by then is given up.
 */
export const KEEP_SETTLED_MS = 48 * 3_600_000;

/** `asking`: a person has to approve the call first. `waiting`: not sent yet. `taken`: the broker has it, or may have it. */
type CallState = "asking" | "waiting" | "sent" | "taken" | "settled";
type AddedState = Exclude<CallState, "settled">;

export type CallFlags = {
  /** Somebody watches, so the device sends its output as it comes. */
  watch?: boolean;
  /** The conversation holds a stranger's text, so the device asks before anything that is not a read. */
  tainted?: boolean;
  /** The texts for which it is tainted, or would be at an agent that is not open. Absent: none, or not known. */
  because?: readonly Source[];
  /** Home asked nobody, since the device asks. The call is not sent while the device cannot ask. */
  asks?: boolean;
  /** The call waits for its agent to come online. The conversation knows, and went on. */
  queued?: boolean;
  /** The line on which it was sent is dead. It is given up soon, unless the bridge comes back. */
  cut?: boolean;
  /** A job's result that came before the result of its call, which has to announce it. Until then nobody gets it. */
  early?: boolean;
  /** Of the first caller of a chain: they hold for every call that follows from this one. */
  limits?: Limits;
  /** The calls that this call's agent asked for so far. */
  delegates?: number;
  /** The agent was chosen: of what, whom the call went to before, and why this one. */
  any?: { of: string; tried: string[]; why: string };
  /** A change of a hosted device: the hash for which it was decided. */
  device?: { allow: string };
  /** Nobody is asked, since a person has approved it already: by a standing permission, or by their own press. */
  approved?: ApprovedCall;
  /** The grant of the connected program that calls. */
  program?: string;
  /** The reply of the model that asked for this call and for others: approvals of one reply are asked for together. */
  reply?: string;
  /** When the conversation's turn began, epoch ms: a person is asked once in it about the same call. Absent: no turn made the call. */
  turn?: number;
  /** Of the conversation: a person is asked in it. Absent: English. */
  language?: Language;
  /** The `traceparent` of the span that made the call. Absent: it is not traced. */
  trace?: string;
};

/** @property by the person @property at epoch ms @property how the person was known @property permission its id; absent: it was a press */
export type ApprovedCall = { by: string; at: number; how: string; permission?: string };

/**
 * The asker of a call, who gets its outcome, other than a conversation or a client's socket.
 * `agent`: an agent of this home, in the middle of its own call. `home`: another home, under a grant; `call` is its own id of
 * the call. `rule`: a rule of this home that acts, whose step it is.
 */
export type Asker =
  | { by: "agent"; agent: string; call: string }
  | { by: "home"; grant: string; call: string }
  | { by: "rule"; rule: string; version: number; name: string };

export type LedgerCall = {
  id: string;
  conversation: string | null;
  agent: string;
  command: string;
  payload: Record<string, unknown>;
  caller: Caller;
  idempotent: boolean;
  n: number;
  state: CallState;
  sentAt: number | null;
  sends: number;
  silenceMs: number;
  deadline: number;
  endsAt: number;
  outcome: SettledOutcome | undefined;
  createdAt: number;
  settledAt: number | null;
  /** The call of the conversation that has an answer already. This call's outcome replaces that answer. */
  lateFor: string | null;
  /** Null: its conversation, or a client's socket. */
  asker: Asker | null;
  flags: CallFlags;
};

type CallRow = {
  id: string;
  conversation: string | null;
  agent: string;
  command: string;
  payload: string;
  caller: string;
  idempotent: number;
  n: number;
  state: CallState;
  sent_at: number | null;
  sends: number;
  silence_ms: number;
  deadline: number;
  ends_at: number;
  outcome: string | null;
  created_at: number;
  settled_at: number | null;
  late_for: string | null;
  asker: string | null;
  flags: string;
};

export type NewCall = {
  id: string;
  conversation: string | null;
  agent: string;
  caller: Caller;
  order: AgentCommand;
  flags?: CallFlags;
  lateFor?: string;
  asker?: Asker;
};

/** Another agent for a call, with the command for it. */
export type NextAgent = {
  agent: string;
  order: AgentCommand;
  flags: { asks: boolean; any: NonNullable<CallFlags["any"]> };
};

/** The command of an agent's own work. It is waited for, never sent. */
export const JOB = "job";
/** A job that reported nothing for so long is given up. Its late report still counts. */
export const JOB_MAX_MS = 7 * 86_400_000;

// These are the terms of the indexes call_early and call_begins. SQLite uses the indexes only for exactly these terms.
const EARLY = "COALESCE(json_extract(flags, '$.early'), 0)";
const BEGINS = `(command = '${JOB}' OR COALESCE(json_extract(flags, '$.queued'), 0))`;

/** Agents of other homes, which no bridge reaches, have a slash in their ids. */
const AT_LENDER = "instr(agent, '/') > 0";
/** Nobody has to be told: a client's socket asks by itself, and so does an agent. */
const NOBODY_WAITS = "(conversation IS NULL AND COALESCE(json_extract(asker, '$.by'), '') <> 'home')";

/** True if the outcome is the agent's own result, rather than the gateway's statement that none came. */
export function hasReported({ outcome }: Pick<LedgerCall, "outcome">): boolean {
  if (outcome === undefined) return false;
  // A row of 0.2.0 has no sources. With these error types the gateway gave a call up.
  if (outcome.sources === undefined) return !GIVEN_UP.has(outcome.errorType);
  return outcome.sources.length > 0;
}
const GIVEN_UP = new Set<ErrorType | undefined>(["outcome_unknown", "timeout", "offline"]);

/**
 * True if its agent's ledger may not recognise a call any more that was sent then (epoch ms). An hour is left for clocks that
 * differ, and for the way.
 */
export function mayBeForgotten(sentAt: number, now: number): boolean {
  return now - sentAt > LEDGER_KEEP_MS - 3_600_000;
}

const REPLACEABLE: readonly ErrorType[] = ["outcome_unknown", "timeout"];

/** True of no outcome, and of one that a late outcome replaces (`Ledger.replace`). */
export function mayBeReplaced(outcome: SettledOutcome | undefined): boolean {
  return outcome === undefined || REPLACEABLE.some((type) => type === outcome.errorType);
}

/** The call by which the conversation knows this one: the call with which a chain began, or the one that has an answer already. */
export function idInConversation({ id, caller, asker, lateFor }: LedgerCall): string {
  return asker?.by === "agent" && caller.chain ? caller.chain.id : (lateFor ?? id);
}

/** Open calls and jobs of one agent. */
export const OPEN_MAX = 200;

export class Ledger extends SqlStore {
  /** Calls whose results may be beginning a turn now, with their agents. */
  readonly #beginning = new Map<string, string>();
  /** Calls without a row. */
  readonly inFlight = new CallsInFlight<LedgerCall>();
  /** False: no open call was asked for by an agent. True after each start, until the rows were looked at. */
  #mayBeDelegated = true;
  /** The same of calls to agents of other homes. */
  #mayBeAtLenders = true;
  #lastN = 0;

  /** A command's counter against replays. It rises over restarts too, since the clock does; two in one millisecond differ by one. */
  nextN(now: number): number {
    this.#lastN = Math.max(this.#lastN + 1, now);
    return this.#lastN;
  }

  get(id: string): LedgerCall | undefined {
    return this.inFlight.get(id) ?? this.#select("WHERE id = ?", id)[0];
  }

  /** True if an agent has as many open calls and jobs as it may, so that it takes no room from others. */
  isFull(agent: string): boolean {
    const { open } = this.sql.one<{ open: number }>(
      "SELECT COUNT(*) AS open FROM call WHERE state <> 'settled' AND agent = ?",
      agent,
    );
    return open + this.inFlight.list(agent).length >= OPEN_MAX;
  }

  /** Calls that are not settled, the oldest first. */
  open(agent?: string): LedgerCall[] {
    const rows =
      agent === undefined
        ? this.#select("WHERE state <> 'settled' ORDER BY n")
        : this.#select("WHERE state <> 'settled' AND agent = ? ORDER BY n", agent);
    const flights = this.inFlight.list(agent);
    return flights.length === 0 ? rows : [...rows, ...flights].sort((a, b) => a.n - b.n);
  }

  /** Open calls that agents asked for. */
  delegated(): LedgerCall[] {
    if (!this.#mayBeDelegated) return [];
    const calls = this.#select(
      `WHERE state <> 'settled' AND json_extract(asker, '$.by') = 'agent' ORDER BY n`,
    );
    this.#mayBeDelegated = calls.length > 0;
    return calls;
  }

  /** Open calls of agents that other homes lend. */
  openAtLenders(): LedgerCall[] {
    if (!this.#mayBeAtLenders) return [];
    const calls = this.#select(`WHERE state <> 'settled' AND ${AT_LENDER} ORDER BY n`);
    this.#mayBeAtLenders = calls.length > 0;
    return calls;
  }

  /** The time of the last call of another home, by grant, epoch ms. */
  usedByGrant(): Map<string, number> {
    const rows = this.sql.exec<{ of: string; at: number }>(
      `SELECT json_extract(asker, '$.grant') AS of, MAX(created_at) AS at FROM call
       WHERE json_extract(asker, '$.by') = 'home' GROUP BY of`,
    );
    return new Map(rows.toArray().map(({ of, at }) => [of, at]));
  }

  /** When the calls of a rule's step were made, in any version and firing, epoch ms. */
  begunFor(rule: string, step: number): number[] {
    return this.sql
      .all<{ at: number }>(
        "SELECT created_at AS at FROM call WHERE id > ? AND id < ? AND id LIKE ?",
        `${rule}:`,
        `${rule};`,
        `%:${step}`,
      )
      .map(({ at }) => at);
  }

  /** Open calls that the agent of this call asked for. */
  delegatedBy(call: string): LedgerCall[] {
    return this.delegated().filter(({ asker }) => asker?.by === "agent" && asker.call === call);
  }

  /** The agent of this call asks for another one. The call has a row from here on. */
  countDelegated(call: LedgerCall): void {
    const delegates = (call.flags.delegates ?? 0) + 1;
    const flight = this.inFlight.get(call.id);
    if (flight) {
      flight.flags.delegates = delegates;
      this.store(call.id);
    } else
      this.sql.exec`UPDATE call SET flags = json_set(flags, '$.delegates', ${delegates})
        WHERE id = ${call.id} AND state <> 'settled'`;
  }

  undelivered(): LedgerCall[] {
    return this.#select("WHERE state = 'settled' AND delivered = 0 ORDER BY settled_at");
  }

  /**
   * @param state `sent`: the call is sent after this write, which the platform makes durable before the frame leaves
   * @param sends how often it may have been sent, with this time
   */
  add(call: NewCall, n: number, state: AddedState, now: number, sends?: number): LedgerCall {
    const added = newLedgerCall(call, n, state, now, sends);
    if (added.asker) this.#mayBeDelegated = true;
    if (isLent(added.agent)) this.#mayBeAtLenders = true;
    this.#insert(added);
    return added;
  }

  /** The call is sent without a row. */
  launch(call: NewCall, n: number, now: number): LedgerCall {
    const launched = newLedgerCall(call, n, "sent", now);
    this.inFlight.add(launched, now);
    return launched;
  }

  /** Gives a flight its row. For any other call nothing is done. */
  store(id: string): void {
    const call = this.inFlight.get(id);
    if (!call) return;
    this.#insert(call);
    this.inFlight.remove(id);
  }

  #insert(call: LedgerCall): void {
    this.sql.insert("INTO call", {
      id: call.id,
      conversation: call.conversation,
      agent: call.agent,
      command: call.command,
      payload: JSON.stringify(call.payload),
      caller: JSON.stringify(call.caller),
      idempotent: call.idempotent ? 1 : 0,
      n: call.n,
      state: call.state,
      sent_at: call.sentAt,
      sends: call.sends,
      silence_ms: call.silenceMs,
      deadline: call.deadline,
      ends_at: call.endsAt,
      created_at: call.createdAt,
      late_for: call.lateFor,
      asker: call.asker && JSON.stringify(call.asker),
      flags: JSON.stringify(call.flags),
    });
  }

  markSent(id: string, n: number, now: number): void {
    this.store(id);
    this.sql.exec`UPDATE call SET state = 'sent', sent_at = ${now}, sends = sends + 1, n = ${n}
      WHERE id = ${id} AND state <> 'settled'`;
  }

  /**
   * The agent has certainly not run the call: another one gets it, within the time that is left.
   * @param states those in which that is certain
   * @returns undefined: it was sent again meanwhile, is over, or went elsewhere
   */
  reassign(
    { id, agent: before }: LedgerCall,
    states: readonly CallState[],
    { agent, order, flags }: NextAgent,
    n: number,
    now: number,
  ): LedgerCall | undefined {
    const silenceMs = Math.round(order.silenceMs);
    const rows = this.sql.exec<CallRow>`UPDATE call SET agent = ${agent}, command = ${order.command},
      payload = ${JSON.stringify(order.payload)}, idempotent = ${order.idempotent ? 1 : 0}, n = ${n},
      state = 'sent', sent_at = ${now}, sends = 1, silence_ms = ${silenceMs}, deadline = MIN(${now + silenceMs}, ends_at),
      flags = json_set(
        iif(${flags.asks ? 1 : 0}, json_set(flags, '$.asks', json('true')), json_remove(flags, '$.asks')),
        '$.any', json(${JSON.stringify(flags.any)}))
      WHERE id = ${id} AND agent = ${before} AND sends <= 1
        AND state IN (SELECT value FROM json_each(${JSON.stringify(states)})) RETURNING *`;
    return rows.toArray().map(toCall)[0];
  }

  /** The call did not leave this time. */
  markUnsent(id: string): void {
    this.store(id);
    this.sql.exec`UPDATE call SET state = CASE sends WHEN 1 THEN 'waiting' ELSE 'taken' END,
      sends = sends - 1 WHERE id = ${id} AND state = 'sent'`;
  }

  markWatched(id: string): void {
    const flight = this.inFlight.get(id);
    if (flight) {
      flight.flags.watch = true;
      return;
    }
    this.sql.exec("UPDATE call SET flags = json_set(flags, '$.watch', json('true')) WHERE id = ?", id);
  }

  /** Calls that were sent over the bridge and have no result yet. A job is never sent. */
  onTheWay(): LedgerCall[] {
    return this.#select(
      `WHERE state <> 'settled' AND state IN ('sent', 'taken') AND command <> '${JOB}' AND NOT ${AT_LENDER} ORDER BY n`,
    );
  }

  /** The line of a call is dead. @param until when it is given up @param canReturn unless the bridge comes back until then */
  lineLost(id: string, until: number, canReturn: boolean): void {
    this.store(id);
    this.sql.exec`UPDATE call SET deadline = MIN(deadline, ${until}), flags = iif(${canReturn ? 1 : 0},
      json_set(flags, '$.cut', json('true')), flags) WHERE id = ${id} AND state IN ('sent', 'taken')`;
  }

  /** The bridge is back: the calls of a dead line get their whole silence again. */
  lineRestored(now: number): void {
    this.sql.exec`UPDATE call SET flags = json_remove(flags, '$.cut'), deadline = MIN(${now} + silence_ms,
      ends_at) WHERE state <> 'settled' AND state IN ('sent', 'taken') AND json_extract(flags, '$.cut')`;
  }

  /** The broker has the call, or may have it. From here on only its deadline counts. */
  markAccepted(id: string): void {
    const flight = this.inFlight.get(id);
    if (flight) {
      flight.state = "taken";
      return;
    }
    this.sql.exec("UPDATE call SET state = 'taken' WHERE id = ? AND state = 'sent'", id);
  }

  /** Calls that the bridge should have taken by now. */
  unaccepted(now: number): LedgerCall[] {
    return this.#select(
      `WHERE state <> 'settled' AND state = 'sent' AND NOT ${AT_LENDER} AND sent_at <= ?`,
      now - TAKEN_WITHIN_MS,
    );
  }

  /** Calls whose deadline has passed. */
  overdue(now: number): LedgerCall[] {
    return this.#select("WHERE state <> 'settled' AND deadline <= ?", now);
  }

  /** A sign of life: the call gets its whole silence again, up to its end. */
  extend(id: string, now: number): void {
    this.store(id);
    this.sql.exec`UPDATE call SET state = 'taken', deadline = MIN(${now} + silence_ms, ends_at)
      WHERE id = ${id} AND state IN ('sent', 'taken')`;
  }

  /** The call is not due before then: a person or another agent is asked, or the agent is offline. */
  postpone(id: string, until: number, endsAt = until): void {
    this.store(id);
    this.sql.exec`UPDATE call SET deadline = ${until}, ends_at = MAX(ends_at, ${endsAt})
      WHERE id = ${id} AND state <> 'settled'`;
  }

  /** A person approved the call, and its agent is offline: it is sent when the agent comes. */
  waitForAgent(id: string, until: number): void {
    this.sql.exec`UPDATE call SET state = 'waiting', deadline = ${until}
      WHERE id = ${id} AND state = 'asking'`;
  }

  /** The call's time starts now: it was approved or answered, or its agent came. @param totalMs how long it may take in all */
  restart(id: string, totalMs: number, now: number): void {
    this.store(id);
    this.sql.exec`UPDATE call SET deadline = MIN(${now} + silence_ms, ${now + totalMs}),
      ends_at = ${now + totalMs} WHERE id = ${id} AND state <> 'settled'`;
  }

  /**
   * A late outcome replaces "unknown" or a time-out, and one that corrects a confirmed change replaces that, unless it is the same outcome
   * again, whose ack was lost.
   * @returns the call with the new outcome; undefined: it replaces nothing
   */
  replace(id: string, outcome: SettledOutcome, now: number): LedgerCall | undefined {
    // An outcome is late when it comes after an answer. While the conversation has no answer, this outcome becomes it.
    const rows = this.sql.exec<CallRow>(
      `UPDATE call SET outcome = ?, settled_at = ?, delivered = ${NOBODY_WAITS},
         late_for = iif(delivered, COALESCE(late_for, id), late_for)
       WHERE id = ? AND state = 'settled'
         AND (json_extract(outcome, '$.errorType') IN (${REPLACEABLE.map((type) => `'${type}'`).join(", ")})
           OR (? AND json_extract(outcome, '$.confirmed')))
         AND json_extract(outcome, '$.text') <> ?
       RETURNING *`,
      JSON.stringify(outcome),
      now,
      id,
      outcome.corrects ? 1 : 0,
      outcome.text,
    );
    return rows.toArray().map(toCall)[0];
  }

  /** The first outcome counts. @param delivered the conversation has it @returns false: there was another outcome before */
  settle(id: string, outcome: SettledOutcome, delivered: boolean, now: number): boolean {
    this.store(id);
    const rows = this.sql.exec`UPDATE call SET state = 'settled', outcome = ${JSON.stringify(outcome)},
      settled_at = ${now}, delivered = ${delivered ? 1 : 0} WHERE id = ${id} AND state <> 'settled'
      RETURNING id`;
    if (delivered) this.#beginning.delete(id);
    return rows.toArray().length > 0;
  }

  /** After a back-up was restored: the outcome of its open calls is unknown. A job is still waited for, since it is never sent. */
  giveUpAll(now: number): void {
    for (const { id, command, agent, conversation, asker } of this.open()) {
      if (command === JOB) continue;
      const words = errorText.outcomeUnknown(`the ${command} for agent '${agent}' (from a back-up)`);
      const outcome: SettledOutcome = {
        status: "error",
        errorType: "outcome_unknown",
        ...words,
        elapsedMs: 0,
        sources: [],
      };
      this.settle(id, outcome, asker ? asker.by === "agent" : conversation === null, now);
    }
  }

  /** The conversation has this outcome. Another one that replaced it meanwhile stays to be delivered. */
  markDelivered(id: string, outcome: SettledOutcome | undefined): void {
    const deliveredOutcome = JSON.stringify(outcome ?? null);
    this.sql.exec("UPDATE call SET delivered = 1 WHERE id = ? AND outcome = ?", id, deliveredOutcome);
    this.#beginning.delete(id);
  }

  /** When the next open call is due, epoch ms: not taken in time, silent for too long, or at its end. */
  nextDue(): number | undefined {
    const notAccepted = `state = 'sent' AND NOT ${AT_LENDER}`;
    const { due } = this.sql.one<{ due: number | null }>(
      `SELECT MIN(CASE WHEN ${notAccepted} THEN MIN(deadline, sent_at + ${TAKEN_WITHIN_MS}) ELSE deadline END) AS due
       FROM call WHERE state <> 'settled'`,
    );
    return due ?? undefined;
  }

  /** Open calls and jobs by agent. `since`: when the newest came, epoch ms. */
  openByAgent(): Map<string, { open: number; since: number }> {
    const rows = this.sql.exec<{ agent: string; open: number; since: number }>(
      "SELECT agent, COUNT(*) AS open, MAX(created_at) AS since FROM call WHERE state <> 'settled' GROUP BY agent",
    );
    const open = new Map(rows.toArray().map(({ agent, ...row }) => [agent, row]));
    for (const { agent, createdAt } of this.inFlight.list()) {
      const { open: others = 0, since = 0 } = open.get(agent) ?? {};
      open.set(agent, { open: others + 1, since: Math.max(since, createdAt) });
    }
    return open;
  }

  /** Results of jobs that wait for this call's own result to announce them. */
  earlyOf(call: string): LedgerCall[] {
    return this.#select(`WHERE ${EARLY} AND json_extract(payload, '$.call') = ?`, call);
  }

  /** The result of its call named the job, so its conversation gets the job's result. */
  markAnnounced(id: string): void {
    this.sql.exec(
      `UPDATE call SET flags = json_remove(flags, '$.early'), delivered = ${NOBODY_WAITS} WHERE id = ?`,
      id,
    );
  }

  /** @returns how many there were */
  dropEarlyOf(call: string): number {
    // A result that comes early gives its call a row.
    if (this.inFlight.get(call)) return 0;
    const where = `${EARLY} AND json_extract(payload, '$.call') = ?`;
    return this.sql.all(`DELETE FROM call WHERE ${where} RETURNING id`, call).length;
  }

  /** A result may begin a turn: it counts from now on, and by its row once that says that it was delivered. */
  beginsTurn(id: string, agent: string): void {
    this.#beginning.set(id, agent);
  }

  /** It was not delivered, and began none. */
  beganNone(id: string): void {
    this.#beginning.delete(id);
  }

  /** The number of results that began a turn since then, in an agent's conversations. @param id of a call that does not count itself */
  turnsBegunBy(agent: string, since: number, id?: string): number {
    const others = [...this.#beginning].filter(([call, by]) => by === agent && call !== id);
    return others.length + this.#turnsDelivered(agent, since);
  }

  #turnsDelivered(agent: string, since: number): number {
    return this.sql.one<{ n: number }>(
      `SELECT COUNT(*) AS n FROM call WHERE agent = ? AND state = 'settled' AND delivered = 1 AND settled_at > ?
         AND conversation IS NOT NULL AND NOT ${EARLY}
         AND ${BEGINS}`,
      agent,
      since,
    ).n;
  }

  prune(now: number): void {
    this.sql.exec`DELETE FROM call WHERE state = 'settled' AND delivered = 1
      AND settled_at < ${now - KEEP_SETTLED_MS}`;
  }

  #select(where: string, ...bindings: SqlStorageValue[]): LedgerCall[] {
    return this.sql.all<CallRow>(`SELECT * FROM call ${where}`, ...bindings).map(toCall);
  }
}

function newLedgerCall(
  { id, conversation, agent, caller, order, flags = {}, lateFor, asker }: NewCall,
  n: number,
  state: AddedState,
  now: number,
  sends = state === "sent" ? 1 : 0,
): LedgerCall {
  const silenceMs = Math.round(order.silenceMs);
  return {
    id,
    conversation,
    agent,
    command: order.command,
    payload: order.payload,
    caller,
    idempotent: order.idempotent,
    n,
    state,
    sentAt: state === "sent" ? now : null,
    sends,
    silenceMs,
    deadline: now + silenceMs,
    endsAt: now + Math.round(order.totalMs),
    outcome: undefined,
    createdAt: now,
    settledAt: null,
    lateFor: lateFor ?? null,
    asker: asker ?? null,
    flags: { ...flags },
  };
}

function toCall(row: CallRow): LedgerCall {
  return {
    id: row.id,
    conversation: row.conversation,
    agent: row.agent,
    command: row.command,
    payload: JSON.parse(row.payload) as Record<string, unknown>,
    caller: JSON.parse(row.caller) as Caller,
    idempotent: row.idempotent === 1,
    n: row.n,
    state: row.state,
    sentAt: row.sent_at,
    sends: row.sends,
    silenceMs: row.silence_ms,
    deadline: row.deadline,
    endsAt: row.ends_at,
    outcome: row.outcome === null ? undefined : (JSON.parse(row.outcome) as SettledOutcome),
    createdAt: row.created_at,
    settledAt: row.settled_at,
    lateFor: row.late_for,
    asker: row.asker === null ? null : (JSON.parse(row.asker) as Asker),
    flags: JSON.parse(row.flags) as CallFlags,
  };
}

export const ledgerOf = slot(({ ctx }) => new Ledger(ctx.storage));
