import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { expect, test, vi } from "vitest";
import {
  besideState,
  copyBeforeUpgrade,
  describeCopy,
  noteVersion,
  refuseNewer,
  upgradeState,
  versionIn,
} from "./written-by.ts";

/** A state folder with these files. @param version what it notes */
function state(files: readonly string[], version?: string): string {
  const dir = join(mkdtempSync(join(tmpdir(), "edgecall-written-")), "state");
  mkdirSync(dir, { mode: 0o700 });
  for (const name of files) {
    mkdirSync(join(dir, name, ".."), { recursive: true });
    writeFileSync(join(dir, name), `of ${name}`, { mode: 0o600 });
  }
  if (version !== undefined) writeFileSync(join(dir, "version"), `${version}\n`);
  return dir;
}

const OF_0_3 = [
  "tokens.json",
  "agent/key.json",
  "bridge/devices.json",
  "worker/do/Home/1.sqlite",
  "worker/do/Home/1.sqlite-wal",
];
const beside = (dir: string) => readdirSync(join(dir, ".."));
const today = new Date().toISOString().slice(0, 10);
/** Of a version, another minor one. */
const minor = (step: number) =>
  VERSION.replace(/^(\d+)\.(\d+)/, (_, major, n) => `${major}.${Number(n) + step}`);

test.for([
  [[], undefined, undefined],
  [["running.json", "demo/tokens.json"], undefined, undefined],
  [["tokens.json", "agent/key.json", "worker/do/1"], undefined, "0.2.0"],
  [OF_0_3, undefined, "0.3.0"],
  // An installed gateway, and one that runs alone.
  [["tokens.json", "worker/do/1"], undefined, "0.3.0"],
  [["worker/do/1"], undefined, "0.3.0"],
  [OF_0_3, "0.7.2", "0.7.2"],
  [OF_0_3, "damaged", "0.3.0"],
] as const)("a folder with %j that notes %s was written by %s", ([files, noted, version]) => {
  expect(versionIn(state(files, noted))).toBe(version);
});

