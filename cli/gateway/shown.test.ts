import { PassThrough } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { UsageError } from "../command.ts";
import { askPerson, questionText, readAnswer } from "./ask-person.ts";
import { paintFor } from "./paint.ts";
import { printable, printableLine } from "./printable.ts";
import { type Column, table } from "./table.ts";
import { ago, since, took } from "./times.ts";

const COLUMNS: Column[] = [
  { title: "AGENT" },
  { title: "CALLS", right: true },
  { title: "WHAT", gives: true },
];
const ROWS = [
  ["pi", "7", "tells the temperature of everything around it"],
  ["kitchen", "12", "温度 🙂"],
];

test("a table has its natural width in a file, and at most the terminal's width on one", () => {
  expect(table(COLUMNS, ROWS, undefined)).toBe(
    "AGENT    CALLS  WHAT\n" +
      "pi           7  tells the temperature of everything around it\n" +
      "kitchen     12  温度 🙂\n",
  );
  expect(table(COLUMNS, ROWS, 30)).toBe(
    "AGENT    CALLS  WHAT\npi           7  tells the tem…\nkitchen     12  温度 🙂\n",
  );
  // Fixed columns stay whole, and the others keep a readable width.
  expect(table(COLUMNS, ROWS, 5).split("\n")[1]).toBe("pi           7  tells t…");
});

test("colours change no width", () => {
  const red = (cell: string) => paintFor(true, {})("red", cell);
  const painted = table([{ title: "A", paint: red }, { title: "B" }], [["x", "y"]], 80);
  expect(painted).toBe("A  B\n\u001b[31mx\u001b[39m  y\n");
});

test.each([
  [false, {}],
  [true, { NO_COLOR: "1" }],
  [true, { TERM: "dumb" }],
])("no colours: terminal %s, %j", (terminal, env) => {
  expect(paintFor(terminal, env)("red", "x")).toBe("x");
});

test("no text of a device controls the terminal or starts a new line", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(printable(text)).not.toMatch(/[^\P{Cc}\t\n]|[\u202A-\u202E\u2066-\u2069]/u);
      expect(table([{ title: "X" }], [[text]], 80).split("\n")).toHaveLength(3);
    }),
  );
  expect(printable("\u001b]0;owned\u0007red")).toBe("\\u001b]0;owned\\u0007red");
  expect(printableLine("a\nb\u202Ec")).toBe("a b\\u202ec");
});

const APPROVAL = {
  ...{ id: "q", agent: "pi", text: "Run this on pi?", options: ["approve", "deny"] },
  approval: {
    tool: "bash",
    parameters: { command: "ls\nrm -rf /", timeout_ms: 5 },
    cwd: "/home/pi",
    reason: "policy\u001b[2J",
  },
};
const CHOICE = { id: "q", agent: "pi", text: "Which?", options: ["red", "blue"] };
const plain = paintFor(false, {});

test("an approval shows everything that would be run", () => {
  expect(questionText(APPROVAL, plain)).toBe(
    "\nRun this on pi?\n  command: ls\n    rm -rf /\n  timeout_ms: 5\n  in /home/pi\n  why it asks: policy\\u001b[2J\n  Contains characters that cannot be seen, shown as escapes: U+001B.\n",
  );
  const card = {
    verb: "Run",
    asker: "Marie asked, by Telegram\u202e",
    facts: [{ label: "In", text: "/home/pi" }],
    shows: ["command"],
    marks: [{ line: 1, why: "it deletes folders" }],
  };
  expect(questionText({ ...APPROVAL, approval: { ...APPROVAL.approval, card } }, plain)).toBe(
    '\nRun this on pi?\n  Marie asked, by Telegram\\u202e\n  In: /home/pi\n    ls\n    rm -rf /\n  with: {"timeout_ms":5}\n  line 2: it deletes folders\n  why it asks: policy\\u001b[2J\n  Contains characters that cannot be seen, shown as escapes: U+001B.\n',
  );
  const own = { principal: "anna", text: "You asked" };
  const said = { verb: "Unlock", asker: "anna asked", own, facts: [] };
  const unlock = { tool: "tool", parameters: { tool: "unlock", parameters: {} }, reason: "it is a lock" };
  expect(
    questionText({ ...APPROVAL, text: "Unlock Door?", approval: { ...unlock, card: said } }, plain),
  ).toBe(
    '\nUnlock Door?\n  You asked\n  exactly: {"tool":"unlock","parameters":{}}\n  why it asks: it is a lock\n',
  );
  // A rule that acts: its sentences, and nothing of what is signed, which is long.
  const rule = {
    ...{ tool: "automate", reason: "it acts by itself" },
    parameters: { automation: { id: "a-16235fac2fb1", when: "x".repeat(3_000) }, card: ["Make this rule?"] },
  };
  const lines = ["When: Leak sensor: wet", "Then: Water valve: close\u202e"];
  const asked = (more: object) => ({
    ...{ ...APPROVAL, text: "Make this rule? “Leak”" },
    approval: { ...rule, card: { ...said, verb: "Allow", lines, ...more } },
  });
  expect(questionText(asked({}), plain, false)).toBe(
    "\nMake this rule? “Leak”\n  You asked\n  When: Leak sensor: wet\n  Then: Water valve: close\\u202e\n  why it asks: it acts by itself\n",
  );
  expect(questionText(asked({ danger: true }), plain)).toContain(
    "  You asked\n  This may do harm, so it asks twice:\n  When: Leak sensor: wet\n",
  );
  expect(questionText(CHOICE, plain)).toBe("\npi asks: Which?\n  1  red\n  2  blue\n");
});

