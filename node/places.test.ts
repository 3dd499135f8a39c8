import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { cacheFolder, MODULES, PROGRAMS, ROOT, stateFolder, WRANGLER_TOML } from "./places.ts";

const HOME = "/home/anna";

test("O13: a checkout keeps its state in itself", () => {
  expect(stateFolder({}, ROOT, HOME)).toBe(join(ROOT, ".edgecall"));
  expect(stateFolder({ XDG_STATE_HOME: "/state" }, ROOT, HOME)).toBe(join(ROOT, ".edgecall"));
});

test("O13: a package keeps it out of its folder, which goes with the next version", () => {
  const packed = join(mkdtempSync(join(tmpdir(), "edgecall-places-")), "package");
  expect(stateFolder({}, packed, HOME)).toBe("/home/anna/.local/state/edgecall");
  expect(stateFolder({ XDG_STATE_HOME: "/state" }, packed, HOME)).toBe("/state/edgecall");
  expect(stateFolder({ XDG_STATE_HOME: "state" }, packed, HOME)).toBe("/home/anna/.local/state/edgecall");
  // Also one that brings the sources.
  const installed = join(packed, "node_modules/edgecall");
  mkdirSync(join(installed, "worker"), { recursive: true });
  writeFileSync(join(installed, "worker/index.ts"), "");
  expect(stateFolder({}, installed, HOME)).toBe("/home/anna/.local/state/edgecall");
});

test("O13: EDGECALL_DIR counts in both, from the working folder on", () => {
  for (const root of [ROOT, "/usr/lib/node_modules/edgecall"]) {
    expect(stateFolder({ EDGECALL_DIR: "/srv/home" }, root, HOME)).toBe("/srv/home");
    expect(stateFolder({ EDGECALL_DIR: "mine" }, root, HOME)).toBe(join(process.cwd(), "mine"));
  }
});

test("what can be fetched again has a folder of its own", () => {
  expect(cacheFolder({}, HOME)).toBe("/home/anna/.cache/edgecall");
  expect(cacheFolder({ XDG_CACHE_HOME: "/cache" }, HOME)).toBe("/cache/edgecall");
  expect(cacheFolder({ XDG_CACHE_HOME: "cache" }, HOME)).toBe("/home/anna/.cache/edgecall");
});

test("each place exists", () => {
  const modules = Object.values(MODULES).map((url) => fileURLToPath(url));
  for (const path of [...Object.values(PROGRAMS).map(([file = ""]) => file), ...modules, WRANGLER_TOML])
    expect(existsSync(path), path).toBe(true);
});