test("an older state is copied whole, for its owner alone, and the words name the way back", () => {
  const dir = state([...OF_0_3, "running.json", "running.json.7", "demo/tokens.json"]);
  symlinkSync("tokens.json", join(dir, "link"));
  const copy = copyBeforeUpgrade(dir);
  expect(copy).toEqual({ version: "0.3.0", folder: `${dir}-0.3.0-${today}` });
  const { folder = "" } = copy ?? {};
  expect(readdirSync(folder).sort()).toEqual(["agent", "bridge", "link", "tokens.json", "worker"]);
  for (const name of OF_0_3) {
    expect(readFileSync(join(folder, name), "utf8")).toBe(`of ${name}`);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(copy && describeCopy(dir, copy)).toContain(
    `stop edgecall, and \`mv ${dir} ${dir}-newer && mv ${folder} ${dir}\`, then start edgecall 0.3.0; what happened in the meantime is lost.`,
  );
  noteVersion(dir);
  expect(copyBeforeUpgrade(dir)).toBeUndefined();
  expect(beside(dir).sort()).toEqual(["state", `state-0.3.0-${today}`]);
});

test("a link of an agent's workspace is copied as a link, and what it leads to is neither read nor counted", () => {
  const dir = state([...OF_0_3, "agent/workspace/mine"]);
  symlinkSync("/", join(dir, "agent/workspace/disk"));
  symlinkSync("..", join(dir, "agent/workspace/loop"));
  const { folder = "" } = copyBeforeUpgrade(dir, { free: 65 * 2 ** 20 }) ?? {};
  expect(readdirSync(join(folder, "agent/workspace")).sort()).toEqual(["disk", "loop", "mine"]);
  expect(readlinkSync(join(folder, "agent/workspace/disk"))).toBe("/");
});

test("the way back can be pasted into a shell whatever the folder is called", () => {
  const copy = { version: "0.3.0", folder: "/home/o'neil/my home-0.3.0-2026-11-28" };
  expect(describeCopy("/home/o'neil/my home", copy)).toContain(
    "`mv '/home/o'\\''neil/my home' '/home/o'\\''neil/my home-newer' && mv '/home/o'\\''neil/my home-0.3.0-2026-11-28' '/home/o'\\''neil/my home'`",
  );
});

test("a second copy of a day has a name of its own", () => {
  const dir = state(OF_0_3);
  expect(copyBeforeUpgrade(dir)?.folder).toBe(`${dir}-0.3.0-${today}`);
  expect(copyBeforeUpgrade(dir)?.folder).toBe(`${dir}-0.3.0-${today}-2`);
});

test.for([
  [[], undefined],
  [OF_0_3, VERSION],
  [OF_0_3, VERSION.replace(/\d+$/, "99")],
] as const)("nothing is copied of %j at version %s", ([files, version]) => {
  const dir = state(files, version);
  refuseNewer(dir);
  expect(copyBeforeUpgrade(dir)).toBeUndefined();
  expect(beside(dir)).toEqual(["state"]);
});

test("no room: the words have both numbers, and nothing is left behind", () => {
  const dir = state(OF_0_3);
  expect(() => copyBeforeUpgrade(dir, { free: 2 ** 20 })).toThrow(
    /edgecall \S+ first copies the state of 0\.3\.0 to \S+, which takes 65 MB, and 1 MB are free\. Nothing was changed\. .*UPGRADE_COPY=no$/,
  );
  expect(beside(dir)).toEqual(["state"]);
});

/** Runs with this folder alone in PATH. */
function withPath<T>(path: string, run: () => T): T {
  const kept = process.env.PATH;
  process.env.PATH = path;
  try {
    return run();
  } finally {
    process.env.PATH = kept;
  }
}

test("a copy that fails is said, and half of it is removed", { tags: ["needs/linux"] }, () => {
  const dir = state(OF_0_3);
  const bin = mkdtempSync(join(tmpdir(), "edgecall-bin-"));
  writeFileSync(join(bin, "cp"), "#!/bin/sh\necho 'cp: no more blocks' >&2\nexit 1\n", { mode: 0o755 });
  expect(() => withPath(bin, () => copyBeforeUpgrade(dir))).toThrow(
    /, which failed \(cp: no more blocks\)\. Nothing was changed\./,
  );
  expect(beside(dir)).toEqual(["state"]);
});

test("a container has no programs and keeps nothing beside its volume: the copy is within, and found there", () => {
  const dir = state([...OF_0_3, "lost+found/x", "running.json"]);
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  withPath("", () => upgradeState(dir, { copies: true, within: true, say }));
  const folder = join(dir, `copies/0.3.0-${today}`);
  expect(readdirSync(folder).sort()).toEqual(["agent", "bridge", "tokens.json", "worker"]);
  for (const name of OF_0_3) expect(readFileSync(join(folder, name), "utf8")).toBe(`of ${name}`);
  for (const path of [dirname(folder), folder]) expect(statSync(path).mode & 0o777).toBe(0o700);
  const back = `start edgecall 0.3.0 with STATE_DIRECTORY=${folder}`;
  expect(said).toEqual([expect.stringContaining(`stop edgecall, and ${back}; what happened`)]);
  expect(versionIn(dir)).toBe(VERSION);
  // Once, and copies are not copied.
  upgradeState(dir, { copies: true, within: true, say });
  writeFileSync(join(dir, "version"), "0.3.0\n");
  expect(copyBeforeUpgrade(dir, { within: true })?.folder).toBe(`${folder}-2`);
  expect(readdirSync(`${folder}-2`).sort()).toEqual(["agent", "bridge", "tokens.json", "version", "worker"]);
  expect(said).toHaveLength(1);
  writeFileSync(join(dir, "version"), `${minor(1)}\n`);
  expect(() => refuseNewer(dir)).toThrow(`go back to what edgecall 0.3.0 wrote: ${back}`);
});

/** This module as a later edgecall has it. */
async function ofLater(version: string): Promise<typeof import("./written-by.ts")> {
  const names = "@edgecall/core/protocol/names.ts";
  vi.resetModules();
  vi.doMock(names, async (original) => ({ ...(await original<object>()), VERSION: version }));
  try {
    return await import("./written-by.ts");
  } finally {
    vi.doUnmock(names);
    vi.resetModules();
  }
}

test("the way back from a later edgecall, as it prints it, gives this one a state that it takes, also the second time", async () => {
  const dir = state(OF_0_3, VERSION);
  const later = await ofLater(minor(1));
  for (const time of [1, 2]) {
    const said: string[] = [];
    later.upgradeState(dir, { copies: true, say: (line) => said.push(line) });
    writeFileSync(join(dir, "worker/do/Home/1.sqlite"), "newer rows");
    let refused = "";
    try {
      refuseNewer(dir);
    } catch (error) {
      refused = String(error);
    }
    const [, printed] = /`(.*)`/.exec(said.join()) ?? [];
    const [, advised] = /`(.*)`/.exec(refused) ?? [];
    expect(advised).toBe(printed);
    execFileSync("/bin/sh", ["-c", printed ?? "false"]);
    expect(() => refuseNewer(dir)).not.toThrow();
    expect(versionIn(dir)).toBe(VERSION);
    expect(readdirSync(dir).sort()).toEqual(["agent", "bridge", "tokens.json", "version", "worker"]);
    expect(readFileSync(join(dir, "worker/do/Home/1.sqlite"), "utf8")).toBe("of worker/do/Home/1.sqlite");
    expect(beside(dir).sort()).toEqual(["state", "state-newer", "state-newer-2"].slice(0, 1 + time));
  }
});

test("O12: a newer edgecall's folder is refused with both versions, and with the copy that this one can go back to", () => {
  const dir = state(OF_0_3, minor(1));
  const refused = `was written by edgecall ${minor(1)}, and this is edgecall ${VERSION}, which does not know what is new there. Nothing was changed. Install edgecall ${minor(1)} or later`;
  expect(() => refuseNewer(dir)).toThrow(refused);
  expect(() => refuseNewer(dir)).not.toThrow("go back");
  mkdirSync(`${dir}-${minor(1)}-2027-01-01`);
  mkdirSync(`${dir}-0.3.0-2026-11-28`);
  mkdirSync(`${dir}-${VERSION}-2026-12-24`);
  mkdirSync(`${dir}-mine`);
  expect(() => refuseNewer(dir)).toThrow(
    `${refused}, or go back to what edgecall ${VERSION} wrote: \`mv ${dir} ${dir}-newer && mv ${dir}-${VERSION}-2026-12-24 ${dir}\`, then start edgecall ${VERSION}`,
  );
  expect(existsSync(`${dir}-newer`)).toBe(false);
});

test("what lies beside a folder with a home's data: its copies and what a way back moved aside, also when the folder is gone", () => {
  const dir = state(OF_0_3);
  const copy = copyBeforeUpgrade(dir)?.folder;
  const names = ["newer", "newer-2", "newer-mine", "mine", "gateway-0.3.0-2026-11-28"];
  for (const name of names) mkdirSync(`${dir}-${name}`);
  mkdirSync(join(dir, "copies/0.3.0-2026-11-28"), { recursive: true });
  const found = [copy, `${dir}-newer`, `${dir}-newer-2`];
  expect(besideState(dir).sort()).toEqual(found);
  rmSync(dir, { recursive: true });
  expect(besideState(dir).sort()).toEqual(found);
  expect(besideState(join(dir, "nowhere/state"))).toEqual([]);
});
