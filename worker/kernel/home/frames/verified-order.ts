/**
 * Verifies messages of agents in the order in which they came. Verifying takes time, and a later message must not overtake: the
 * counters of events have to rise, and an agent's last state counts.
 */

import { logInfo } from "../../log.ts";
import { keysOf } from "../agents/agent-keys.ts";
import type { HomeContext } from "../context.ts";
import { slot } from "../slot.ts";

type SignedKind = "events" | "reports";

/** Runs one after the other. */
class InOrder {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(verify: () => Promise<T>): Promise<T> {
    const verified = this.#last.then(verify);
    this.#last = verified.catch(() => {});
    return verified;
  }
}

const orderOf = slot(() => new InOrder());

/**
 * Runs it after everything of this home that came before.
 * @throws what `verify` throws
 */
export function inOrder<T>(home: HomeContext, verify: () => Promise<T>): Promise<T> {
  return orderOf(home).run(verify);
}

/**
 * Verifies in order that the agent sent this about that call. An agent without a key is trusted as it is.
 * @param named the call that the signed text names: the frame around it is the bridge's word
 */
export function verifyMessage(
  home: HomeContext,
  kind: SignedKind,
  { id, agent, payload }: { id: string; agent: string; payload: string },
  named: () => string | undefined,
): Promise<boolean> {
  return inOrder(home, async () => {
    if (keysOf(home).standing(agent) === "none") return true;
    const verified = await keysOf(home).verify(agent, kind, payload);
    const why = verified.ok ? misplaced(home, agent, kind, named() === id, verified.n) : verified.why;
    if (why !== undefined) logInfo("agent.not_verified", { agent, kind, why });
    return why === undefined;
  });
}

/** A report is bound to its call, and the bridge may bring it late. Only the counters of events have to rise. */
function misplaced(home: HomeContext, agent: string, kind: SignedKind, isNamed: boolean, n: number) {
  if (!isNamed) return "it names another call";
  return kind === "reports" || keysOf(home).acceptEvent(agent, n) ? undefined : "it was said before";
}
