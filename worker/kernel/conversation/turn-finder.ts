/**
 * Finds our turns by the words in a client's history. A finder lives for one request: it reads the texts of all turns once, at
 * the first question, and holds only those that are in the client's history too.
 */
import { recordsOf } from "@edgecall/core/loop/run.ts";
import { earlierText } from "../api/earlier.ts";
import { linkNames } from "../api/media.ts";
import type { ClientHistoryItem } from "../api/turns.ts";
import { shownCall, type Turn } from "./store/rows.ts";
import type { Transcript } from "./store/transcript.ts";
import { earlierOf } from "./turn-view.ts";

type Found = { byAnswer: Map<string, Turn[]>; byText: Map<string, Turn[]> };

export class TurnFinder {
  readonly #transcript: Transcript;
  readonly #history: readonly ClientHistoryItem[];
  #found: Found | undefined;
  readonly #answering = new Map<string, ReadonlySet<Turn>>();
  readonly #linkNames = new Map<number, ReadonlySet<string>>();
  #byResult: Map<string, Turn[]> | undefined;

  constructor(transcript: Transcript, history: readonly ClientHistoryItem[] = []) {
    this.#transcript = transcript;
    this.#history = history;
  }

  /** The turns that a client knows by this answer, one of those in the history; the oldest first. */
  answering(text: string): ReadonlySet<Turn> {
    const known = this.#answering.get(text);
    if (known) return known;
    const { byAnswer } = this.#all();
    const turns = [...(byAnswer.get(plain(text)) ?? [])];
    const { words, names } = withoutNames(text);
    if (names.length > 0) turns.push(...this.#linking(byAnswer.get(plain(words)) ?? [], names));
    const found = new Set(turns.sort((a, b) => a.n - b.n));
    this.#answering.set(text, found);
    return found;
  }

  /** Selects the turns whose calls returned every named file. Any other name is the client's own text. */
  #linking(turns: readonly Turn[], names: readonly string[]): Turn[] {
    const shown = turns.flatMap(({ n, carries = [] }) => [n, ...carries]);
    const unread = shown.filter((n) => !this.#linkNames.has(n));
    for (const [n, entries] of unread.length > 0 ? this.#transcript.entriesOfAll(unread) : [])
      this.#linkNames.set(n, new Set(recordsOf(entries).flatMap((call) => linkNames(shownCall(call)))));
    return turns.filter(({ n, carries = [] }) =>
      names.every((name) => [n, ...carries].some((one) => this.#linkNames.get(one)?.has(name))),
    );
  }

  /** The turns in which a person said this, which stands between two answers of the history; the oldest first. */
  asking(words: string): Turn[] {
    return this.#all().byText.get(plain(words)) ?? [];
  }

  /** The turns that took the result of a call of the client's tool. */
  taking(ref: string): Turn[] {
    if (!this.#byResult) {
      this.#byResult = new Map();
      for (const turn of this.#transcript.turns())
        for (const one of turn.origin.brought?.results ?? [])
          this.#byResult.set(one, [...(this.#byResult.get(one) ?? []), turn]);
    }
    return this.#byResult.get(ref) ?? [];
  }

  #all(): Found {
    this.#found ??= this.#read();
    return this.#found;
  }

  #read(): Found {
    const byAnswer = new Map<string, Turn[]>();
    const byText = new Map<string, Turn[]>();
    for (const item of this.#history)
      if (!("turn" in item) && item.role === "assistant")
        for (const form of formsOfBrought(item.text)) byAnswer.set(form, []);
    for (const words of askedIn(this.#history)) byText.set(plain(words), []);
    for (const { turn: n, words, steps } of this.#transcript.texts()) {
      const turn = this.#transcript.turnAt(n);
      if (!turn) continue;
      if (words !== undefined) byText.get(plain(words))?.push(turn);
      const earlier = earlierText(earlierOf(this.#transcript, turn).earlier);
      for (const form of formsOf(turn, steps, earlier)) byAnswer.get(form)?.push(turn);
    }
    for (const turns of byText.values()) turns.sort((a, b) => a.n - b.n);
    return { byAnswer, byText };
  }
}

/** The person's words between two answers, as one text each. */
function askedIn(history: readonly ClientHistoryItem[]): string[] {
  const all: string[] = [];
  let asked: string[] = [];
  for (const item of history) {
    if (!("turn" in item) && item.role === "user") asked.push(item.text);
    else {
      all.push(joined(asked));
      asked = [];
    }
  }
  return all;
}

/** Several messages of a person as one. */
export function joined(texts: readonly string[]): string {
  return texts.join("\n\n");
}

/** The answer, and the texts of all steps; or the first of them, with what the client was told in place of the rest. */
function formsOf({ answer, meanwhile }: Turn, steps: readonly string[], earlier: string): Set<string> {
  const all = [answer ?? "", joined(steps)].map((text) => plain(joined([text, earlier])));
  const told = meanwhile
    ? [...steps.keys(), steps.length].map((count) => [...steps.slice(0, count), meanwhile.text])
    : [];
  return new Set([...all, ...told.map((texts) => plain(joined(texts)))]);
}

/** Below the answer stood links to what the devices brought; only their names are left (features/openai/client-messages.ts). */
function formsOfBrought(text: string): string[] {
  return [plain(text), plain(withoutNames(text).words)];
}

/** Cuts groups `[…]` from the end. By steps from the end: a regular expression takes the square of a long run of blanks. */
function withoutNames(text: string): { words: string; names: string[] } {
  const names: string[] = [];
  let words = text.trimEnd();
  while (words.endsWith("]")) {
    let open = -1;
    for (let at = words.length - 2; at >= 0 && words[at] !== "]" && words[at] !== "\n"; at -= 1)
      if (words[at] === "[") open = at;
    if (open < 0) break;
    names.push(words.slice(open + 1, -1));
    words = words.slice(0, open).trimEnd();
  }
  return { words, names };
}

/** Clients trim what they show, and some join its lines. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
