/** Commands and questions of a chat: pure functions. */
import { describe, expect, test } from "vitest";
import type { TurnQuestion } from "../../../kernel/api/answers.ts";
import { choicesOf, closedText, isTooLong, questionText } from "./question-text.ts";
import { readCommand } from "./read-command.ts";

test.each([
  ["/stop", { name: "stop", argument: "" }],
  ["!status", { name: "status", argument: "" }],
  ["/approve@my_bot ABC234 guest", { name: "approve", argument: "ABC234 guest" }],
  ["/start", { name: "help", argument: "" }],
  ["/tmp is full", undefined],
  ["please /stop", undefined],
])("'%s' as a command", (text, command) => {
  expect(readCommand(text)).toEqual(command);
});

describe("an approval in a chat", () => {
  const asks = (parameters: Record<string, unknown>): TurnQuestion => ({
    ...{ id: "q", call: "c", agent: "pi", text: "May I?", options: [], expires_at: 0 },
    approval: { tool: "bash", parameters, cwd: "/ho\u200bme", reason: "policy\u202e" },
  });

  test("S2 shows invisible characters as escapes, and says so", () => {
    const words = questionText(asks({ command: "ls \u202e#fr- mr\u2066" }));
    expect(words).toContain('"command": "ls \\u202e#fr- mr\\u2066"');
    expect(words).toContain("in /ho\\u200bme\n");
    expect(words).toContain(
      "⚠ Contains characters that cannot be seen, shown as escapes: U+202E, U+2066, U+200B.",
    );
    expect(
      questionText({ ...asks({}), approval: undefined, text: "a\u202eb", options: ["\u200bno"] } as never),
    ).toBe("**pi** asks: a\\u202eb\n\n1. \\u200bno\n\n(or /answer and a number)");
    expect(questionText(asks({ command: "ls" }))).toMatch(/^\*\*May I\?\*\*\n/);
    expect(questionText(asks({ command: "ls" }))).not.toContain(
      "⚠ Contains characters that cannot be seen, shown as escapes: U+200B, U+202E, U+2066",
    );
  });

  test("S3 that is too long shows its head, its tail and the count between, and cannot be approved there", () => {
    const long = asks({ command: `echo begin\n${"x".repeat(48_000)}\nrm -rf /` });
    const words = questionText(long, "https://edge.example");
    expect(words).toContain("echo begin");
    expect(words).toContain("rm -rf /");
    expect(words).toMatch(/… 45,0\d\d more characters …/);
    expect(words).toContain("approve it in the console; it can be denied here. https://edge.example");
    expect(words.length).toBeLessThan(4_000);
    expect(isTooLong(long)).toBe(true);
    expect(choicesOf(long)).toEqual([{ label: "Deny", data: "q:q:1", answer: "deny" }]);
    const short = asks({ command: "x".repeat(15_000) });
    expect(questionText(short)).toContain("x".repeat(15_000));
    expect(choicesOf(short).map(({ label }) => label)).toEqual(["Approve", "Deny"]);
  });

  test("offers to keep what a line says whole, and nothing that another's text or another device led to", () => {
    const offer = {
      ...{ id: "always" as const, device: "lamp", action: "set", who: [{ person: "anna" }], until: 0 },
      ...{ level: "press" as const, bounds: { brightness_pct: { from: 1, to: 100 } } },
    };
    const card = { verb: "Set", decline: "No", asker: "Anna asked", facts: [] };
    const approval = { tool: "set", parameters: {}, reason: "policy", card };
    const labels = (more: Partial<typeof offer> & { tainted?: true; chain?: true }, of = {}) =>
      choicesOf({ ...asks({}), approval: { ...approval, ...of }, offers: [{ ...offer, ...more }] }).map(
        ({ label }) => label,
      );
    expect(labels({})).toEqual(["Set", "No", "Set, always"]);
    expect(questionText({ ...asks({}), approval, offers: [offer] })).toContain(
      "to anna, until Thu 1 Jan 1970: brightness 1–100. Anything else asks.",
    );
    const own = { principal: "telegram:5", text: "You asked", name: "Anna" };
    const named = { ...approval, card: { ...card, own } };
    const held = { ...offer, who: [{ person: "telegram:5" }] };
    expect(questionText({ ...asks({}), approval: named, offers: [held] })).toContain("to Anna, until ");
    const eleven = { mode: { oneOf: Array.from({ length: 11 }, (_, n) => `m${n}`) } };
    const nine = { each: { from: 0, to: 9 }, length: 3 };
    for (const more of [
      { tainted: true as const },
      { chain: true as const },
      { level: "verified" },
      { bounds: eleven },
      { bounds: { rgb: nine } },
      { bounds: { path: { under: "/home" } } },
    ])
      expect(labels(more as never), JSON.stringify(more)).toEqual(["Set", "No"]);
    expect(labels({}, { unread: [{ agent: "pi", actions: [] }] })).not.toContain("Set, always");
  });

  test("L14: of several calls shows each with its device and arguments, or says that it is too long", () => {
    const several = (count: number, content: string): TurnQuestion => {
      const calls = Array.from({ length: count }, (_, at) => [
        `${at + 1}. write on pi`,
        { path: `f${at}`, content },
      ]);
      return {
        ...asks(Object.fromEntries(calls)),
        approval: { tool: `${count} calls`, parameters: Object.fromEntries(calls), reason: "policy" },
        members: calls.map((_, at) => ({
          id: `q${at}`,
          call: `c${at}`,
          agent: "pi",
          text: "Write a file on pi?",
        })),
      };
    };
    const words = questionText(several(60, "x\u202e"));
    expect(words).toMatch(/^\*\*May I\?\*\*\n/);
    expect(words.split("\n").filter((line) => /^\d+\. write on pi \{"path":"f\d+"/.test(line))).toHaveLength(
      60,
    );
    expect(words).toContain('60. write on pi {"path":"f59","content":"x\\u202e"}');
    expect(choicesOf(several(60, "x")).map(({ label }) => label)).toEqual(["Approve", "Deny"]);
    const long = several(60, "x".repeat(1_000));
    expect(isTooLong(long)).toBe(true);
    expect(questionText(long).length).toBeLessThan(4_000);
    expect(choicesOf(long).map(({ label }) => label)).toEqual(["Deny"]);
  });
});

test.each([
  ["slack", "slack:U1", "✖ Denied by slack:U1."],
  ["slack", "telegram:1001", "✖ Denied by Anna."],
  ["", "slack:U1", "✖ Denied by Anna."],
])("N10: where '%s' shows its own ids as names, a decision of %s says %s", (shown, by, words) => {
  const approval = { tool: "write", parameters: {}, reason: "policy" };
  const asked = { id: "q", call: "c", agent: "pi", text: "May I?", options: [], expires_at: 0, approval };
  const decided: TurnQuestion = { ...asked, answer: "deny", answered_by: by, answered_by_name: "Anna" };
  expect(closedText(decided, shown)).toBe(words);
  const { answered_by_name: _, ...nameless } = decided;
  expect(closedText(nameless, shown)).toBe(`✖ Denied by ${by}.`);
});
