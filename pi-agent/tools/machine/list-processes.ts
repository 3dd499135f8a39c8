import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { DEVICE_READ } from "../reads.ts";
import { readCpuTime, SAMPLE_MS, sampled } from "./cpu-time.ts";
import { memoryBytes } from "./figures.ts";
import { kilobytesOf, listKernel, readKernel } from "./kernel-files.ts";
import { maskSecrets } from "./mask-secrets.ts";

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;
const COMMAND_CHARACTERS = 100;
/** Characters read of a command line, which may have megabytes. */
const COMMAND_LOOKED_AT = 4_096;

export function listProcesses({ root }: { root: string }): Tool {
  return defineTool({
    name: "list_processes",
    description: `List the running processes (programs) of this device: the busiest ones, using the most CPU or the most memory first. ${DEFAULT_LIMIT} of them, at most ${MAX_LIMIT}.`,
    input: z.strictObject({
      sort_by: z._default(z.enum(["cpu", "memory"]), "cpu").check(z.describe("What to put first")),
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(MAX_LIMIT)), DEFAULT_LIMIT)
        .check(z.describe("How many to list")),
    }),
    ...DEVICE_READ,
    async execute({ sort_by, limit }, { signal }) {
      const processes = await allProcesses(root, signal);
      if (processes.length === 0) {
        return faultResult("unavailable", "Error: No process can be read: /proc has none that are readable.");
      }
      processes.sort((a, b) =>
        sort_by === "cpu"
          ? b.cpu_percent - a.cpu_percent || b.memory_bytes - a.memory_bytes
          : b.memory_bytes - a.memory_bytes || b.cpu_percent - a.cpu_percent,
      );
      const shown = await Promise.all(
        processes.slice(0, limit).map(async (one) => ({ ...one, command: await commandOf(root, one) })),
      );
      const head = `${processes.length} processes; the ${shown.length} with the most ${sort_by === "cpu" ? `CPU (in % of one core, over ${SAMPLE_MS} ms)` : "memory"}:`;
      return textResult([head, ...shown.map(lineOf)].join("\n"), {
        count: processes.length,
        processes: shown,
      });
    },
  });
}

type Process = { pid: number; name: string; cpu_percent: number; memory_bytes: number };
type Stat = { name: string; ticks: number };

async function allProcesses(root: string, signal: AbortSignal): Promise<Process[]> {
  const [before, after] = await sampled(
    async () => ({ machine: await readCpuTime(root), stats: await readStats(root) }),
    signal,
  );
  const cores = after.machine?.cores ?? 1;
  const elapsed = (after.machine?.total ?? 0) - (before.machine?.total ?? 0);
  return await Promise.all(
    [...after.stats].map(async ([pid, { name, ticks }]) => {
      const earlier = before.stats.get(pid);
      // A process that began during the sample has used all its ticks in it.
      const used = ticks - (earlier?.ticks ?? 0);
      const status = (await readKernel(root, `/proc/${pid}/status`)) ?? "";
      return {
        pid,
        name,
        cpu_percent: elapsed > 0 ? Number(((used / elapsed) * cores * 100).toFixed(1)) : 0,
        // From `status`, which has kB. `stat` counts pages, which are four times as large on a Pi 5.
        memory_bytes: (kilobytesOf(status, "VmRSS") ?? 0) * 1_024,
      };
    }),
  );
}

async function readStats(root: string): Promise<Map<number, Stat>> {
  const stats = new Map<number, Stat>();
  const pids = await listKernel(root, "/proc", /^\d+$/);
  await Promise.all(
    pids.map(async (pid) => {
      const stat = parseStat((await readKernel(root, `/proc/${pid}/stat`)) ?? "");
      if (stat) stats.set(Number(pid), stat);
    }),
  );
  return stats;
}

/** The name is in parentheses and may contain spaces and parentheses; the last parenthesis ends it. */
export function parseStat(text: string): Stat | undefined {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const fields = text.slice(close + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? { name: text.slice(open + 1, close), ticks } : undefined;
}

async function commandOf(root: string, { pid, name }: Process): Promise<string> {
  let line: string;
  try {
    line = (await readFile(join(root, `/proc/${pid}/cmdline`), "utf8"))
      .slice(0, COMMAND_LOOKED_AT)
      .replaceAll("\0", " ")
      .trim();
  } catch {
    line = "";
  }
  const command = maskSecrets(line || `[${name}]`);
  return command.length > COMMAND_CHARACTERS ? `${command.slice(0, COMMAND_CHARACTERS)}…` : command;
}

function lineOf(one: Process & { command: string }): string {
  return `${one.pid} ${one.name}: CPU ${one.cpu_percent.toFixed(1)}%, memory ${memoryBytes(one.memory_bytes)}, ${one.command}`;
}
