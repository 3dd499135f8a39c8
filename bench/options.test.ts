import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { MissingProgram, needMosquitto } from "./mosquitto.ts";

const PROGRAM = fileURLToPath(new URL("./main.ts", import.meta.url));

test.each([
  { args: ["--help"], says: "--scale " },
  { args: ["--tools", "-h"], says: "--only PARTS" },
])("O10: $args is answered in words", async ({ args, says }) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM, ...args]);
  expect(stdout).toContain(says);
  expect(stderr).toBe("");
});

test("O10: an option that there is not ends with 2, its name and the options, without a stack trace", async () => {
  const ran = promisify(execFile)(process.execPath, [PROGRAM, "--quik"]).catch((error: unknown) => error);
  const { code, stderr } = (await ran) as { code: number; stderr: string };
  expect(code).toBe(2);
  expect(stderr).toContain("'--quik'");
  expect(stderr).toContain("--quick");
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("O10: a missing Mosquitto is told with its cure, before anything is started", () => {
  const empty = mkdtempSync(join(tmpdir(), "edgecall-bench-"));
  expect(() => needMosquitto(`${empty}:${join(empty, "none")}`)).toThrow(MissingProgram);
  expect(() => needMosquitto(empty)).toThrow("apt-get install mosquitto");
});
