/** The end of a call: settled once, and handed to its conversation by name, again (for two days) until that has it. */

import type { SettledOutcome } from "../../api/calls.ts";
import type { Plan } from "../../api/plan.ts";
import { conversationOf } from "../../api/stubs.ts";
import type { Env } from "../../env.ts";
import { logError, logInfo } from "../../log.ts";
import { foreignLine, NOBODY } from "../audit/audit-lines.ts";
import type { HomeContext } from "../context.ts";
import type { Tallies } from "../usage/tallies.ts";
import { JOB, KEEP_SETTLED_MS, type Ledger, type LedgerCall } from "./ledger.ts";
import { Tries } from "./tries.ts";

export class Handover {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #ledger: Ledger;
  readonly #record: Pick<HomeContext, "agents" | "audit" | "questions">;
  readonly #tallies: Tallies;
  readonly #arm: () => Promise<void>;
  readonly #tries = new Tries();
  #plan: () => Plan | undefined = () => undefined;

  /** @param arm sets Home's alarm anew: there is something to hand over later */
  constructor(home: Omit<HomeContext, "bridge">, arm: () => Promise<void>) {
    this.#ctx = home.ctx;
    this.#env = home.env;
    this.#ledger = home.ledger;
    this.#record = home;
    this.#tallies = home.tallies;
    this.#arm = arm;
  }

  /** What a conversation is told with a result, for the model call that follows. */
  planWith(plan: () => Plan): void {
    this.#plan = plan;
  }

  /**
   * Settles a call by its report: first with its conversation, then in the row. A crash between the two leaves the
   * call open, its report unacknowledged and so sent again, and the conversation recognises it.
   * @returns false when something else settled it meanwhile
   */
  async settle(call: LedgerCall, outcome: SettledOutcome): Promise<boolean> {
    const handedOver = await this.#handOver(call, outcome);
    const now = Date.now();
    if (!this.#ledger.settle(call.id, outcome, handedOver, now)) return false;
    this.ended(call, outcome, now);
    this.#tellWaiting(call, outcome);
    if (!handedOver) await this.#arm();
    return true;
  }

  /**
   * Settles a call by Home's own word, which nothing brings a second time: first in the row, so that after a crash
   * the call is not sent to a device that would run what was said not to have been run; then with its conversation.
   * @returns false when something else settled it before
   */
  async conclude(call: LedgerCall, outcome: SettledOutcome): Promise<boolean> {
    const now = Date.now();
    if (!this.#ledger.settle(call.id, outcome, call.conversation === null, now)) return false;
    this.ended(call, outcome, now);
    this.#tellWaiting(call, outcome);
    if (call.conversation === null) return true;
    // Should this object be stopped in the next line, its alarm hands it over.
    this.#tries.failed(call.id, now, now);
    await this.#arm();
    await this.#redeliver({ ...call, settledAt: now }, outcome);
    return true;
  }

  /** A report that comes after the call was given up: the truth, late. */
  async settleLate(call: LedgerCall, outcome: SettledOutcome): Promise<void> {
    const replaced = this.#ledger.replace(call.id, outcome, Date.now());
    if (!replaced) return;
    this.#note(call, outcome);
    await this.#redeliver(replaced, outcome);
  }

  /** A call was settled, this once: for the record, the log, and the counts, which only rise. */
  ended(call: LedgerCall, outcome: SettledOutcome, now: number): void {
    this.#note(call, outcome);
    if (call.agent === NOBODY) return;
    this.#tallies.settled(call, outcome, now);
    const { status, errorType } = outcome;
    const ms = now - call.createdAt;
    logInfo("call.settled", { call: call.id, agent: call.agent, status, errorType, ms });
  }

  /** Agents of ours keep a record of what they were sent, and bring it. What comes late takes the place of what was known. */
  #note(call: LedgerCall, outcome: SettledOutcome): void {
    const { agents, audit, questions } = this.#record;
    if (call.agent === NOBODY) return;
    // A job is the agent's own work, which is never sent.
    const isTheirs = call.sends > 0 || call.command === JOB;
    if (isTheirs && agents.features(call.agent).length > 0) return;
    audit.add(call.agent, call.id, [foreignLine(call, outcome, questions.decidedOf(call.id))]);
  }

  /** Hands over what could not be handed over before, when it is due. */
  async again(now: number): Promise<void> {
    for (const call of this.#ledger.undelivered()) {
      if ((call.settledAt ?? 0) + KEEP_SETTLED_MS <= now) this.#giveUp(call);
      else if (call.outcome && this.#tries.dueAt(call.id) <= now) await this.#redeliver(call, call.outcome);
    }
  }

  /** Hands these over at the next look, however often it failed. */
  due(ids: readonly string[]): void {
    for (const id of ids) this.#tries.over(id);
  }

  /** When that is due next, epoch ms. */
  nextDue(): number | undefined {
    return this.#tries.nextOf(this.#ledger.undelivered().map(({ id }) => id));
  }

  /** The conversation asks for what it still waits for by itself, so that nobody is left without an answer. */
  #giveUp({ id, conversation, outcome }: LedgerCall): void {
    logError("call.undeliverable", new Error("its conversation did not take it"), { call: id, conversation });
    this.#ledger.delivered(id, outcome);
    this.#tries.over(id);
  }

  #tellWaiting({ id }: LedgerCall, outcome: SettledOutcome): void {
    for (const socket of this.#ctx.getWebSockets(id)) tellOutcome(socket, outcome);
  }

  async #redeliver(call: LedgerCall, outcome: SettledOutcome): Promise<void> {
    if (await this.#handOver(call, outcome)) {
      this.#ledger.delivered(call.id, outcome);
      this.#tries.over(call.id);
    } else await this.#arm();
  }

  #mayBeginTurn({ agent, command, flags }: LedgerCall): boolean {
    if (command !== JOB && flags.queued !== true) return false;
    if (this.#ledger.turnsBegunBy(agent, Date.now() - HOUR_MS) < TURNS_AN_HOUR) return true;
    logInfo("turn.not_begun", { agent, why: `${TURNS_AN_HOUR} an hour` });
    return false;
  }

  /** @returns whether the conversation has it; a command from the API has none */
  async #handOver(call: LedgerCall, outcome: SettledOutcome): Promise<boolean> {
    if (call.conversation === null) return true;
    try {
      const stub = conversationOf(this.#env, call.conversation);
      if (call.lateFor === null) await stub.settle(call.id, outcome, this.#plan());
      else await stub.late(call.lateFor, call.id, outcome, this.#mayBeginTurn(call));
      return true;
    } catch (error) {
      logError("call.deliver_failed", error, { call: call.id });
      const now = Date.now();
      this.#tries.failed(call.id, call.settledAt ?? now, now);
      return false;
    }
  }
}

/** A job's result begins a turn, so often an hour and device; another one is told to the model with the next question. */
const TURNS_AN_HOUR = 20;
const HOUR_MS = 3_600_000;

export function tellOutcome(socket: WebSocket, outcome: SettledOutcome): void {
  try {
    socket.send(JSON.stringify(outcome));
    socket.close(1000, "done");
  } catch {
    // The waiting room closed a moment ago; the outcome stands in its row.
  }
}
