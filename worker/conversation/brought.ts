/**
 * What a caller sends along with its words, as clients do that keep a conversation themselves (worker/openai):
 * instructions, tools of its own, and what was said before by the caller's word. It is stored in the turn's origin.
 */
import { joinSources, type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import type { ToolDefinition } from "@edgecall/core/tools/registry.ts";
import { resultOutcome, type WantedCall, withResults } from "./client-tools.ts";
import type { Transcript } from "./transcript.ts";
import type { StoredCall, StoredEntry, Turn } from "./transcript-rows.ts";

export type Brought = {
  /** Stands below the gateway's own system prompt, for this turn. */
  instructions?: string;
  /** No tools are offered. */
  tools?: false;
  /** The caller's own (client-tools.ts). */
  clientTools?: ToolDefinition[];
  wants?: WantedCall;
  /** One call at a time, of the caller's tools. */
  oneCall?: true;
  /** Results of the caller's calls in earlier turns, by their `callRef`. */
  results?: Record<string, string>;
  /** What was said before the turn, in place of our rows. Empty: nothing was. */
  history?: BroughtItem[];
  /** Instead: the id of the turn that this one goes on from, whatever was said in others. */
  after?: string;
};

/** A turn of ours that the caller has in its history as well: our rows know what the devices said. */
export type BroughtItem = BroughtEntry | { turn: string };

export type BroughtEntry = {
  role: "user" | "assistant";
  text: string;
  images?: string[];
  calls?: BroughtCall[];
};

/** A call of a caller's tool, in a reply that was not ours, or of which we have no rows. */
export type BroughtCall = {
  id: string;
  /** `id` is the `callRef` of a call that a turn of ours handed over. */
  own?: true;
  name: string;
  arguments: string;
  result?: string;
};

/** `turn` of the entries that a caller brought; ours begin with 1. */
const BROUGHT_TURN = 0;

/** Whether a turn is shown something else than all the rows before it. */
export function standsApart(transcript: Transcript, turn: Turn): boolean {
  return chainOf(transcript, turn) !== undefined;
}

/** The history that the model is shown in a turn. @param keepFirst how many of the first entries stay when the rest is summed up */
export function historyOf(transcript: Transcript, turn: Turn, keepFirst: number): StoredEntry[] {
  const chain = chainOf(transcript, turn);
  const turns = chain?.turns ?? transcript.turns().filter(({ n }) => n <= turn.n);
  const results = new Map(turns.flatMap(({ origin }) => Object.entries(origin.brought?.results ?? {})));
  if (!chain) return withResults(transcript.shownUpTo(turn.n, keepFirst), results);
  const entries = chain.items.flatMap((item) => entriesOf(transcript, item));
  return withResults(entries, results);
}

/** The turns of ours that a turn goes on from, where they are not all those before it. */
export function chainOf(
  transcript: Transcript,
  turn: Turn,
): { items: BroughtItem[]; turns: Turn[] } | undefined {
  const items: BroughtItem[] = [];
  const turns: Turn[] = [];
  let isApart = false;
  for (let at: Turn | undefined = turn; at; ) {
    items.unshift({ turn: at.id });
    turns.unshift(at);
    const brought: Brought | undefined = at.origin.brought;
    if (brought?.history) {
      items.unshift(...brought.history);
      turns.unshift(
        ...brought.history.flatMap((item) => ("turn" in item ? (transcript.turn(item.turn) ?? []) : [])),
      );
      return { items, turns };
    }
    const n: number = at.n;
    const before: Turn | undefined =
      brought?.after === undefined ? transcript.turnAt(n - 1) : transcript.turn(brought.after);
    isApart ||= brought?.after !== undefined;
    // A turn goes on from an older one only, so this comes to an end.
    at = before && before.n < n ? before : undefined;
  }
  return isApart ? { items, turns } : undefined;
}

function entriesOf(transcript: Transcript, item: BroughtItem): StoredEntry[] {
  if (!("turn" in item)) return [toEntry(item)];
  const turn = transcript.turn(item.turn);
  return turn ? transcript.entriesOf(turn.n) : [];
}

/** The sources of the texts that the model is shown in a turn: of our rows, and of what the caller brought. */
export function sourcesFor(transcript: Transcript, turn: Turn): Source[] {
  const known = new Map<number, Source[]>();
  const look = (at: Turn): Source[] => {
    const before = known.get(at.n);
    if (before) return before;
    known.set(at.n, []);
    const chain = chainOf(transcript, at);
    const turns = chain?.turns ?? transcript.turns().filter(({ n }) => n <= at.n);
    const sources = joinSources(
      ...(chain ? turns.map((one) => transcript.sourcesOf(one)) : [transcript.sourcesUpTo(at.n)]),
      // Nobody knows what a caller's tool has read.
      turns.some(({ origin }) => origin.brought?.results) ? [STRANGER] : [],
      ...(chain?.items ?? []).map((item) => ("turn" in item ? [] : entrySources(item, at))),
    );
    known.set(at.n, sources);
    return sources;
  };
  /**
   * The sources of the texts that a caller brought. Words of an assistant are ours where we have the turns in which they were said, and
   * then our rows know; of any others we know nothing.
   */
  const saidBy = sayers(transcript);
  const entrySources = ({ role, text, images, calls }: BroughtEntry, at: Turn): Source[] => {
    if (role === "user") return images?.length ? [STRANGER] : [];
    const said = saidBy(text).filter((one) => one.n < at.n);
    return calls || said.length === 0 ? [STRANGER] : joinSources(...said.map(look));
  };
  return look(turn);
}

/** True if a client has this as the answer of a turn: in a stream it was told the texts of all its steps. */
export function saysSame(transcript: Transcript, turn: Turn, text: string): boolean {
  const forms = formsOf(transcript, turn);
  return formsOfBrought(text).some((one) => forms.includes(one));
}

/** @returns a function that finds the turns that `saysSame` as a text: each turn and each text is read once, for a chat sends all of them each time */
function sayers(transcript: Transcript): (text: string) => Turn[] {
  let byForm: Map<string, Turn[]> | undefined;
  const known = new Map<string, Turn[]>();
  const index = () => {
    const all = new Map<string, Turn[]>();
    for (const turn of transcript.turns())
      for (const form of new Set(formsOf(transcript, turn))) {
        const same = all.get(form);
        if (same) same.push(turn);
        else all.set(form, [turn]);
      }
    return all;
  };
  return (text) => {
    const before = known.get(text);
    if (before) return before;
    byForm ??= index();
    const found = [...new Set(formsOfBrought(text).flatMap((form) => byForm?.get(form) ?? []))];
    known.set(text, found);
    return found;
  };
}

/** The answer, and the texts of all steps. */
function formsOf(transcript: Transcript, turn: Turn): string[] {
  const steps = transcript
    .entriesOf(turn.n)
    .flatMap((entry) => (entry.role === "assistant" ? [entry.text] : []));
  return [plain(turn.answer ?? ""), plain(steps.join("\n\n"))];
}

/** Below the answer stood what the devices brought; of these links only the names are left (openai/said.ts). */
function formsOfBrought(text: string): string[] {
  return [plain(text), plain(withoutNames(text))];
}

/** Cuts groups `[…]` from the end. By steps from the end: a regular expression takes the square of a long run of blanks. */
function withoutNames(text: string): string {
  let rest = text.trimEnd();
  while (rest.endsWith("]")) {
    let open = -1;
    for (let at = rest.length - 2; at >= 0 && rest[at] !== "]" && rest[at] !== "\n"; at -= 1)
      if (rest[at] === "[") open = at;
    if (open < 0) break;
    rest = rest.slice(0, open).trimEnd();
  }
  return rest;
}

/** Clients trim what they show, and some join its lines. */
export function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function toEntry(entry: BroughtEntry): StoredEntry {
  const common = { seq: 0, turn: BROUGHT_TURN };
  if (entry.role === "assistant")
    return { ...common, role: "assistant", text: entry.text, calls: (entry.calls ?? []).map(toCall) };
  const { role: _, calls: __, ...said } = entry;
  return { ...common, ...said, role: "user" };
}

function toCall({ id, name, arguments: raw, result }: BroughtCall): StoredCall {
  return {
    id,
    turn: BROUGHT_TURN,
    modelCallId: id,
    name,
    args: argumentsOf(raw),
    ...(result !== undefined && { outcome: resultOutcome(result) }),
    submittedAt: null,
    settledAt: null,
    settledSeq: null,
  };
}

function argumentsOf(raw: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(raw);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // A model's slip, long ago and elsewhere.
  }
  return {};
}
