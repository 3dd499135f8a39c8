import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
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

test("a version is a runnable folder, named by its version and its hash", async () => {
  const name = await add("1.0.0");
  expect(name).toMatch(/^1\.0\.0-[0-9a-f]{12}$/);
  await releases.use(name, { onTrial: false });
  expect(runCurrent()).toBe("edgecall 1.0.0\n");
  // Adding the same program again does not change the running one.
  expect(await add("1.0.0")).toBe(name);
  expect(runCurrent()).toBe("edgecall 1.0.0\n");
});

test("a bundle runs with the agent's Node flags", async () => {
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
])("a program that %s is refused, and leaves no files", async (_what, text) => {
  await expect(releases.add(Buffer.from(text), process.execPath)).rejects.toThrow("does not run here");
  expect(readdirSync(join(dir, "versions"))).toEqual([]);
});

test("the version in use and the previous one are kept, and no others", async () => {
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

test("a version that fails gives the state of before back with the version before, also after a power cut in between", async () => {
  const root = mkdtempSync(join(tmpdir(), "edgecall-states-"));
  const [place, copy] = [join(root, "state"), join(root, "state-1.0.0-2026-11-28")];
  const write = (folder: string, text: string) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "version"), text);
  };
  const isIn = (folder: string) => readFileSync(join(folder, "version"), "utf8");
  const before = await add("1.0.0");
  await releases.use(before, { onTrial: false });
  // An earlier way back left these there.
  write(`${place}-newer`, "left");
  write(copy, "1.0.0");
  await releases.use(await add("1.1.0"), { onTrial: true, state: { place, copy } });
  trial("begin");
  write(place, "1.1.0");
  // The power went between the two moves, and systemd made a new folder.
  renameSync(place, `${place}-newer-2`);
  mkdirSync(place);
  trial("begin");
  expect(await releases.current()).toBe(before);
  expect(isIn(place)).toBe("1.0.0");
  expect(readdirSync(root).sort()).toEqual(["state", "state-newer", "state-newer-2", "state-newer-3"]);
  expect([isIn(`${place}-newer`), isIn(`${place}-newer-2`)]).toEqual(["left", "1.1.0"]);
  trial("begin");
  expect(isIn(place)).toBe("1.0.0");
});

test("a version that came online keeps its state, and the copy stays beside it", async () => {
  const root = mkdtempSync(join(tmpdir(), "edgecall-states-"));
  const [place, copy] = [join(root, "state"), join(root, "copy")];
  for (const folder of [place, copy]) mkdirSync(folder);
  await releases.use(await add("1.0.0"), { onTrial: false });
  await releases.use(await add("1.1.0"), { onTrial: true, state: { place, copy } });
  trial("begin");
  trial("passed");
  // Another one fails, of which there is no copy.
  await releases.use(await add("1.1.1"), { onTrial: true });
  trial("begin");
  trial("begin");
  expect(readdirSync(root).sort()).toEqual(["copy", "state"]);
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

  test("a version that becomes ready stays", async () => {
    trial("begin");
    expect(releases.onTrial).toBe(true);
    trial("passed");
    trial("begin");
    expect([await releases.current(), releases.onTrial]).toEqual([next, false]);
  });

  test("a version that has to be restarted is rolled back, once, and that is reported", async () => {
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
    "a mark that a power cut damaged (%j) counts as a failed start",
    async (text) => {
      writeFileSync(join(dir, "on-trial"), text);
      trial("begin");
      expect(await releases.current()).toBe(before);
    },
  );

  test("without a previous version there is no roll-back", async () => {
    rmSync(join(dir, "previous"));
    trial("begin");
    trial("begin");
    expect(await releases.current()).toBe(next);
  });

  test("the remains of an interrupted change do no harm", async () => {
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
