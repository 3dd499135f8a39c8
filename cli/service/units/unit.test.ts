import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NODE_ENVIRONMENT } from "@edgecall/pi-agent/config/node-options.ts";
import { describe, expect, test } from "vitest";
import { unitText as agentUnit } from "../../agent/unit.ts";
import {
  BROKER_UNIT,
  brokerUnit,
  RELOAD_PATH_UNIT,
  RELOAD_SERVICE_UNIT,
  RELOAD_UNIT,
} from "../../bridge/broker-unit.ts";
import { unitText as bridgeUnit } from "../../bridge/unit.ts";
import { AGENT, BRIDGE, updateUnit } from "../services.ts";
import { updateUnits } from "./update-units.ts";

const said = spawnSync("systemd-analyze", ["--version"], { encoding: "utf8" });
const systemd = Number(/^systemd (\d+)/.exec(said.stdout ?? "")?.[1] ?? 0);

const UNITS = [
  { ...AGENT, unitText: agentUnit, atMost: 2.7 },
  // It starts no programs and uses no devices, so its unit allows less.
  { ...BRIDGE, unitText: bridgeUnit, atMost: 1.5 },
];

/** Returns systemd-analyze's findings on our units; it may have others on this machine's own units. */
function verified(...files: string[]) {
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", ...files], { encoding: "utf8" });
  return { status, ours: `${stdout}${stderr}`.split("\n").filter((line) => line.includes("edgecall")) };
}

/** Returns the exposure from 0 (locked in) to 10. */
function exposure(file: string): number {
  const { stdout } = spawnSync("systemd-analyze", ["security", "--no-pager", "--offline=true", file], {
    encoding: "utf8",
  });
  return Number(/exposure level for \S+: (\d+\.\d)/.exec(stdout)?.[1] ?? "99");
}

test("the units of the broker, by systemd-analyze", { tags: ["needs/systemd"] }, () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-unit-"));
  const texts = {
    [`${BROKER_UNIT}.service`]: brokerUnit({ program: "/bin/true" }),
    [`${RELOAD_UNIT}.path`]: RELOAD_PATH_UNIT,
    [`${RELOAD_UNIT}.service`]: RELOAD_SERVICE_UNIT,
  };
  const files = Object.entries(texts).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  expect(verified(...files)).toEqual({ status: 0, ours: [] });
  expect(exposure(files[0] ?? "")).toBeLessThanOrEqual(1.5);
});

describe.each(UNITS)("the unit of the $name", ({ unit, unitText, atMost }) => {
  /** The unit with an existing program, as systemd-analyze requires. */
  function unitFile(): string {
    const folder = mkdtempSync(join(tmpdir(), "edgecall-unit-"));
    mkdirSync(join(folder, "current"));
    for (const name of ["trial", "launch", "current/edgecall"]) {
      writeFileSync(join(folder, name), "#!/bin/sh\n");
      chmodSync(join(folder, name), 0o755);
    }
    const file = join(folder, `${unit}.service`);
    writeFileSync(file, unitText({ systemd, programs: folder }));
    return file;
  }

  test("systemd-analyze verify finds nothing wrong with it", { tags: ["needs/systemd"] }, () => {
    expect(verified(unitFile())).toEqual({ status: 0, ours: [] });
  });

  test(`systemd-analyze security gives it at most ${atMost}`, { tags: ["needs/systemd"] }, () => {
    expect(exposure(unitFile())).toBeLessThanOrEqual(atMost);
  });
});

describe.each([AGENT, BRIDGE])("the units that update the $name", (service) => {
  const unit = updateUnit(service);

  /** Path, timer and service, with an existing program. */
  function unitFiles(): string[] {
    const folder = mkdtempSync(join(tmpdir(), "edgecall-unit-"));
    mkdirSync(join(folder, "current"));
    writeFileSync(join(folder, "current/edgecall"), "#!/bin/sh\n", { mode: 0o755 });
    return Object.entries(updateUnits(service, { programs: folder })).map(([name, text]) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    });
  }

  test("systemd-analyze verify finds nothing wrong with them", { tags: ["needs/systemd"] }, () => {
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", ...unitFiles()], {
      encoding: "utf8",
    });
    const ours = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("edgecall"));
    expect({ status, ours }).toEqual({ status: 0, ours: [] });
  });

  test("root's part there has few rights, by systemd-analyze security", {
    tags: ["needs/systemd"],
  }, () => {
    const file = unitFiles().find((path) => path.endsWith(".service")) ?? "";
    const { stdout } = spawnSync("systemd-analyze", ["security", "--no-pager", "--offline=true", file], {
      encoding: "utf8",
    });
    const level = Number(/exposure level for \S+: (\d+\.\d)/.exec(stdout)?.[1] ?? "99");
    expect(level, stdout).toBeLessThanOrEqual(4.5);
  });

  test("the path unit watches the service's request file, and contains nothing else", () => {
    const texts = updateUnits(service);
    expect(texts[`${unit}.path`]).toContain(`PathExists=${service.places.state}/update-request`);
    expect(texts[`${unit}.service`]).not.toContain("update-request");
  });
});

describe.each(UNITS)("the unit of the $name, beside", ({ unitText }) => {
  test("the waits between starts grow where systemd supports that", () => {
    expect(unitText({ systemd: 257 })).toContain("RestartMaxDelaySec=");
    expect(unitText({ systemd: 252 })).not.toContain("RestartMaxDelaySec=");
  });

  test("Node's memory is limited as everywhere", () => {
    for (const [name, value] of Object.entries(NODE_ENVIRONMENT))
      expect(unitText({ systemd: 252 })).toMatch(new RegExp(`^Environment=.*\\b${name}=${value}\\b`, "m"));
  });
});
