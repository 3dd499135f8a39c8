import { expect, test } from "vitest";
import { ProgramLog } from "./program-log.ts";

/** The terminal's sign that the line is begun anew. */
const CLEARED = "\r\u001b[K";

function terminal(isTTY = true) {
  const written: string[] = [];
  const shownOf = (line: string) => line.split(CLEARED).at(-1) ?? "";
  return {
    sink: { isTTY, write: (text: string) => void written.push(text) },
    /** A person sees this: a line that is cleared is gone. */
    seen: () => written.join("").split("\n").map(shownOf).join("\n"),
  };
}

test("a question stays the last line, whatever programs say meanwhile", async () => {
  const { sink, seen } = terminal();
  const log = new ProgramLog(false, sink);
  log.say("bridge", "connected");
  let answer = (_: string) => {};
  const answered = log.below("\nUse it here? [Y/n] ", new Promise<string>((resolve) => (answer = resolve)));
  sink.write("\nUse it here? [Y/n] ");
  log.say("gateway", "one");
  log.say("agent", "two");
  expect(seen()).toBe("[bridge] connected\n\n[gateway] one\n[agent] two\nUse it here? [Y/n] ");
  answer("y");
  expect(await answered).toBe("y");
  sink.write("\n");
  log.say("gateway", "three");
  expect(seen()).toMatch(/Use it here\? \[Y\/n\] \n\[gateway\] three\n$/);
});

test("a log that is no terminal has its lines alone", async () => {
  const { sink, seen } = terminal(false);
  const log = new ProgramLog(false, sink);
  let answer = () => {};
  const answered = log.below("Use it here? ", new Promise<void>((resolve) => (answer = resolve)));
  log.say("gateway", "one");
  answer();
  await answered;
  expect(seen()).toBe("[gateway] one\n");
});

test("with `--ask` the last lines are shown when there is no answer", () => {
  const { sink, seen } = terminal();
  const log = new ProgramLog(true, sink);
  for (let line = 0; line < 60; line += 1) log.say("gateway", String(line));
  expect(seen()).toBe("");
  log.show();
  expect(seen().split("\n").slice(0, 2)).toEqual(["[gateway] 9", "[gateway] 10"]);
  log.say("gateway", "60");
  expect(seen()).toMatch(/\[gateway\] 59\n\[gateway\] 60\n$/);
});
