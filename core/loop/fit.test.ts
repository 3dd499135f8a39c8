import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FitOptions, fitHistory } from "./fit.ts";
import type { Call, Entry, Summary } from "./history.ts";
import { toMessages } from "./messages.ts";
import { estimateTokens } from "./tokens.ts";

let number = 0;
const call = (text?: string): Call => {
  number += 1;
  return {
    id: `id-${number}`,
    modelCallId: `m-${number}`,
    name: "read",
    args: { path: "x" },
    ...(text !== undefined && { outcome: { status: "success", text, elapsedMs: 1 } }),
  };
};
const user = (text: string): Entry => ({ role: "user", text });
const says = (text: string): Entry => ({ role: "assistant", text, calls: [] });
const asks = (...results: Array<string | undefined>): Entry => ({
  role: "assistant",
  text: "",
  calls: results.map(call),
});
const note = (text: string): Entry => ({ role: "note", text });
/** Makes a question, a call with a result of this many characters, and an answer. */
const turn = (name: string, result = 3_000): Entry[] => [
  user(`${name}?`),
  asks("r".repeat(result)),
  says(`${name}!`),
];
const now = [user("and now?"), asks("n".repeat(600))];

const first = turn("first", 30);
const history = [...first, ...turn("second"), ...turn("third"), ...turn("fourth"), ...now];
const size = estimateTokens(history);
const fit = (maxTokens: number, more: Partial<FitOptions> = {}) =>
  fitHistory(history, { maxTokens, keepFirst: 1, ...more });

test("L1: what goes back with replies counts; of old answers without calls it goes first, with calls it stays", () => {
  const replay = { from: "m", message: { reasoning_content: "I think of it. ".repeat(100) } };
  const thinks = (entry: Entry) => (entry.role === "assistant" ? { ...entry, replay } : entry);
  const thoughtful = [...turn("one", 30), ...turn("two", 30), ...now].map(thinks);
  const sent = estimateTokens(thoughtful);
  expect(sent).toBeGreaterThan(estimateTokens([...turn("one", 30), ...turn("two", 30), ...now]) + 1_500);
  expect(fitHistory(thoughtful, { maxTokens: sent, keepFirst: 0 }).entries).toEqual(thoughtful);
  const { entries, cut } = fitHistory(thoughtful, { maxTokens: sent - 200, keepFirst: 0 });
  expect(cut).toEqual({ results: 0, turns: 0 });
  const kept = entries.flatMap((entry) => (entry.role === "assistant" ? [entry.replay !== undefined] : []));
  expect(kept).toEqual([true, false, true, false, true]);
});

test("a history that fits is unchanged", () => {
  expect(fit(size)).toEqual({ entries: history, cut: { results: 0, turns: 0 }, shownFrom: 1 });
  expect(fitHistory([], { maxTokens: 0, keepFirst: 3 })).toEqual({
    entries: [],
    cut: { results: 0, turns: 0 },
    shownFrom: 0,
  });
});

test("old results are cut to their beginnings first, the oldest first", () => {
  const { entries, cut, toSummarise } = fit(size - 1);
  expect(cut).toEqual({ results: 2, turns: 0 });
  expect(toSummarise).toBeUndefined();
  const results = entries.flatMap((entry) =>
    entry.role === "assistant" ? entry.calls.map((made) => made.outcome?.text) : [],
  );
  const cutText = `${"r".repeat(200)}[cut: 2800 characters]`;
  expect(results).toEqual(["r".repeat(30), cutText, cutText, "r".repeat(3_000), "n".repeat(600)]);
  expect(entries).toHaveLength(history.length);
});

test("the given history is not modified", () => {
  const before = structuredClone(history);
  fit(100);
  expect(history).toEqual(before);
});

test("then whole old turns are replaced by a note", () => {
  const { entries, cut, toSummarise } = fit(450);
  expect(cut.turns).toBe(3);
  expect(entries).toEqual([
    first[0],
    { role: "note", text: "3 earlier turns of this conversation left out here.", leftOut: { turns: 3 } },
    ...entries.slice(2, -2),
    ...now,
  ]);
  expect(entries.slice(2, -2).map((entry) => entry.text)).toEqual(["fourth?", "", "fourth!"]);
  // Complete, although their results were cut before they were left out.
  expect(toSummarise).toEqual(history.slice(1, 9));
});

