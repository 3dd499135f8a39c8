import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NODE_FLAGS } from "@edgecall/pi-agent/config/node-options.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { Releases } from "./releases.ts";

let dir: string;
let releases: Releases;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "edgecall-releases-"));
  releases = new Releases(dir);
  await releases.prepare();
});

const bundle = (version: string) => Buffer.from(`console.log("edgecall ${version}")`);
const add = (version: string) => releases.add(bundle(version), process.execPath);
const trial = (word: "begin" | "passed") => {
  const { status, stderr } = spawnSync(join(dir, "trial"), [word], { encoding: "utf8" });
  expect({ status, stderr }).toMatchObject({ status: 0 });
};
const runCurrent = () => spawnSync(join(dir, "current/edgecall"), ["--version"], { encoding: "utf8" }).stdout;

test("a version is a folder that runs, by its version and its bytes", async () => {
  const name = await add("1.0.0");
  expect(name).toMatch(/^1\.0\.0-[0-9a-f]{12}$/);
  await releases.use(name, { onTrial: false });
  expect(runCurrent()).toBe("edgecall 1.0.0\n");
  // The same again changes nothing that runs.
  expect(await add("1.0.0")).toBe(name);
  expect(runCurrent()).toBe("edgecall 1.0.0\n");
});

test("a bundle is run with the agent's flags of Node", async () => {
  const program =
    'console.log("edgecall 1.0.0"); if (process.argv[2] === "flags") console.log(process.execArgv.join())';
  await releases.use(await releases.add(Buffer.from(program), process.execPath), { onTrial: false });
  const { stdout } = spawnSync(join(dir, "current/edgecall"), ["flags"], { encoding: "utf8" });
  expect(stdout).toBe(`edgecall 1.0.0\n${NODE_FLAGS.join()}\n`);
});

test.each([
  ["ends with an error", "process.exit(1)"],
  ["says something else", 'console.log("hello")'],
  ["is no program", "<html>Not found</html>"],
])("a program that %s is refused, and leaves nothing", async (_what, text) => {
  await expect(releases.add(Buffer.from(text), process.execPath)).rejects.toThrow("does not run here");
  expect(readdirSync(join(dir, "versions"))).toEqual([]);
});

test("the version in use and the one before it are kept, and no other", async () => {
  const names: string[] = [];
  for (const version of ["1.0.0", "1.1.0", "1.2.0"]) {
    const name = await add(version);
    await releases.use(name, { onTrial: false });
    names.push(name);
  }
  await releases.prune();
  expect([await releases.previous(), await releases.current()]).toEqual(names.slice(1));
  expect(readdirSync(join(dir, "versions")).sort()).toEqual(names.slice(1));
});

describe("on trial", () => {
  let before: string;
  let next: string;
  beforeEach(async () => {
    before = await add("1.0.0");
    await releases.use(before, { onTrial: false });
    next = await add("2.0.0");
    await releases.use(next, { onTrial: true });
  });

  test("one that becomes ready stays", async () => {
    trial("begin");
    expect(releases.onTrial).toBe(true);
    trial("passed");
    trial("begin");
    expect([await releases.current(), releases.onTrial]).toEqual([next, false]);
  });

  test("one that has to be started again goes back, once, and is told of", async () => {
    trial("begin");
    trial("begin");
    expect([await releases.current(), releases.onTrial]).toEqual([before, false]);
    expect(await releases.rolledBack()).toBe(next);
    expect(runCurrent()).toBe("edgecall 1.0.0\n");
    trial("passed");
    trial("begin");
    expect(await releases.current()).toBe(before);
  });

  test.each(["", "\0\0\0\0", "ne"])(
    "a mark that the power tore (%j) counts as a start that failed",
    async (text) => {
      writeFileSync(join(dir, "on-trial"), text);
      trial("begin");
      expect(await releases.current()).toBe(before);
    },
  );

  test("without a version before it there is nothing to go back to", async () => {
    rmSync(join(dir, "previous"));
    trial("begin");
    trial("begin");
    expect(await releases.current()).toBe(next);
  });

  test("what an interrupted change left behind is no hindrance", async () => {
    symlinkSync("versions/nowhere", join(dir, "current.next"));
    writeFileSync(join(dir, "on-trial.next"), "");
    trial("begin");
    trial("begin");
    expect(await releases.current()).toBe(before);
    await releases.use(next, { onTrial: true });
    expect(await releases.current()).toBe(next);
    expect(readFileSync(join(dir, "on-trial"), "utf8")).toBe("new\n");
    expect(existsSync(join(dir, "current.next"))).toBe(false);
  });
});
