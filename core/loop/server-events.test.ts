import { expect, test } from "vitest";
import { ServerEvents } from "./server-events.ts";

/** The events of a body that arrives in pieces of so many characters. */
function eventsOf(text: string, size: number) {
  const events = new ServerEvents();
  const all = [];
  for (let at = 0; at < text.length; at += size) all.push(...events.add(text.slice(at, at + size)));
  return [...all, ...events.end()];
}

const BODY =
  ": hello\n\ndata: one\ndata:  two\n\nevent: error\nid: 7\ndata:{}\n\nevent: nothing\n\ndata\n\ndata: ü🌡\n\ndata: last";
const EVENTS = [
  { event: "", data: "one\n two" },
  { event: "error", data: "{}" },
  { event: "", data: "" },
  { event: "", data: "ü🌡" },
  { event: "", data: "last" },
];

test.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
  ["CR", "\r"],
])("events with lines that end in %s, in pieces of any size", (_, end) => {
  const text = BODY.replaceAll("\n", end);
  for (let size = 1; size <= text.length; size += 1) expect(eventsOf(text, size)).toEqual(EVENTS);
});

test("an event is there with its blank line, and its length is known before", () => {
  const events = new ServerEvents();
  const add = (text: string) => events.add(text);
  expect(add("data: a\nda")).toEqual([]);
  expect(events.length).toBe("data: ada".length);
  expect(add("ta: b\n\n")).toEqual([{ event: "", data: "a\nb" }]);
  expect(events.length).toBe(0);
});
