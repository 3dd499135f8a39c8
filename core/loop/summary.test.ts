import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "./history.ts";
import { summaryPrompt } from "./summary.ts";

const sourceOf = (entries: Entry[]) =>
  summaryPrompt(entries)
    .split("\n-----\n")[1]
    ?.replace(/\n-----$/, "");

test("who wrote what, which calls were made, and their results", () => {
  const entries: Entry[] = [
    { role: "note", text: "2 earlier turns summed up:\nThey asked things." },
    { role: "user", text: "How warm\nis it?", images: ["data:,"] },
    {
      role: "assistant",
      text: "",
      calls: [
        {
          id: "1",
          modelCallId: "1",
          name: "read",
          args: { pin: 4 },
          outcome: { status: "success", text: "45.6 °C", elapsedMs: 1 },
        },
        {
          id: "2",
          modelCallId: "2",
          name: "open",
          args: {},
          outcome: { status: "error", errorType: "offline", text: "Error: gone", elapsedMs: 1 },
        },
        { id: "3", modelCallId: "3", name: "shut", args: {} },
      ],
    },
    { role: "assistant", text: "It is 45.6 °C.", calls: [] },
  ];
  expect(sourceOf(entries)).toBe(
    [
      "Gateway: 2 earlier turns summed up: They asked things.",
      "User: How warm is it? [images: 1]",
      'Call: read {"pin":4} → success: 45.6 °C',
      "Call: open {} → offline: Error: gone",
      "Call: shut {} → no result, whether it ran is unknown",
      "Assistant: It is 45.6 °C.",
    ].join("\n"),
  );
});

test("of a long text, the first line and the newest lines stay, and the cut is mentioned", () => {
  const entries = Array.from(
    { length: 100 },
    (_, at): Entry => ({ role: "user", text: `${at} ${"x".repeat(1_500)}` }),
  );
  const lines = sourceOf(entries)?.split("\n") ?? [];
  expect(lines[0]).toMatch(/^User: 0 /);
  expect(lines[1]).toMatch(/^\[\d+ lines left out\]$/);
  expect(lines.at(-1)).toMatch(/^User: 99 /);
  expect(summaryPrompt(entries).length).toBeLessThan(62_000);
});

test("property: no entry can imitate another one, or end the data", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom("-", "\n", "U", "ser: ", "\u2028") }), { maxLength: 5 }),
      (texts) => {
        const entries = texts.map((text): Entry => ({ role: "user", text }));
        const lines = summaryPrompt(entries).split("\n");
        const [begin, end] = [lines.indexOf("-----"), lines.lastIndexOf("-----")];
        expect(end).toBe(lines.length - 1);
        expect(lines.slice(begin + 1, end)).toHaveLength(Math.max(1, texts.length));
        expect(lines.filter((line) => line === "-----")).toHaveLength(2);
      },
    ),
  );
});
