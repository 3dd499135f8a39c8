/**
 * Takes the record to an outside store, from Home's alarm: in the order in which it came, a page at a time, again until
 * the store has it. A line has an id of its own there, so that what comes twice is there once.
 */

import { canonicalHash } from "@edgecall/core/protocol/approval.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { logError } from "../../log.ts";
import type { Dispatcher } from "../calls/dispatcher.ts";
import type { HomeContext } from "../context.ts";
import type { AuditRecord, AuditStore } from "./audit-store.ts";
import { libsqlStore } from "./libsql.ts";

/** The alarm stands so soon while the store is asked: after a crash it is asked again. */
const LEASE_MS = 5_000;
/** The first pause after a failure is as long as lines are gathered, and then doubles. */
const LONGEST_PAUSE_MS = 3_600_000;
/** What is left then is sent by the next alarm: an invocation may make 50 requests on the free plan. */
const PAGES_AT_ONCE = 20;

/** The same for the same line, whoever asks: its key in a store. */
export async function recordId(home: string, line: AuditLine): Promise<string> {
  return await canonicalHash({ domain: "edgecall audit v1", home, line });
}

export class AuditOutlet {
  readonly #home: HomeContext;
  readonly #dispatcher: Dispatcher;
  #isSending = false;

  constructor(home: HomeContext, dispatcher: Dispatcher) {
    this.#home = home;
    this.#dispatcher = dispatcher;
    dispatcher.alsoDue(() => this.#due(Date.now()));
    home.audit.whenAdded(() => home.ctx.waitUntil(dispatcher.arm()));
  }

  /** What the alarm is for. It does not wait for the store: calls are due too. */
  tend(now: number): void {
    if (this.#isSending || (this.#due(now) ?? Number.POSITIVE_INFINITY) > now) return;
    this.#isSending = true;
    const sent = this.#send().catch((error: unknown) => logError("audit.send_failed", error));
    this.#home.ctx.waitUntil(
      sent.finally(() => {
        this.#isSending = false;
        return this.#dispatcher.arm();
      }),
    );
  }

  /** When the store is to be asked next, epoch ms; undefined: it has everything, or there is none. */
  #due(now: number): number | undefined {
    const { audit } = this.#home;
    const outlet = audit.outlet();
    const place = outlet?.get();
    const since = place && audit.waitingSince(place);
    if (!outlet || !place || since === undefined) return undefined;
    return this.#isSending ? now + LEASE_MS : Math.max(since + outlet.store.everyMs, place.retryAt);
  }

  async #send(): Promise<void> {
    const { audit, ctx } = this.#home;
    const outlet = audit.outlet();
    if (!outlet) return;
    const store = libsqlStore(outlet.store);
    for (let pages = 0, more = true; more && pages < PAGES_AT_ONCE; pages += 1) {
      const { tries, ...place } = outlet.get();
      const pause = Math.min(outlet.store.everyMs * 2 ** tries, LONGEST_PAUSE_MS);
      outlet.put({ ...place, tries: tries + 1, retryAt: Date.now() + pause });
      const page = audit.page(place.sentTo);
      more = page.more;
      const problem = await tried(store, await recordsOf(ctx.id.name ?? "", page.batches));
      const now = outlet.get();
      // Home was put back as it was meanwhile, and knows better.
      if (now.sentTo !== place.sentTo) return;
      if (problem !== null) {
        outlet.put({ ...now, problem });
        return logError("audit.unsent", new Error(problem), { tries: now.tries });
      }
      outlet.put({ ...now, sentTo: page.after, tries: 0, retryAt: 0, problem });
    }
  }
}

async function recordsOf(home: string, batches: ReadonlyArray<{ at: number; lines: AuditLine[] }>) {
  const records = batches.flatMap(({ at, lines }) =>
    lines.map(async (line) => ({ id: await recordId(home, line), home, seq: at, line })),
  );
  return await Promise.all(records);
}

async function tried(store: AuditStore, records: readonly AuditRecord[]): Promise<string | null> {
  try {
    await store.keep(records);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "it failed";
  }
}
