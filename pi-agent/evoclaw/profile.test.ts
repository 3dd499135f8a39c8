import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { genome } from "../testing/genome.ts";
import { memoryLog } from "../testing/home.ts";
import { KEPT_VERSIONS, PROFILE_MAX_BYTES, Profile, type Taught } from "./profile.ts";

const folder = () => mkdtempSync(join(tmpdir(), "edgecall-profile-"));
const open = (dir: string) => Profile.open(dir, memoryLog().log);
const onDisk = (dir: string) => JSON.parse(readFileSync(join(dir, "profile.json"), "utf8"));
const at =
  (temperature: number) =>
  (now: Readonly<Taught>): Taught => ({ ...now, agent: { temperature } });

test("each change is a version, effective and on disk when it is reported, and kept over a restart", async () => {
  const dir = folder();
  const profile = await open(dir);
  let heard = 0;
  profile.onChange(() => (heard += 1));
  expect([profile.version, profile.genome]).toEqual([0, undefined]);
  expect(await profile.change("warmer", at(1))).toEqual({ ok: true, version: 1 });
  const taught = genome();
  const set = (now: Readonly<Taught>): Taught => ({ ...now, genome: taught });
  expect(await profile.change("a genome", set)).toEqual({ ok: true, version: 2 });
  expect(onDisk(dir)).toMatchObject({ version: 2, agent: { temperature: 1 }, genome: taught });
  expect(heard).toBe(2);

  const again = await open(dir);
  expect([again.version, again.genome, again.taught.agent]).toEqual([2, taught, { temperature: 1 }]);
  expect(again.history()).toMatchObject([
    { version: 0, change: "" },
    { version: 1, change: "warmer" },
    { version: 2, change: "a genome", at: expect.stringMatching(/^\d{4}-.*Z$/) },
  ]);
});

test("the same change again makes no version; a refusal or a disk error changes nothing", async () => {
  const dir = folder();
  const profile = await open(dir);
  await profile.change("", at(1));
  expect(await profile.change("", at(1))).toEqual({ ok: true, version: 1 });
  expect(await profile.change("", () => "no: right would be yes")).toEqual({
    ok: false,
    error: "no: right would be yes",
  });
  const large = (now: Readonly<Taught>): Taught => ({
    ...now,
    strategies: { a: { b: "x".repeat(PROFILE_MAX_BYTES) } },
  });
  expect(await profile.change("", large)).toMatchObject({
    ok: false,
    error: expect.stringMatching(/too large/),
  });
  const nowhere = await open(join(dir, "profile.json", "no-folder"));
  expect(await nowhere.change("", at(1))).toMatchObject({
    ok: false,
    error: expect.stringMatching(/not kept, so nothing was changed/),
  });
  expect([profile.version, nowhere.version, nowhere.taught.agent]).toEqual([1, 0, {}]);
  expect(onDisk(dir)).toMatchObject({ version: 1, agent: { temperature: 1 } });
});

test("simultaneous changes are made one after another, and none is lost", async () => {
  const profile = await open(folder());
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      profile.change("", (now) => ({ ...now, strategies: { ...now.strategies, [`s${n}`]: {} } })),
    ),
  );
  expect(made.map((one) => one.ok && one.version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(Object.keys(profile.taught.strategies)).toHaveLength(8);
});

test("the last versions are kept; one of them can be restored whole, as a new version", async () => {
  const dir = folder();
  const profile = await open(dir);
  for (let n = 1; n <= KEPT_VERSIONS + 3; n += 1) await profile.change("", at(n / 10));
  expect(profile.version).toBe(13);
  expect(profile.history().map(({ version }) => version)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  expect(await profile.back(4)).toEqual({ ok: true, version: 14 });
  expect(profile.taught.agent).toEqual({ temperature: 0.4 });
  expect((await open(dir)).taught.agent).toEqual({ temperature: 0.4 });
  expect(await profile.back(3)).toEqual({
    ok: false,
    error: "version: there is no version 3 here; right would be one of: 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14",
  });
  expect(await profile.back(14)).toEqual({ ok: true, version: 14 });
});

test("the file of an earlier release is its first version", async () => {
  const dir = folder();
  const old = { strategies: { MeanReversion: { support_level: 4 } }, genome: genome() };
  writeFileSync(join(dir, "profile.json"), JSON.stringify(old));
  const profile = await open(dir);
  expect([profile.version, profile.taught.strategies, profile.genome]).toEqual([
    1,
    old.strategies,
    old.genome,
  ]);
});

test("an unreadable file is kept for a person, and reported", async () => {
  const dir = folder();
  writeFileSync(join(dir, "profile.json"), "{ broken");
  const { log, lines } = memoryLog();
  const profile = await Profile.open(dir, log);
  expect(profile.version).toBe(0);
  expect(lines).toMatchObject([{ level: "error", event: "profile.unreadable" }]);
  expect(readFileSync(join(dir, "profile.json.unreadable"), "utf8")).toBe("{ broken");
});
