/** A device took back what it had confirmed: the people who were told that it is done hear of it. */
import { type Said, saidText } from "@edgecall/core/phrases/said-text.ts";
import { phrasesOf } from "../../phrases.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import type { LedgerCall } from "../ledger/ledger.ts";
import { sendNotice } from "../notices/hand-over.ts";

/** Tells it in the conversation of the call, once. A program that asked reads the other outcome instead. */
export async function tellCorrection(home: HomeContext, call: LedgerCall): Promise<void> {
  const { id, agent, conversation } = call;
  if (conversation === null) return;
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const [name = agent] = rosterOf(home).withNames([agent]);
  const parts: Said[] = [{ key: "takenBack", given: { name } }];
  const text = saidText(parts, phrasesOf(), zone, now);
  const said = { parts, labels: [], zone };
  const notice = { id: `taken-back-${id}`, text, said, rules: [], buttons: [], critical: false, at: now };
  sendNotice(home, [conversation], notice, null);
  await home.alarm.arm();
}
