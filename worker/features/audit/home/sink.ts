/**
 * Sends the record to an outside store, from Home's alarm: in the order in which it came, a page at a time, again until
 * the store has it. A line has an id of its own in the store, so a line that comes twice is there once.
 */

import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { recordId } from "../../../kernel/api/audit.ts";
import type { AuditRecord, AuditSink } from "../../../kernel/home/audit/audit-sink.ts";
import { auditOf } from "../../../kernel/home/audit/audit-store.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { logError } from "../../../kernel/log.ts";
import { libsqlStore } from "./libsql.ts";

/** While the store is asked, the alarm stands so far ahead: after a crash the store is asked again. */
const LEASE_MS = 5_000;
/** The first pause after a failure is as long as lines are gathered, and then doubles. */
const LONGEST_PAUSE_MS = 3_600_000;
/** The next alarm sends the rest: an invocation may make 50 requests on the free plan. */
const PAGES_AT_ONCE = 20;

/** When the store is to be asked next, epoch ms; undefined: it has everything, or no store is set. */
export function nextDue(home: HomeContext, now: number): number | undefined {
  const audit = auditOf(home);
  const outlet = audit.sink();
  const place = outlet?.get();
  const since = place && audit.waitingSince(place);
  if (!outlet || !place || since === undefined) return undefined;
  return audit.isSending ? now + LEASE_MS : Math.max(since + outlet.store.everyMs, place.retryAt);
}

/** Does not wait for the store, since calls are due too. */
export function onAlarm(home: HomeContext, now: number): void {
  const audit = auditOf(home);
  const { ctx, alarm } = home;
  if (audit.isSending || (nextDue(home, now) ?? Number.POSITIVE_INFINITY) > now) return;
  audit.isSending = true;
  const sent = sendPages(home).catch((error: unknown) => logError("audit.send_failed", error));
  ctx.waitUntil(
    sent.finally(() => {
      audit.isSending = false;
      return alarm.arm();
    }),
  );
}

async function sendPages(home: HomeContext): Promise<void> {
  const { name } = home;
  const outlet = auditOf(home).sink();
  if (!outlet) return;
  const store = libsqlStore(outlet.store);
  for (let pages = 0, more = true; more && pages < PAGES_AT_ONCE; pages += 1) {
    const { tries, ...place } = outlet.get();
    const pause = Math.min(outlet.store.everyMs * 2 ** tries, LONGEST_PAUSE_MS);
    outlet.put({ ...place, tries: tries + 1, retryAt: Date.now() + pause });
    const page = auditOf(home).page(place.sentTo);
    more = page.more;
    const problem = await tryToKeep(store, await recordsOf(name, page.batches));
    const now = outlet.get();
    // Home was restored from a back-up meanwhile, whose place counts.
    if (now.sentTo !== place.sentTo) return;
    if (problem !== null) {
      outlet.put({ ...now, problem });
      return logError("audit.unsent", new Error(problem), { tries: now.tries });
    }
    outlet.put({ ...now, sentTo: page.after, tries: 0, retryAt: 0, problem });
  }
}

async function recordsOf(home: string, batches: ReadonlyArray<{ at: number; lines: AuditLine[] }>) {
  const records = batches.flatMap(({ at, lines }) =>
    lines.map(async (line) => ({ id: await recordId(home, line), home, seq: at, line })),
  );
  return await Promise.all(records);
}

/** @returns why it failed, in words; null: the store has the records */
async function tryToKeep(store: AuditSink, records: readonly AuditRecord[]): Promise<string | null> {
  try {
    await store.keep(records);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "it failed";
  }
}
