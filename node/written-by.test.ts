import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { expect, test } from "vitest";
import { copyBeforeUpgrade, describeCopy, noteVersion, refuseNewer, versionIn } from "./written-by.ts";

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
  const { folder = "" } = copyBeforeUpgrade(dir, 65 * 2 ** 20) ?? {};
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
  expect(() => copyBeforeUpgrade(dir, 2 ** 20)).toThrow(
    /edgecall \S+ first copies the state of 0\.3\.0 to \S+, which takes 65 MB, and 1 MB are free\. Nothing was changed\. .*UPGRADE_COPY=no$/,
  );
  expect(beside(dir)).toEqual(["state"]);
});

test("a copy that fails is said, and half of it is removed", { tags: ["needs/linux"] }, () => {
  const dir = state(OF_0_3);
  const kept = process.env.PATH;
  // No program `cp`.
  process.env.PATH = join(dir, "..");
  try {
    expect(() => copyBeforeUpgrade(dir)).toThrow(/, which failed \(.*cp.*\)\. Nothing was changed\./);
  } finally {
    process.env.PATH = kept;
  }
  expect(beside(dir)).toEqual(["state"]);
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
