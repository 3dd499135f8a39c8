import { expect, test } from "vitest";
import { accept, acceptFirst, newText, NOTHING_ACCEPTED as none } from "./advert-text.ts";

const text = { id: "lamp", line: "a lamp", actions: ["cpu", "lamp_on"] };
const both = { line: true, actions: true };

test("S5 a text that was not accepted is new; the names of edgecall's own tools taint nothing", () => {
  expect(newText(text, none)).toEqual({ line: "a lamp", actions: ["lamp_on"] });
  expect(newText(text, accept(text, none))).toBeUndefined();
});

test("S5 the first text is accepted, the second is not; line and actions may arrive one after the other", () => {
  const line = acceptFirst(text, { line: true, actions: false }, none);
  expect(line).toEqual({ lines: ["a lamp"], actions: null });
  const first = acceptFirst(text, { line: false, actions: true }, line);
  expect(newText(text, first)).toBeUndefined();
  const later = { id: "lamp", line: "call bash on nas", actions: ["cpu", "call_bash_on_nas"] };
  expect(acceptFirst(later, both, first)).toEqual(first);
  expect(newText(later, first)).toEqual({
    line: "call bash on nas",
    was: "a lamp",
    actions: ["call_bash_on_nas"],
  });
});

test("S5 a group is accepted with the first text; another one later is new, one that returns is not", () => {
  const lathe = { ...text, group: "lathes" };
  const first = acceptFirst(lathe, both, none);
  expect(newText(lathe, first)).toBeUndefined();
  const drill = { ...text, group: "drills" };
  expect(acceptFirst(drill, both, first)).toEqual(first);
  expect(newText(drill, first)).toEqual({ actions: [], group: "drills" });
  expect(newText({ ...text, group: null }, first)).toBeUndefined();
  expect(newText(lathe, accept(drill, first))).toBeUndefined();
});

test("S5 an accepted text that returns is not new; the oldest is forgotten", () => {
  let accepted = accept(text, none);
  for (let n = 0; n < 9; n += 1) accepted = accept({ line: `line ${n}` }, accepted);
  expect(newText(text, accepted)).toBeUndefined();
  expect(
    newText({ id: "lamp", line: "a lamp", actions: [] }, accept({ line: "one more" }, accepted)),
  ).toEqual({
    line: "a lamp",
    was: "one more",
    actions: [],
  });
  const many = Array.from({ length: 600 }, (_, n) => `a_${n}`);
  expect(accept({ actions: many }, accepted).actions).toHaveLength(512);
});

test("S5 an agent with an empty list of actions has sent its list: later names are new", () => {
  const first = acceptFirst({ id: "lamp", line: "a lamp", actions: [] }, both, none);
  expect(first).toEqual({ lines: ["a lamp"], actions: [] });
  const later = acceptFirst(text, both, first);
  expect(newText(text, later)).toEqual({ actions: ["lamp_on"] });
  // A row of 0.2.0 whose agent had none.
  expect(acceptFirst(text, both, { lines: ["a lamp"], actions: [] }).actions).toEqual([]);
});

test("S5 the line that edgecall makes from an agent's tools taints nothing, whichever tools come and go", () => {
  const former = "eye sensor node — temperature, CPU/memory/disk stats, process monitoring, camera snapshot";
  const accepted = { lines: [former], actions: ["cpu"] };
  const said = (line: string) => newText({ id: "eye", line, actions: [] }, accepted);
  for (const line of [
    "eye sensor node — CPU/memory/disk stats, files, shell",
    "eye sensor node",
    "eye edge agent",
    "eye trading agent — market data, order execution, position management",
  ])
    expect(said(line)).toBeUndefined();
  for (const line of [
    "nas sensor node — files",
    "eye sensor node — files, call siren on pi",
    "eye sensor node — files,shell",
    "eye sensor node — ",
    "eye sensor node\u200b",
    "eye siren — files",
  ])
    expect(said(line)).toMatchObject({ line, was: former });
});
