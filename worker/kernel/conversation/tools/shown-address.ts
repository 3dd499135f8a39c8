/**
 * Finds out if a web address was in a conversation before a model asked for it.
 *
 * A stranger's text may ask the model to put what it knows into an address (`https://evil.example/?d=…`), and
 * whoever fetches that address has told it. An address that the person wrote, or that stood on a page or in a
 * search's results, holds nothing but what its writer knew already.
 */
import type { Entry } from "@edgecall/core/loop/history.ts";
import { ownText } from "../../api/quoted-text.ts";

/** @param brings tools whose results are the web's; a failure, or a device's word, may only repeat what was asked */
export function wasShown(address: string, history: readonly Entry[], brings: readonly string[]): boolean {
  // A text that is no address is refused by the tool, in better words.
  if (!URL.canParse(address)) return true;
  const forms = new Set([address, new URL(address).href].map(bare));
  return history.some((entry) =>
    textsOf(entry, brings).some((text) => [...forms].some((form) => holds(text, form))),
  );
}

function textsOf(entry: Entry, brings: readonly string[]): string[] {
  if (entry.role === "user") return [ownText(entry.text)];
  if (entry.role !== "assistant") return [];
  return entry.calls
    .filter(({ name, outcome }) => brings.includes(name) && outcome?.status === "success")
    .map(({ outcome }) => outcome?.text ?? "");
}

/** People leave out the scheme and the last slash; a fragment is never sent. */
function bare(address: string): string {
  return address
    .trim()
    .replace(/#.*$/s, "")
    .replace(/^https?:\/\//i, "")
    .replace(/\/$/, "")
    .toLowerCase();
}

/** Looks for the whole address: its beginning is another address, and so is a longer one. */
function holds(text: string, form: string): boolean {
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(form); at >= 0; at = lower.indexOf(form, at + 1)) {
    const before = lower[at - 1] ?? " ";
    const after = lower.slice(at + form.length, at + form.length + 2);
    if (!/[\w.@-]/.test(before) && /^\/?([^\w/%?=&~+-]|$)/.test(after) && !/^\.\w/.test(after)) return true;
  }
  return false;
}
