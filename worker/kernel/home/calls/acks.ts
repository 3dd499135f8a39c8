/**
 * Acks of reports that are stored. An agent that knows many acks at once gets them in its next call, or together after a moment.
 * An ack that is lost costs nothing: the agent sends its report again.
 */

import { ACKS_MAX, type Caller } from "@edgecall/core/protocol/mqtt.ts";
import { logError } from "../../log.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { slot } from "../slot.ts";
import { encodeNotice, GATEWAY_CALLER } from "./commands.ts";

/** An agent sends a report again after 30 s. */
const GATHER_MS = 250;

/** The acks that wait for the next call to their agent, or for a moment to pass. */
class PendingAcks {
  readonly #waiting = new Map<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param flush called once after a moment, if acks wait @returns how many of this agent wait */
  add(agent: string, id: string, flush: () => void): number {
    const ids = this.#waiting.get(agent) ?? [];
    this.#waiting.set(agent, ids);
    if (!ids.includes(id)) ids.push(id);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#waiting.size > 0) flush();
    }, GATHER_MS);
    return ids.length;
  }

  /** Takes out the acks of an agent, at most ACKS_MAX. */
  drain(agent: string): string[] {
    const ids = this.#waiting.get(agent) ?? [];
    this.#waiting.delete(agent);
    return ids;
  }

  agents(): string[] {
    return [...this.#waiting.keys()];
  }
}

export const acksOf = slot(() => new PendingAcks());

/** The report is stored: the bridge and, if it knows acks, the agent may forget it. */
export async function acknowledgeReport(
  home: HomeContext,
  id: string,
  agent: string,
  caller: Caller | undefined,
): Promise<void> {
  const now = Date.now();
  if (bridgeOf(home).has("acks", now) && agentRowsOf(home).features(agent).includes("acks")) {
    if (acksOf(home).add(agent, id, () => flushAll(home)) >= ACKS_MAX) await flush(home, agent);
    return;
  }
  const recipient = { agent, caller: caller ?? GATEWAY_CALLER };
  const payload = await encodeNotice(home, recipient, "ack", { request_id: id }, now);
  bridgeOf(home).send({ t: "ack", id, agent, ...(payload !== undefined && { payload }) }, now);
}

/** Conversations have these outcomes, which came with the reply to `submit`. */
export async function confirmOutcomes(home: HomeContext, ids: readonly string[] = []): Promise<void> {
  for (const id of ids) {
    const call = ledgerOf(home).inFlight.confirm(id);
    if (call) await acknowledgeReport(home, id, call.agent, call.caller);
  }
}

/** A report that is not verified: the bridge may forget it. The agent gets no ack. */
export function dismissReport(home: HomeContext, id: string, agent: string): void {
  bridgeOf(home).send({ t: "ack", id, agent }, Date.now());
}

function flushAll(home: HomeContext): void {
  for (const agent of acksOf(home).agents())
    flush(home, agent).catch((error: unknown) => logError("acks.failed", error, { agent }));
}

async function flush(home: HomeContext, agent: string): Promise<void> {
  const ids = acksOf(home).drain(agent);
  const now = Date.now();
  // An older bridge may have taken over meanwhile. What it does not acknowledge comes again.
  if (!bridgeOf(home).has("acks", now)) return;
  const recipient = { agent, caller: GATEWAY_CALLER };
  const payload = await encodeNotice(home, recipient, "ack", { request_ids: ids }, now);
  if (payload !== undefined) bridgeOf(home).send({ t: "acks", agent, ids, payload }, now);
}
