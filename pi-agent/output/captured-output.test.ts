import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CapturedOutput, plainText, SPILL_MAX_FILES } from "./captured-output.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgecall-output-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lines = (count: number, width = 1) =>
  Array.from({ length: count }, (_, n) => `${n}`.padEnd(width, "x")).join("\n");

test("short output is kept unchanged, and no file is made", async () => {
  const output = new CapturedOutput({ spill: { folder } });
  output.add(Buffer.from("one\ntwo"));
  expect(await output.end()).toEqual({ text: "one\ntwo", total: { lines: 2, bytes: 7 } });
  expect(readdirSync(folder)).toEqual([]);
});

test("many short lines are cut, counted correctly, and all in the file", async () => {
  const output = new CapturedOutput({ spill: { folder } });
  output.add(Buffer.from(`${lines(5_000)}\n`));
  const { text, total, spill } = await output.end();
  expect(total.lines).toBe(5_000);
  expect(text).toMatch(/^3000\n/);
  expect(text).toContain(`[Showing lines 3001-5000 of 5000. Full output: ${spill?.path}]`);
  expect(readFileSync(spill?.path ?? "", "utf8")).toBe(`${lines(5_000)}\n`);
  expect(statSync(spill?.path ?? "").mode & 0o777).toBe(0o600);
});

test("memory and file are bounded, whatever arrives", async () => {
  const output = new CapturedOutput({ spill: { folder, maxBytes: 300_000 } });
  for (let n = 0; n < 100; n += 1) output.add(Buffer.from(`${lines(100, 99)}\n`));
  const { text, total, spill } = await output.end();
  expect(total).toEqual({ lines: 10_000, bytes: 1_000_000 });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50 * 1024);
  expect(spill).toMatchObject({ bytes: 300_000, whole: false });
  expect(statSync(spill?.path ?? "").size).toBe(300_000);
  expect(text.slice(-300)).toMatch(/ of 10000 \(49\.\dKB limit\)\. The first 293\.0KB of it: /);
});

test("of one endless line the end is shown", async () => {
  const output = new CapturedOutput();
  output.add(Buffer.from("é".repeat(200_000)));
  const { text } = await output.end();
  expect(text).not.toContain("\ufffd");
  expect(text).toMatch(
    /é\n\n\[Showing the last 49\.\dKB of line 1 of 1, 390\.6KB in all\. The rest was not kept/,
  );
});

test("characters that arrive in two parts stay whole, on both streams", async () => {
  const output = new CapturedOutput();
  const [first, second] = [Buffer.from([0xe2, 0x82]), Buffer.from([0xac])];
  output.add(first, "stdout");
  output.add(Buffer.from("é"), "stderr");
  output.add(second, "stdout");
  expect((await output.end()).text).toBe("é€");
});

test("the oldest files are deleted", async () => {
  for (let n = 0; n < SPILL_MAX_FILES + 5; n += 1)
    writeFileSync(join(folder, `output-${1_000 + n}-x.txt`), "");
  writeFileSync(join(folder, "somebody's.txt"), "");
  const output = new CapturedOutput({ spill: { folder } });
  output.add(Buffer.from(lines(3_000)));
  await output.end();
  expect(readdirSync(folder)).toHaveLength(SPILL_MAX_FILES + 1);
  expect(readdirSync(folder)).toContain("somebody's.txt");
});

test("a folder that cannot be written costs the file, not the call", async () => {
  writeFileSync(join(folder, "file"), "");
  const output = new CapturedOutput({ spill: { folder: join(folder, "file") } });
  output.add(Buffer.from(lines(3_000)));
  const { text, spill } = await output.end();
  expect(spill).toBeUndefined();
  expect(text).toContain("The rest was not kept");
});

test.each([
  ["\u001b[31mred\u001b[0m", "red"],
  ["10%\r50%\r100%\n", "100%\n"],
  ["a\r\nb\r\n", "a\nb\n"],
  ["a\0b\u0007c\td", "abc\td"],
])("control characters are removed: %j", (raw, plain) => expect(plainText(raw)).toBe(plain));
