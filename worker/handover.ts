/** The end of a call: settled once, and handed to its conversation by name, again until that has it. */
import type { Env } from "./env.ts";
import type { Plan } from "./home.ts";
import type { HomeContext } from "./home-context.ts";
import { JOB, type Ledger, type LedgerCall, type SettledOutcome } from "./ledger.ts";
import { logError } from "./log.ts";
import { conversationOf } from "./objects.ts";

/** A conversation that could not take an outcome gets it again after this. */
const REDELIVER_AFTER_MS = 2_000;

export class Handover {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #ledger: Ledger;
  readonly #arm: () => Promise<void>;
  #plan: () => Plan | undefined = () => undefined;

  /** @param arm sets Home's alarm anew: there is something to hand over later */
  constructor(home: Pick<HomeContext, "ctx" | "env" | "ledger">, arm: () => Promise<void>) {
    this.#ctx = home.ctx;
    this.#env = home.env;
    this.#ledger = home.ledger;
    this.#arm = arm;
  }

  /** What a conversation is told with a result, for the model call that follows. */
  planWith(plan: () => Plan): void {
    this.#plan = plan;
  }

  /**
   * Settles a call: first with its conversation, then in the row. A crash between the two leaves the call open,
   * its report unacknowledged and so sent again, and the conversation recognises it.
   * @returns false when something else settled it meanwhile
   */
  async settle(call: LedgerCall, outcome: SettledOutcome): Promise<boolean> {
    const handedOver = await this.#handOver(call, outcome);
    if (!this.#ledger.settle(call.id, outcome, handedOver, Date.now())) return false;
    for (const socket of this.#ctx.getWebSockets(call.id)) tellOutcome(socket, outcome);
    if (!handedOver) await this.#arm();
    return true;
  }

  /** A report that comes after the call was given up: the truth, late. */
  async settleLate(call: LedgerCall, outcome: SettledOutcome): Promise<void> {
    if (!this.#ledger.replace(call.id, outcome, Date.now())) return;
    await this.#redeliver({ ...call, lateFor: call.lateFor ?? call.id }, outcome);
  }

  /** Hands over what could not be handed over before. */
  async again(): Promise<void> {
    for (const call of this.#ledger.undelivered()) {
      if (call.outcome) await this.#redeliver(call, call.outcome);
    }
  }

  /** When that is due next, epoch ms. */
  nextDue(now: number): number | undefined {
    return this.#ledger.undelivered().length > 0 ? now + REDELIVER_AFTER_MS : undefined;
  }

  async #redeliver(call: LedgerCall, outcome: SettledOutcome): Promise<void> {
    if (await this.#handOver(call, outcome)) this.#ledger.delivered(call.id);
    else await this.#arm();
  }

  /** @returns whether the conversation has it; a command from the API has none */
  async #handOver(call: LedgerCall, outcome: SettledOutcome): Promise<boolean> {
    if (call.conversation === null) return true;
    try {
      const stub = conversationOf(this.#env, call.conversation);
      if (call.lateFor === null) await stub.settle(call.id, outcome, this.#plan());
      else
        await stub.late(call.lateFor, call.id, outcome, call.command === JOB || call.flags.queued === true);
      return true;
    } catch (error) {
      logError("call.deliver_failed", error, { call: call.id });
      return false;
    }
  }
}

export function tellOutcome(socket: WebSocket, outcome: SettledOutcome): void {
  try {
    socket.send(JSON.stringify(outcome));
    socket.close(1000, "done");
  } catch {
    // The waiting room closed a moment ago; the outcome stands in its row.
  }
}