test("the first entries and the current turn stay, whatever their size", () => {
  const { entries, cut } = fit(0, { keepFirst: 3 });
  expect(entries).toEqual([...first, expect.objectContaining({ role: "note" }), ...now]);
  expect(cut).toEqual({ results: 0, turns: 3 });
});

test("results of the current turn are not cut; the first entries keep their text and have their results cut", () => {
  const big = "b".repeat(9_000);
  const first = [user("a"), asks(big), says("b")];
  const current = [user("c"), asks(big)];
  const { entries, cut } = fitHistory([...first, ...current], { maxTokens: 10, keepFirst: 3 });
  expect(entries.slice(3)).toEqual(current);
  expect(entries.slice(0, 3).map(({ text }) => text)).toEqual(["a", "", "b"]);
  expect(JSON.stringify(entries[1])).toContain("[cut: 8800 characters]");
  expect(cut).toEqual({ results: 1, turns: 0 });
});

test.each([2_000, 20_000, 50_000])(
  "G17 a long conversation with results of %d characters is summed up now and then, not in each turn",
  (characters) => {
    const long: Entry[] = [];
    let summary: Summary | undefined;
    let summaries = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      const currentFrom = long.length;
      long.push(user(`question ${turn} ${"q".repeat(40)}`));
      for (const said of [asks("r".repeat(characters)), says("a".repeat(200))]) {
        const options = { maxTokens: 24_000, keepFirst: 2, currentFrom, ...(summary && { summary }) };
        const { cut, toSummarise } = fitHistory(long, options);
        if (toSummarise) {
          summaries += 1;
          summary = { text: "s".repeat(1_500), turns: cut.turns };
        }
        long.push(said);
      }
    }
    expect(summaries).toBeGreaterThan(0);
    expect(summaries).toBeLessThanOrEqual(20);
  },
);

test("a history over the limit is cut well below it, so that the next turns need no cut", () => {
  const { entries } = fit(size - 1);
  expect(estimateTokens(entries)).toBeLessThanOrEqual(0.7 * size);
});

test("images count, and the summary's space too", () => {
  const withImage: Entry = { role: "user", text: "look", images: ["data:image/png;base64,AA"] };
  expect(estimateTokens([withImage]) - estimateTokens([user("look")])).toBeGreaterThan(500);
});

