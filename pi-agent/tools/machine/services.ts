import { stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import type { ExecOps } from "../../env/environment.ts";
import { DEVICE_READ } from "../reads.ts";
import { memoryBytes } from "./figures.ts";
import { LINUX_ONLY, platformMissing } from "./platforms.ts";
import { complaint, type Ended, programThere, runProgram } from "./run-program.ts";
import { UNIT_NAME } from "./unit-name.ts";

const MAX_UNITS = 20;
const MAX_LISTED = 100;

const PROPERTIES =
  "Id,Description,LoadState,ActiveState,SubState,UnitFileState,NRestarts,ActiveEnterTimestamp,MainPID,MemoryCurrent,Result";

export function services({ exec }: { exec: ExecOps }): Tool {
  return defineTool({
    name: "services",
    description: `Show this device's system services (systemd units): which failed and which run; or, with names, the state of each: active, failed, since when, restarts, memory. At most ${MAX_UNITS} names.`,
    input: z.strictObject({
      units: z
        .optional(
          z
            .array(z.string().check(z.minLength(1), z.maxLength(255)))
            .check(z.minLength(1), z.maxLength(MAX_UNITS)),
        )
        .check(z.describe('Names, or patterns with *: ["ssh", "mosquitto.service", "edgecall-*"]')),
    }),
    ...DEVICE_READ,
    prepare: (raw) => (typeof raw.units === "string" ? { ...raw, units: raw.units.split(/[\s,]+/) } : raw),
    async execute({ units }, { signal }) {
      const wrong = units?.find((unit) => !UNIT_NAME.test(unit.replace(/[*?]/g, "x")));
      if (wrong !== undefined) {
        return faultResult("invalid_params", {
          text: `Error: '${wrong}' is not the name of a unit.`,
          advice: 'Use units=["ssh.service"] or a pattern like units=["edgecall-*"].',
        });
      }
      return units ? await named(exec, units, signal) : await overview(exec, signal);
    },
  });
}

/** @param root below which /run/systemd/system must exist, since only a booted systemd answers */
export async function servicesMissing(
  { exec, root }: { exec: ExecOps; root: string },
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const elsewhere = platformMissing(LINUX_ONLY, platform);
  if (elsewhere) return elsewhere;
  if (!(await programThere(exec, ["systemctl", "--version"])))
    return "no program 'systemctl': no systemd here";
  try {
    await stat(join(root, "/run/systemd/system"));
    return undefined;
  } catch {
    return "this system was not started by systemd";
  }
}

export type Unit = { unit: string; load: string; active: string; sub: string; description: string };

/** Parses `list-units --plain --no-legend`: four words and a description; some versions add a bullet. */
export function listedUnits(text: string): Unit[] {
  return text.split("\n").flatMap((line) => {
    const [unit, load, active, sub, ...rest] = line.replace(/^[^\w@-]+/, "").split(/\s+/);
    return unit && load && active && sub
      ? [{ unit, load, active, sub, description: rest.join(" ").trim() }]
      : [];
  });
}

/** Parses `systemctl show`: a block of `Key=value` lines for each unit. */
function shownUnits(text: string): Array<Record<string, string>> {
  return text
    .split(/\n\s*\n/)
    .map((block) =>
      Object.fromEntries(
        block.split("\n").flatMap((line) => {
          const equals = line.indexOf("=");
          return equals > 0 ? [[line.slice(0, equals), line.slice(equals + 1)]] : [];
        }),
      ),
    )
    .filter((unit) => unit.Id);
}

async function overview(exec: ExecOps, signal: AbortSignal) {
  const argv = ["systemctl", "list-units", "--type=service", "--all", "--plain", "--no-legend"] as const;
  const ended = await runProgram(exec, [...argv, "--no-pager", "--full"], { signal });
  if (ended.exitCode !== 0) return refusal(ended);
  const units = listedUnits(ended.stdout);
  const failed = units.filter(({ active }) => active === "failed");
  const running = units.filter(({ sub }) => sub === "running");
  const shown = running.slice(0, MAX_LISTED);
  const more =
    running.length > shown.length ? ` [${running.length - shown.length} more. Use units=["a*"].]` : "";
  return textResult(
    [
      failed.length === 0
        ? "No service has failed."
        : `${failed.length} failed:\n${failed.map(({ unit, description }) => `${unit}: ${description}`).join("\n")}`,
      `${running.length} running: ${shown.map(({ unit }) => unit.replace(/\.service$/, "")).join(", ")}${more}`,
    ].join("\n"),
    { failed, running: shown },
  );
}

async function named(exec: ExecOps, units: readonly string[], signal: AbortSignal) {
  const ended = await runProgram(
    exec,
    ["systemctl", "show", "--no-pager", `--property=${PROPERTIES}`, "--", ...units.map(withSuffix)],
    { signal },
  );
  if (ended.exitCode !== 0) return refusal(ended);
  const shown = shownUnits(ended.stdout);
  const there = shown.filter(({ LoadState }) => LoadState !== "not-found");
  if (there.length === 0) {
    return faultResult("not_found", {
      text: `Error: This device has no unit ${units.map((unit) => `'${unit}'`).join(", ")}.`,
      advice: "Call services without units to see what runs.",
    });
  }
  return textResult(shown.map(lineOf).join("\n"), { units: shown });
}

/** systemctl adds `.service` to a name, but not to a pattern. */
function withSuffix(unit: string): string {
  return /\.[a-z]+$/.test(unit) ? unit : `${unit}.service`;
}

function lineOf(unit: Record<string, string>): string {
  if (unit.LoadState === "not-found") return `${unit.Id}: not on this device`;
  const memory = Number(unit.MemoryCurrent);
  return [
    `${unit.Id}: ${unit.ActiveState} (${unit.SubState})`,
    unit.Result && unit.Result !== "success" ? `result ${unit.Result}` : "",
    unit.ActiveState === "active" && unit.ActiveEnterTimestamp ? `since ${unit.ActiveEnterTimestamp}` : "",
    unit.NRestarts && unit.NRestarts !== "0" ? `restarted ${unit.NRestarts} times` : "",
    // Without accounting the value is "[not set]" or the largest number.
    unit.MemoryCurrent && memory < Number.MAX_SAFE_INTEGER ? `memory ${memoryBytes(memory)}` : "",
    unit.UnitFileState ? `${unit.UnitFileState} at boot` : "",
    unit.Description && unit.Description !== unit.Id ? unit.Description : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function refusal(ended: Ended) {
  if (/not been booted with systemd|Failed to connect to bus/i.test(ended.stderr)) {
    return faultResult("unavailable", {
      text: "Error: The services cannot be read: this system's systemd does not answer.",
      advice: "Tell the user; list_processes shows what runs.",
    });
  }
  return faultResult("io", `Error: The services could not be read: ${complaint(ended)}.`);
}
