/**
 * Code that reads a stranger's or a model's text takes time in proportion to its length: sixteen times the text must
 * take far less than 256 times as long.
 */

import { errorDetail } from "@edgecall/core/loop/error-detail.ts";
import { readArguments } from "@edgecall/core/loop/reply.ts";
import { errorOfStatus } from "@edgecall/core/loop/retry.ts";
import { ServerEvents } from "@edgecall/core/loop/server-events.ts";
import { ShownText } from "@edgecall/core/loop/shown-text.ts";
import { HeldText, writtenCall } from "@edgecall/core/loop/written-calls.ts";
import { htmlToMarkdown } from "@edgecall/core/web/html-markdown.ts";
import { visible } from "@edgecall/core/web/page-text.ts";
import { describe, expect, test } from "vitest";
import { plainText } from "./output/captured-output.ts";
import { truncateLine, truncateTail } from "./output/text-cut.ts";
import { journalLines } from "./tools/machine/journal.ts";
import { maskSecrets } from "./tools/machine/mask-secrets.ts";
import { judgeCommand } from "./tools/programs/exec-guard.ts";

const RULES = { root: "/home/pi/ws" };
const judge = (text: string) => judgeCommand(text, RULES);

/** Repeated beginnings without an end make a bad pattern slow. */
const UNITS = [
  "a",
  " ",
  "\n",
  "\n ",
  "\t",
  "/",
  "./",
  "..",
  "-",
  "-r ",
  "-rm ",
  "rm ",
  "rm -r ",
  "find ",
  "find x ",
  ":(){",
  ":(){|",
  ":(){ :|:& ",
  "curl ",
  "curl x|",
  "|",
  "sudo ",
  ";sudo ",
  "&",
  "systemctl -a ",
  "chmod -R ",
  "chmod -R x",
  "git push ",
  "a.a.",
  "a:/",
  "http://a",
  "://a:",
  "://a:b@",
  "token",
  "token=",
  "token ",
  "password==",
  "api_key api-key ",
  "secret = ",
  "<a on",
  "<meta ",
  "```",
  "```json ",
  ", ",
  '"',
  "\\",
  '\\"',
  "\u001b[",
  "\u001b];",
  "\u001b;a",
  "é",
  "😀",
  "\u0301",
];

const LOOKED_AT: Array<[string, (text: string) => unknown]> = [
  ["the command guard", judge],
  ["the command guard, after a program", (text) => judge(`echo ${text}`)],
  ["the command guard, before an end", (text) => judge(`${text}x`)],
  ["masking of secrets", maskSecrets],
  ["masking of secrets, after a name", (text) => maskSecrets(`token ${text}`)],
  [
    "a line of the journal",
    (text) => journalLines(JSON.stringify({ MESSAGE: text, __REALTIME_TIMESTAMP: 1 })),
  ],
  ["output of a program", plainText],
  ["the end of an output", (text) => truncateTail(text)],
  ["a long line", (text) => truncateLine(text)],
  ["arguments of a model", readArguments],
  ["arguments of a model, in a fence", (text) => readArguments(`\`\`\`json${text}x`)],
  ["text of a page", visible],
  ["a model's events, in pieces", events],
  ["a model's text, in pieces", shown],
  ["a model's text after a thought", (text) => shown(`<think>${text}`)],
  ["a model's text, where a call may begin", held],
  ["a call that a model wrote as text", (text) => writtenCall(`edge_call ${text}`, NAMES)],
  ["the words of an error", (text) => errorDetail(text)],
  ["the words of an error in JSON", (text) => errorDetail(`{"message":"${text}`)],
  ["the status of an error", (text) => errorOfStatus(500, null, text)],
  ["HTML of a page", (text) => htmlToMarkdown(text, undefined, 200_000)],
];

function events(text: string): void {
  const read = new ServerEvents();
  const PIECE = 512;
  for (let at = 0; at < text.length; at += PIECE) read.add(text.slice(at, at + PIECE));
}

const NAMES = new Set(["edge_call", "read"]);

function shown(text: string): void {
  const reply = new ShownText();
  for (let at = 0; at < text.length; at += 64) reply.add(text.slice(at, at + 64));
  reply.end();
}

function held(text: string): void {
  const reply = new HeldText(NAMES);
  for (let at = 0; at < text.length; at += 64) reply.add(text.slice(at, at + 64));
  reply.end();
}

const SMALL = 16_000;
const TIMES = 16;
/** A linear time gives 16 and a quadratic one 256; a loaded machine is in between. */
const RATIO = 64;
/** Below this, only the clock and garbage collection are measured. */
const NOTHING_MS = 100;

/** Returns milliseconds of this thread's processor time: whatever else the machine does hardly changes it. */
function bestOf(times: number, work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < times; n += 1) {
    const begun = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(begun);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}

const repeated = (unit: string, chars: number) => unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars);

describe("S14 time grows only in proportion to the text", () => {
  test.each(LOOKED_AT)("S14 %s", (_, look) => {
    const slow: string[] = [];
    for (const unit of UNITS) {
      const [small, large] = [repeated(unit, SMALL), repeated(unit, SMALL * TIMES)];
      let much = bestOf(1, () => look(large));
      if (much < NOTHING_MS) continue;
      let ratio = much / bestOf(5, () => look(small));
      // Several attempts, because the machine may have been busy; one good one is enough.
      for (let tries = 0; tries < 3 && ratio > RATIO; tries += 1) {
        much = bestOf(3, () => look(large));
        ratio = Math.min(ratio, much / bestOf(5, () => look(small)));
      }
      if (ratio > RATIO)
        slow.push(`${JSON.stringify(unit)}: ${TIMES} times the text, ${ratio.toFixed(1)} times the time`);
    }
    expect(slow).toEqual([]);
  });

  test("S14 the texts that stopped the device in 0.2.0 take no time", () => {
    expect(bestOf(3, () => judge(`${":(){".repeat(1_750)}`))).toBeLessThan(200);
    expect(bestOf(3, () => maskSecrets("token".repeat(800)))).toBeLessThan(200);
    expect(bestOf(3, () => maskSecrets("a".repeat(8_000)))).toBeLessThan(200);
  });

  test.each([
    ["login --password hunter2 x", "login --password *** x"],
    ["TOKEN=abc next", "TOKEN=*** next"],
    ["api_key = abc", "api_key = ***"],
    ["my-secret== abc", "my-secret== ***"],
    ["passwd -x", "passwd -x"],
    ["https://anna:hunter2@example.org/x", "https://anna:***@example.org/x"],
    ["https://example.org/a@b", "https://example.org/a@b"],
  ])("S14 masked as before: %s", (text, masked) => {
    expect(maskSecrets(text)).toBe(masked);
  });
});
