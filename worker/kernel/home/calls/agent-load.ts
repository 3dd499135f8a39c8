/** The load of agents, for the choice between them. In memory alone: a Home that was rebuilt begins anew. */

import type { Outcome } from "@edgecall/core/loop/history.ts";
import type { LedgerCall } from "../ledger/ledger.ts";
import { slot } from "../slot.ts";

/** Calls that an agent was given count half after this. */
const HALF_LIFE_MS = 60_000;
/** An agent that was slow gets another chance after this. */
const FORGET_MS = 120_000;
/** The weight of the newest call. */
const NEWEST = 0.3;
const TIMES_MAX = 2_000;

type Measured = { ms: number; at: number };

class AgentLoad {
  readonly #given = new Map<string, { count: number; at: number }>();
  /** By agent and what it was asked: an answer in words takes seconds, a figure milliseconds. The oldest first. */
  readonly #times = new Map<string, Measured>();

  /** The agent was chosen. */
  gave(agent: string, now: number): void {
    this.#given.set(agent, { count: this.given(agent, now) + 1, at: now });
  }

  /** Calls that it was given lately. */
  given(agent: string, now: number): number {
    const { count, at } = this.#given.get(agent) ?? { count: 0, at: now };
    return count * 0.5 ** ((now - at) / HALF_LIFE_MS);
  }

  /** Its report came. A call in which a person was waited for says nothing. */
  answered(call: LedgerCall, { status, waitedMs }: Outcome, now: number): void {
    if (status !== "success" || waitedMs !== undefined || call.sentAt === null) return;
    const key = keyOf(call.agent, kindOf(call));
    const before = this.#times.get(key);
    const newest = now - call.sentAt;
    const ms = before && now - before.at < FORGET_MS ? before.ms + NEWEST * (newest - before.ms) : newest;
    this.#times.delete(key);
    this.#times.set(key, { ms, at: now });
    const [oldest] = this.#times.keys();
    if (oldest !== undefined && this.#times.size > TIMES_MAX) this.#times.delete(oldest);
  }

  /** ms that it takes; undefined: not known. @param kind an action's name, or a command */
  timeOf(agent: string, kind: string, now: number): number | undefined {
    const measured = this.#times.get(keyOf(agent, kind));
    return measured && now - measured.at < FORGET_MS ? measured.ms : undefined;
  }
}

function kindOf({ command, payload }: LedgerCall): string {
  return command === "tool" ? String(payload.tool) : command;
}

function keyOf(agent: string, kind: string): string {
  return `${agent} ${kind}`;
}

export const loadOf = slot(() => new AgentLoad());