test("S2 an approval shows invisible characters as escapes, and says so", () => {
  const approval = { ...APPROVAL.approval, parameters: { "pa\u200bth": "a\u202eb", list: ["\u2066"] } };
  const words = questionText({ ...APPROVAL, approval }, plain);
  expect(words).toContain("  pa\\u200bth: a\\u202eb\n");
  expect(words).toContain('  list: ["\\u2066"]\n');
  expect(words).toContain("cannot be seen, shown as escapes: U+200B, U+202E, U+2066, U+001B.");
});

test("S3 a long approval is shown by head and tail, and can be approved after all of it was shown", async () => {
  const command = `begin\n${"middle\n".repeat(500)}end`;
  const approval = { ...APPROVAL.approval, parameters: { command } };
  const input = new PassThrough();
  const output = new PassThrough();
  const shown = textOf(output);
  const terminal = { input, output, paint: plain, onInterrupt: () => {} };
  const answer = askPerson({ ...APPROVAL, approval }, terminal, new AbortController().signal);
  for (const line of ["y", "all", "y"]) input.write(`${line}\n`);
  expect(await answer).toBe("approve");
  output.end();
  const text = await shown;
  const cut = text.slice(0, text.indexOf("show all of it"));
  expect(cut).toMatch(/begin.*… 3,\d{3} more characters ….*end/s);
  expect(cut.split("middle").length).toBeLessThan(60);
  expect(text).toContain("type 'all' first");
  expect(text.slice(cut.length).split("middle").length).toBe(501);
});

test("a rule that acts is allowed at once: its sentences say all of it", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const shown = textOf(output);
  const card = { verb: "Allow", asker: "You asked", facts: [], lines: ["When: wet", "Then: close"] };
  const approval = {
    ...{ tool: "automate", reason: "it acts by itself", card },
    parameters: { automation: "x".repeat(3_000) },
  };
  const terminal = { input, output, paint: plain, onInterrupt: () => {} };
  const answer = askPerson({ ...APPROVAL, approval }, terminal, new AbortController().signal);
  input.write("y\n");
  expect(await answer).toBe("approve");
  output.end();
  expect(await shown).toContain("  When: wet\n  Then: close\n");
});

test.each([
  [APPROVAL, "y", "approve"],
  [APPROVAL, " YES ", "approve"],
  [APPROVAL, "n", "deny"],
  [APPROVAL, "", undefined],
  [APPROVAL, "yesterday", undefined],
  [CHOICE, "2", "blue"],
  [CHOICE, "Red", "red"],
  // The gateway accepts only an option, so the terminal asks again.
  [CHOICE, "3", undefined],
  [CHOICE, "green", undefined],
  [CHOICE, " ", undefined],
])("%# an answer as it was typed", (question, typed, answer) => {
  expect(readAnswer(question, typed)).toBe(answer);
});

test("times as people read and write them", () => {
  const now = Date.parse("2026-11-22T10:00:00Z");
  expect([null, now - 5_000, now - 90_000, now - 3 * 86_400_000].map((then) => ago(then, now))).toEqual([
    ...["never", "5 s ago", "2 min ago", "3 days ago"],
  ]);
  const spans = [85, 1_240, 200_000, 7 * 3_600_000 + 720_000, 7 * 86_400_000 - 1_000];
  expect(spans.map(took)).toEqual(["85 ms", "1.2 s", "3 min 20 s", "7 h 12 min", "7 days"]);
  expect(since("15m", now).toISOString()).toBe("2026-11-22T09:45:00.000Z");
  expect(since("2026-11-01", now).toISOString()).toBe("2026-11-01T00:00:00.000Z");
  for (const wrong of ["", "5", "m", "yesterday", "1w"]) expect(() => since(wrong, now)).toThrow(UsageError);
});
