/**
 * The progress of a call of a lent agent until its outcome: that it waits for a person of the lender, and what the device prints. The lender
 * tells it, and the borrower shows it. Nothing is stored or repeated, since the outcome has what counts.
 */

import { showProgress } from "../../../kernel/home/calls/call-watchers.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { idInConversation, type LedgerCall, ledgerOf } from "../../../kernel/home/ledger/ledger.ts";
import type { LentNews } from "../contract.ts";
import { grantsOf } from "./grant-store.ts";
import { lentNewsOf } from "./in-memory.ts";
import { requestOfHome } from "./request.ts";

/** The least time between two requests of one call. */
const GAP_MS = 1_000;
/** Characters of a device's output in one request. What came before is left out. */
const TEXT_MAX = 8_000;

/** Tells the home that asked for this call, or for the one with which its chain began, if one did. */
export function notifyBorrower(home: HomeContext, call: LedgerCall, news: LentNews): void {
  const asker = ledgerOf(home).get(idInConversation(call))?.asker;
  const grant = asker?.by === "home" ? grantsOf(home).get(asker.grant) : undefined;
  if (asker?.by !== "home" || !grant?.borrower) return;
  const other = { grant: grant.id, from: "lender", ...grant.borrower } as const;
  const lentNews = lentNewsOf(home);
  const id = asker.call;
  const before = lentNews.get(id);
  const text = `${before?.text ?? ""}${news.text ?? ""}`.slice(-TEXT_MAX);
  lentNews.set(id, { ...before, ...news, ...(text && { text }) });
  // One request at a time: what comes meanwhile goes with the next one.
  if (before) return;
  const send = async () => {
    for (let next = lentNews.get(id); next && Object.keys(next).length > 0; next = lentNews.get(id)) {
      lentNews.set(id, {});
      await requestOfHome(home, other, "progress", { id, ...next });
      await scheduler.wait(GAP_MS);
    }
    lentNews.delete(id);
  };
  home.ctx.waitUntil(send());
}

/** @param lender the borrower's name for it */
export function showNews(
  home: HomeContext,
  call: LedgerCall,
  lender: string,
  { waits_for, text }: LentNews,
): void {
  if (text !== undefined) showProgress(home, call, text);
  if (waits_for === undefined) return;
  const note = waits_for === "nothing" ? "" : `waits for ${waits_for} at ${lender}`;
  showProgress(home, call, `${note || `${lender} has answered`}\n`, { note });
}