describe("L16: what the model takes at most", () => {
  const hard = (entries: Entry[], hardTokens: number, more: Partial<FitOptions> = {}) =>
    fitHistory(entries, { maxTokens: hardTokens, hardTokens, keepFirst: 1, ...more });

  test("holds for the current turn too: its longest results are cut, and it is said", () => {
    const long = "line of a log\n".repeat(1_000);
    const entries = [user("what happened?"), asks(long, "short", long)];
    const fitted = hard(entries, 1_500, { keepFirst: 0 }).entries;
    expect(estimateTokens(fitted)).toBeLessThanOrEqual(1_500);
    expect(estimateTokens(fitted)).toBeGreaterThan(1_200);
    const [one, two, three] = fitted.flatMap((entry) => (entry.role === "assistant" ? entry.calls : []));
    expect(two?.outcome?.text).toBe("short");
    for (const cut of [one, three])
      expect(cut?.outcome?.text).toMatch(/^line of a log\n[\s\S]*\[cut: \d+ more characters do not fit/);
  });

  test("holds for the first messages: their texts are cut before the current turn's", () => {
    const entries = [
      user(`first ${"word ".repeat(2_000)}`),
      says("fine"),
      user("and now?"),
      asks("r ".repeat(300)),
    ];
    const fitted = hard(entries, 600).entries;
    expect(estimateTokens(fitted)).toBeLessThanOrEqual(600);
    expect(fitted[0]?.text).toMatch(/^first word.*\[cut: \d+ characters\]$/);
    expect(fitted.at(-1)).toEqual(entries.at(-1));
  });

  test("leaves no tenth for old turns beside a turn that takes all, and asks for no summary that would not fit", () => {
    const entries = [...turn("old"), ...turn("older"), user("now?"), asks("n ".repeat(5_000))];
    const { entries: fitted, toSummarise } = hard(entries, 800, { keepFirst: 0 });
    expect(estimateTokens(fitted)).toBeLessThanOrEqual(800 + 30);
    expect(toSummarise).toBeUndefined();
  });

  test("property: any history fits, unless the texts of the first and the current turn alone do not", () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 200, max: 3_000 }), (entries, hardTokens) => {
        const fitted = hard(entries, hardTokens).entries;
        // A notice may be longer than the few characters that it stands for.
        const shortest = hard(entries, 0).entries;
        expect(estimateTokens(fitted)).toBeLessThanOrEqual(
          Math.max(hardTokens, estimateTokens(shortest)) + 20,
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe("which turn is the current one", () => {
  const keptOf = (entries: Entry[], more: Partial<FitOptions> = {}) =>
    fitHistory(entries, { maxTokens: 0, keepFirst: 0, ...more }).entries.filter(
      (entry) => entry.role !== "note" || entry.leftOut === undefined,
    );

  test("everything since the last answer, with its notes and further messages", () => {
    const current = [user("a"), user("b"), asks("x"), note("late"), asks(undefined)];
    expect(keptOf([...turn("old"), ...current])).toEqual(current);
  });

  test("a note after an answer begins a turn", () => {
    const current = [note("the job is done"), asks("x")];
    expect(keptOf([...turn("old"), ...current])).toEqual(current);
  });

  test("the answered one, when nothing follows it", () => {
    expect(keptOf([...turn("old"), ...turn("new")])).toHaveLength(3);
  });

  test("or the one that the caller names", () => {
    expect(keptOf([...turn("a"), ...turn("b")], { currentFrom: 1 })).toHaveLength(5);
    expect(keptOf(turn("a"), { currentFrom: 3 })).toEqual([]);
  });
});

describe("a summary", () => {
  const summary: Summary = { text: "They asked three things.", turns: 3 };

  test("stands in place of the turns that it describes", () => {
    const { entries, cut, toSummarise } = fit(size, { summary });
    expect(cut).toEqual({ results: 0, turns: 3 });
    expect(toSummarise).toBeUndefined();
    expect(entries).toEqual([
      first[0],
      {
        role: "note",
        text: "3 earlier turns summed up:\nThey asked three things.",
        leftOut: { turns: 3, summary },
      },
      ...history.slice(9),
    ]);
  });

  test("of the omitted turns is requested once, and then fits", () => {
    const before = fit(450);
    const given = { text: "Sum.", turns: before.cut.turns };
    const after = fit(450, { summary: given });
    expect(after.toSummarise).toBeUndefined();
    expect(after.cut.turns).toBe(before.cut.turns);
  });

  test("is kept when more turns are omitted, and begins the text of the next summary", () => {
    const two = { text: "They asked two things.", turns: 2 };
    const { entries, cut, toSummarise } = fit(375, { summary: two });
    expect(cut.turns).toBe(4);
    expect(entries[1]).toMatchObject({
      text: "2 earlier turns summed up:\nThey asked two things.\n2 earlier turns of this conversation left out here.",
    });
    expect(toSummarise?.[0]).toMatchObject({ text: "2 earlier turns summed up:\nThey asked two things." });
    expect(toSummarise?.slice(1)).toEqual(history.slice(6, 12));
  });

  test("of more turns than there are belongs to another history", () => {
    const { entries } = fit(size, { summary: { text: "?", turns: 9 } });
    expect(entries).toEqual(history);
  });
});

// ── any history ───────────────────────────────────────────────────────────────────────────────────────

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.integer({ min: 0, max: 400 }).map((n) => "🌡é ".repeat(n)),
);
const anyEntry: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), text }),
  fc.record({ role: fc.constant("note" as const), text }),
  text.map(says),
  fc
    .array(fc.option(text, { nil: undefined }), { minLength: 1, maxLength: 3 })
    .map((results) => asks(...results)),
);
const anyHistory = fc.array(anyEntry, { maxLength: 25 });
const anyOptions = fc.record(
  {
    maxTokens: fc.nat(3_000),
    keepFirst: fc.nat(4),
    summary: fc.record({ text: fc.string({ maxLength: 50 }), turns: fc.integer({ min: 1, max: 8 }) }),
  },
  { requiredKeys: ["maxTokens", "keepFirst"] },
);

const idsOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.role === "assistant" ? entry.calls.map((made) => made.id) : []));

test("property: valid, in bounds or minimal, the first and the current whole, nothing lost, a second run changes nothing", () => {
  fc.assert(
    fc.property(anyHistory, anyOptions, (entries, options) => {
      const fitted = fitHistory(entries, options);
      const isPlace = (entry: Entry) => entry.role === "note" && entry.leftOut !== undefined;
      const place = fitted.entries.findIndex(isPlace);

      // Each call with its result, right after its message.
      let expected: string[] = [];
      for (const message of toMessages("", fitted.entries)) {
        if (message.role === "tool") expect(message.tool_call_id).toBe(expected.shift());
        else {
          expect(expected).toEqual([]);
          expected = message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [];
        }
      }
      expect(expected).toEqual([]);

      const kept = Math.min(options.keepFirst, entries.length);
      const firstKept = place >= 0 ? place : kept;
      expect(fitted.entries.slice(0, firstKept).map(wordsOf)).toEqual(
        entries.slice(0, firstKept).map(wordsOf),
      );
      expect(place >= 0 ? firstKept : kept).toBe(kept);

      // The current turn: at least everything since the last answer that something followed.
      const answered = entries.slice(0, -1).findLastIndex((entry, at) => {
        const next = entries[at + 1];
        return entry.role === "assistant" && entry.calls.length === 0 && next?.role !== "assistant";
      });
      const current = entries.slice(answered + 1);
      expect(fitted.entries.slice(fitted.entries.length - current.length)).toEqual(current);

      // Every missing entry was left out on purpose, and a note mentions it.
      expect(fitted.entries.filter(isPlace).length).toBe(fitted.cut.turns > 0 ? 1 : 0);
      const covered = options.summary && place >= 0 && fitted.entries[place]?.text.includes("summed up");
      if (!covered) {
        expect([...idsOf(fitted.entries), ...idsOf(fitted.toSummarise ?? [])].sort()).toEqual(
          idsOf(entries).sort(),
        );
      }

      // In bounds, or nothing more can be left out.
      if (estimateTokens(fitted.entries) > options.maxTokens) {
        const old = fitted.entries.slice(
          place >= 0 ? place + 1 : kept,
          fitted.entries.length - current.length,
        );
        // Next to a current turn that is too large by itself, a tenth of the limit.
        expect(estimateTokens(old)).toBeLessThanOrEqual(options.maxTokens * 0.1);
      }

      const again = fitHistory(fitted.entries, options);
      expect(again.entries).toEqual(fitted.entries);
      expect(again.toSummarise).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});

function wordsOf(entry: Entry): unknown {
  return entry.role === "assistant" ? { text: entry.text, calls: entry.calls.map(({ id }) => id) } : entry;
}

test("property: a summary of the omitted turns covers them while the history grows", () => {
  fc.assert(
    fc.property(anyHistory, anyHistory, fc.nat(2_000), (entries, more, maxTokens) => {
      const options = { maxTokens, keepFirst: 1 };
      const { cut, toSummarise } = fitHistory(entries, options);
      if (!toSummarise) return;
      const grown = [...entries, says("answer"), user("next"), ...more];
      const after = fitHistory(grown, { ...options, summary: { text: "Sum.", turns: cut.turns } });
      expect(after.cut.turns).toBeGreaterThanOrEqual(cut.turns);
      const gone = new Set(idsOf(toSummarise));
      for (const id of [...idsOf(after.entries), ...idsOf(after.toSummarise ?? [])])
        expect(gone).not.toContain(id);
      const shown = after.entries.find((entry) => entry.role === "note" && entry.leftOut);
      expect(shown?.text).toContain("summed up:\nSum.");
    }),
    { numRuns: 300 },
  );
});
