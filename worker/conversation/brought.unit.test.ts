import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { expect, test } from "vitest";
import { aligned } from "./aligned.ts";
import { type BroughtEntry, saysSame, sourcesFor } from "./brought.ts";
import type { Transcript } from "./transcript.ts";
import type { Turn } from "./transcript-rows.ts";

const turn = { n: 1, answer: "It is 7 %." } as Turn;
// SAFETY: all that `saysSame` asks of it.
const transcript = { entriesOf: () => [] as unknown[] } as unknown as Transcript;

test("G7 an answer is known with the names of its pictures below it", () => {
  for (const text of ["It is 7 %.", "It is 7 %.\n\n[a.png]\n[b.png] [c d]", " It is\n7 %. [a[b]"])
    expect(saysSame(transcript, turn, text)).toBe(true);
  for (const text of ["It is 8 %.", "It is 7 %. [a]b"]) expect(saysSame(transcript, turn, text)).toBe(false);
});

test.each([" ", "[", "]", "[]", "[ ", "\n", "a "])(
  "G7 100,000 times %j in a client's history takes no time",
  (part) => {
    const before = performance.now();
    for (const end of ["", "x", "]"]) saysSame(transcript, turn, part.repeat(100_000) + end);
    expect(performance.now() - before).toBeLessThan(1_000);
  },
);

/** A chat of so many exchanges, of which the client sends all each time. @param named the gateway keeps the chat as well */
function longChat(length: number, named: boolean) {
  const history: BroughtEntry[] = [];
  const turns: Turn[] = [];
  const entries = new Map<number, unknown[]>();
  let compared = 0;
  for (let n = 1; n <= length; n += 1) {
    const brought = named ? {} : { brought: { history: [...history] } };
    // SAFETY: all that is asked of them.
    turns.push({
      n,
      id: `t${n}`,
      answer: `answer ${n}`,
      status: "done",
      origin: brought,
      sources: [],
    } as never);
    entries.set(n, [
      { role: "user", text: `question ${n}` },
      { role: "assistant", text: `answer ${n}`, calls: [] },
    ]);
    history.push({ role: "user", text: `question ${n}` }, { role: "assistant", text: `answer ${n}` });
  }
  const transcript = {
    turns: () => [...turns],
    turnAt: (n: number) => turns[n - 1],
    turn: (id: string) => turns[Number(id.slice(1)) - 1],
    entriesOf: (n: number) => {
      compared += 1;
      return entries.get(n) ?? [];
    },
    sourcesOf: ({ n }: Turn) => (n === 2 ? ["agent:pi"] : []),
    sourcesUpTo: () => [],
  } as unknown as Transcript;
  return { transcript, history, last: turns.at(-1) as Turn, compared: () => compared };
}

test("G7 what a chat without a name costs grows with its length, not with its cube", () => {
  const read = (length: number) => {
    const { transcript, last, compared } = longChat(length, false);
    expect(sourcesFor(transcript, last)).toEqual(["agent:pi"]);
    return compared();
  };
  expect(read(400) / read(200)).toBeLessThan(2.5);
});

test("G7 what a named chat costs that its client sends whole grows with its length", () => {
  const read = (length: number) => {
    const { transcript, history, compared } = longChat(length, true);
    expect(aligned(transcript, { history }, true)).toEqual({});
    return compared();
  };
  expect(read(400) / read(200)).toBeLessThan(2.5);
});

test("S5 of a chat's words that no turn of ours said, nothing is known", () => {
  const { transcript, last, history } = longChat(3, false);
  const brought = { history: [...history.slice(0, 2), { role: "assistant", text: "answer 9" }] };
  const turn = { ...last, origin: { ...last.origin, brought } } as Turn;
  expect(sourcesFor(transcript, turn)).toEqual([STRANGER]);
  // A turn does not know what was said after it.
  const own = { history: [{ role: "assistant" as const, text: "answer 3" }] };
  expect(sourcesFor(transcript, { ...last, origin: { ...last.origin, brought: own } })).toEqual([STRANGER]);
});
