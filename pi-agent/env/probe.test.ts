import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { programs } from "../testing/programs/folder.ts";
import { rgMissing } from "../tools/files/ripgrep.ts";
import { gpioMissing } from "../tools/machine/gpio-access.ts";
import { i2cDetectMissing } from "../tools/machine/i2c-detect.ts";
import { journalMissing } from "../tools/machine/journal.ts";
import { pingMissing } from "../tools/machine/ping.ts";
import { servicesMissing } from "../tools/machine/services.ts";
import { snapshotMissing } from "../tools/machine/snapshot.ts";
import { gitMissing } from "../tools/programs/git-run.ts";
import { nodesMissing } from "../tools/programs/nodes.ts";
import type { ExecOps } from "./environment.ts";
import { localExec } from "./local-exec.ts";
import { lookFor } from "./probe.ts";

describe("D2 a search for a program distinguishes three cases:", () => {
  const exec = programs({ slow: "sleep 30", dies: "kill -9 $$", there: "echo 1.2.3", odd: "exit 3" });

  test("D2 it is there", async () => {
    expect(await lookFor(exec, ["there"])).toEqual({ exitCode: 0, output: "1.2.3" });
    expect(await lookFor(exec, ["odd"])).toMatchObject({ exitCode: 3 });
  });

  test("D2 it is not there, or may not be run", async () => {
    expect(await lookFor(exec, ["absent"])).toBeUndefined();
    expect(await lookFor(exec, ["sh-c-127"])).toBeUndefined();
    const folder = mkdtempSync(join(tmpdir(), "edgecall-probe-"));
    writeFileSync(join(folder, "plain"), "text", { mode: 0o644 });
    expect(await lookFor(localExec(folder), [join(folder, "plain")])).toBeUndefined();
  });

  test("D2 it did not answer: too slow, killed, or the machine could not start it", async () => {
    await expect(lookFor(exec, ["slow"], 200)).rejects.toThrow("'slow' did not answer within 0.2 s");
    await expect(lookFor(exec, ["dies"])).rejects.toThrow("'dies' was ended by SIGKILL");
    await expect(lookFor(exec, ["there", "x".repeat(4 * 1024 * 1024)])).rejects.toMatchObject({
      name: "NoAnswer",
    });
  });
});

describe("D2 no search takes a program that dies for a missing one:", () => {
  const dies = "kill -9 $$";
  const exec: ExecOps = programs({
    ...Object.fromEntries(
      ["rg", "env", "gpioget", "ping", "systemctl", "journalctl", "ssh", "i2cdetect"].map((name) => [
        name,
        dies,
      ]),
    ),
    "rpicam-still": dies,
  });
  const at = { exec, root: "/nonexistent" };
  const sandboxed = { exec, name: "sandbox", kind: "sandbox", cwd: "/" } as never;
  test.each<[string, () => Promise<string | undefined>]>([
    ["ripgrep", () => rgMissing({ exec, name: "sandbox" })],
    ["git", () => gitMissing(sandboxed)],
    ["gpiod", () => gpioMissing(exec, "linux")],
    ["ping", () => pingMissing(exec, "linux")],
    ["systemctl", () => servicesMissing(at, "linux")],
    ["journalctl", () => journalMissing(at, "linux")],
    ["ssh", () => nodesMissing(exec)],
    ["i2cdetect", () => i2cDetectMissing(at, "linux")],
    ["camera", () => snapshotMissing(at, "linux")],
  ])("D2 %s", async (_, probe) => {
    await expect(probe()).rejects.toMatchObject({ name: "NoAnswer" });
  });
});
