/** Root reads a service's report about itself, although the service may be compromised. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { whatItSays } from "./service-state.ts";
import { BRIDGE } from "./services.ts";

const SAYS = {
  bridge_id: "b",
  version: "0.2.0",
  pid: 1,
  started_at: "2026-11-22T10:00:00.000Z",
  online: true,
  since: "2026-11-22T10:00:00.000Z",
  last_errors: [],
  gateway: { url: "wss://gateway.example/bridge", up: true },
  broker: { url: "mqtt://127.0.0.1:1883", up: true },
};

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgecall-status-"));
  file = join(folder, "status.json");
});
const read = () => whatItSays({ ...BRIDGE, places: { ...BRIDGE.places, runtime: folder } });

test("a running service's report; none without one", () => {
  expect(read()).toEqual({ is: "not running" });
  writeFileSync(file, JSON.stringify(SAYS));
  expect(read()).toEqual({ is: "read", status: SAYS });
});

test.each<[string, () => void]>([
  [
    "a link to a file that would do",
    () => {
      writeFileSync(`${file}.other`, JSON.stringify(SAYS));
      symlinkSync(`${file}.other`, file);
    },
  ],
  ["without an end", () => symlinkSync("/dev/zero", file)],
  ["a pipe", () => void spawnSync("mkfifo", [file])],
  ["a folder", () => mkdirSync(file)],
  ["torn", () => writeFileSync(file, JSON.stringify(SAYS).slice(0, 50))],
])("%s is not read, and is no error", (_what, make) => {
  make();
  expect(read()).toMatchObject({ is: "unreadable" });
});
