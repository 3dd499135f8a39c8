/** Counts which calls of a model's reply have come, so that a question is shown as soon as nothing more is to be asked. */

import type { ReplyOfCalls } from "../../api/calls.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { questionsOf } from "../ledger/questions.ts";
import { slot } from "../slot.ts";

/** Replies whose calls are counted. More are not expected at once; those left out wait for the quiet time. */
const REPLIES_MAX = 100;

/** Calls that Home was given, by their reply. Memory: without it an approval is shown after the quiet time. */
class Replies {
  readonly #of = new Map<string, { calls: number; seen: Set<string>; coming: Set<string> }>();

  /** A call of a reply has come. @returns a function for when it is out, refused or answered */
  add(call: string, { id, calls }: ReplyOfCalls): () => void {
    const reply = this.#of.get(id) ?? { calls, seen: new Set(), coming: new Set() };
    reply.calls = calls;
    reply.seen.add(call);
    reply.coming.add(call);
    this.#of.delete(id);
    this.#of.set(id, reply);
    for (const oldest of this.#of.keys()) {
      if (this.#of.size <= REPLIES_MAX) break;
      this.#of.delete(oldest);
    }
    return () => reply.coming.delete(call);
  }

  /** True: not all calls of the reply have come, as far as is known. */
  areComing(id: string): boolean {
    const reply = this.#of.get(id);
    return reply !== undefined && reply.seen.size < reply.calls;
  }

  /** False: every call of the reply has come, and has ended or waits for a person. */
  mayAsk(id: string, home: HomeContext): boolean {
    const reply = this.#of.get(id);
    if (!reply || reply.seen.size < reply.calls) return true;
    for (const one of reply.seen) {
      const call = ledgerOf(home).get(one);
      if (!call && reply.coming.has(one)) return true;
      if (!call || call.outcome) continue;
      // An agent's own loop may ask more than once.
      const hasLoop = call.command === "prompt" && call.state !== "asking";
      if (hasLoop || questionsOf(home).openOf(one).length === 0) return true;
    }
    return false;
  }
}

/** Calls that were asked for together, for questions that list several. */
export const repliesOf = slot(() => new Replies());
