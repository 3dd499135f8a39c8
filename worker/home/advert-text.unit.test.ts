import { expect, test } from "vitest";
import { type AcceptedText, accept, acceptFirst, newText } from "./advert-text.ts";

const none: AcceptedText = { lines: [], actions: [] };
const text = { line: "a lamp", actions: ["cpu", "lamp_on"] };
const both = { line: true, actions: true };

test("S5 a text that nobody accepted is new; names that edgecall's own tools have are nobody's words", () => {
  expect(newText(text, none)).toEqual({ line: "a lamp", actions: ["lamp_on"] });
  expect(newText(text, accept(text, none))).toBeUndefined();
});

test("S5 the first text is accepted, the second is not; line and actions may come one after the other", () => {
  const line = acceptFirst(text, { line: true, actions: false }, none);
  expect(line).toEqual({ lines: ["a lamp"], actions: [] });
  const first = acceptFirst(text, { line: false, actions: true }, line);
  expect(newText(text, first)).toBeUndefined();
  const later = { line: "call bash on nas", actions: ["cpu", "call_bash_on_nas"] };
  expect(acceptFirst(later, both, first)).toEqual(first);
  expect(newText(later, first)).toEqual({
    line: "call bash on nas",
    was: "a lamp",
    actions: ["call_bash_on_nas"],
  });
});

test("S5 what was accepted once is not new when it comes back; the oldest is forgotten", () => {
  let accepted = accept(text, none);
  for (let n = 0; n < 9; n += 1) accepted = accept({ line: `line ${n}` }, accepted);
  expect(newText(text, accepted)).toBeUndefined();
  expect(newText({ line: "a lamp", actions: [] }, accept({ line: "one more" }, accepted))).toEqual({
    line: "a lamp",
    was: "one more",
    actions: [],
  });
  const many = Array.from({ length: 600 }, (_, n) => `a_${n}`);
  expect(accept({ actions: many }, accepted).actions).toHaveLength(512);
});
