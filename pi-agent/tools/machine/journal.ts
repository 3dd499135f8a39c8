import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import type { ExecOps } from "../../env/environment.ts";
import {
  CUT_MAX_BYTES,
  cutNotice,
  LINE_MAX_CHARS,
  NOTICE_BYTES,
  truncateLine,
  truncateTail,
  withNotice,
} from "../../output/text-cut.ts";
import { listKernel } from "./kernel-files.ts";
import { maskSecrets } from "./mask-secrets.ts";
import { LINUX_ONLY, platformMissing } from "./platforms.ts";
import { complaint, type Ended, plain, programThere, runProgram } from "./run-program.ts";
import { UNIT_NAME } from "./unit-name.ts";

const DEFAULT_LINES = 50;
const MAX_LINES = 500;
/** journalctl itself leaves out fields above 4 KiB, so 500 entries stay below this. */
const OUTPUT_BYTES = 8 * 1024 * 1024;
/** Characters read of one entry; far fewer are shown. */
const MESSAGE_LOOKED_AT = 8_192;
const SINCE = /^[0-9A-Za-z][0-9A-Za-z :+-]{0,39}$/;
const PRIORITIES = ["err", "warning", "notice", "info", "debug"] as const;

export function journal({ exec }: { exec: ExecOps }): Tool {
  return defineTool({
    name: "journal",
    description: `Read this device's system log (journald): the newest entries, of one service or of all. ${DEFAULT_LINES} entries, at most ${MAX_LINES}; lines above ${LINE_MAX_CHARS} characters are cut.`,
    input: z.strictObject({
      unit: z
        .optional(z.string().check(z.minLength(1), z.maxLength(255)))
        .check(z.describe("Only of this service: ssh, mosquitto.service")),
      lines: z
        ._default(z.int().check(z.minimum(1), z.maximum(MAX_LINES)), DEFAULT_LINES)
        .check(z.describe("How many of the newest entries")),
      since: z
        .optional(z.string().check(z.maxLength(40)))
        .check(z.describe("Only from then on: 2 hours ago, today, 2026-11-22 08:00")),
      priority: z
        .optional(z.enum(PRIORITIES))
        .check(z.describe("Only of this level and worse: err for errors")),
    }),
    effect: "read",
    permission: "file_read",
    idempotent: true,
    // Anybody who contacts a service of this device can write into the log: names of failed logins, paths of requests.
    taints: true,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    async execute({ unit, lines, since, priority }, { signal }) {
      if (unit !== undefined && !UNIT_NAME.test(unit)) {
        return faultResult("invalid_params", {
          text: `Error: '${unit}' is not the name of a unit.`,
          advice: 'Use unit="ssh".',
        });
      }
      if (since !== undefined && !SINCE.test(since)) return badTime(since);
      const ended = await runProgram(
        exec,
        [
          "journalctl",
          "--no-pager",
          "--quiet",
          "--output=json",
          "--output-fields=MESSAGE,SYSLOG_IDENTIFIER,_COMM,_PID,PRIORITY",
          `--lines=${lines}`,
          ...(unit === undefined ? [] : [`--unit=${unit}`]),
          ...(since === undefined ? [] : [`--since=${since}`]),
          ...(priority === undefined ? [] : [`--priority=${priority}`]),
        ],
        { signal, maxBytes: OUTPUT_BYTES },
      );
      if (/Failed to parse timestamp/i.test(ended.stderr)) return badTime(since ?? "");
      const entries = journalLines(ended.stdout);
      if (entries.length === 0) return nothing(unit, ended);
      return entriesResult(entries);
    },
  });
}

/** @param root below which journald's folders must exist; without them nothing is logged */
export async function journalMissing(
  { exec, root }: { exec: ExecOps; root: string },
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const elsewhere = platformMissing(LINUX_ONLY, platform);
  if (elsewhere) return elsewhere;
  if (!(await programThere(exec, ["journalctl", "--version"])))
    return "no program 'journalctl': no systemd here";
  const folders = await Promise.all(
    ["run", "var"].map((top) => listKernel(root, `/${top}/log`, /^journal$/)),
  );
  return folders.flat().length > 0
    ? undefined
    : "this system keeps no journal (/run/log/journal, /var/log/journal)";
}

/** Returns one line of text for each entry, oldest first. */
export function journalLines(json: string): string[] {
  return json.split("\n").flatMap((line) => {
    if (line === "") return [];
    try {
      return [lineOf(JSON.parse(line) as Record<string, unknown>)];
    } catch {
      // This line was cut in the middle.
      return [];
    }
  });
}

function lineOf(entry: Record<string, unknown>): string {
  const microseconds = Number(entry.__REALTIME_TIMESTAMP);
  const time = Number.isFinite(microseconds)
    ? `${new Date(microseconds / 1_000).toISOString().slice(0, 19)}Z`
    : "(no time)";
  const who = entry.SYSLOG_IDENTIFIER ?? entry._COMM ?? "unknown";
  const pid = entry._PID === undefined ? "" : `[${entry._PID}]`;
  const level = Number(entry.PRIORITY);
  const mark = entry.PRIORITY === undefined ? "" : level <= 3 ? " ERROR" : level === 4 ? " WARNING" : "";
  const text = maskSecrets(
    plain(messageOf(entry.MESSAGE).slice(0, MESSAGE_LOOKED_AT)).replaceAll("\n", " ⏎ "),
  );
  return truncateLine(`${time} ${who}${pid}${mark}: ${text}`).text;
}

/** Bytes that are not text arrive as an array of numbers; a message that is too large, as null. */
function messageOf(message: unknown): string {
  if (typeof message === "string") return message;
  if (Array.isArray(message) && message.every((byte) => typeof byte === "number")) {
    return Buffer.from(message).toString();
  }
  return "(too large to show)";
}

function entriesResult(entries: readonly string[]) {
  const cut = truncateTail(entries.join("\n"), { maxBytes: CUT_MAX_BYTES - NOTICE_BYTES });
  if (cut.by === null) return textResult(cut.content, { entries: entries.length });
  const notice = cutNotice({
    what: "entries",
    first: cut.total.lines - cut.shown.lines + 1,
    last: cut.total.lines,
    of: cut.total.lines,
    limitBytes: CUT_MAX_BYTES,
    next: "Use unit, since or priority to see fewer.",
  });
  return textResult(withNotice(cut.content, notice), { entries: cut.shown.lines });
}

function nothing(unit: string | undefined, ended: Ended) {
  if (/insufficient permissions|not seeing messages/i.test(ended.stderr)) {
    return faultResult("access_denied", {
      text: "Error: This agent's user may not read the system log.",
      advice: "Tell the user to add it to the group systemd-journal.",
    });
  }
  if (ended.exitCode !== 0 && ended.stderr.trim() !== "") {
    return faultResult("io", `Error: The log could not be read: ${complaint(ended)}.`);
  }
  const whose = unit === undefined ? "" : ` of '${unit}'`;
  return textResult(
    `No entries${whose} in the log.${unit === undefined ? "" : " Call services to see whether there is such a unit."}`,
    { entries: 0 },
  );
}

function badTime(since: string) {
  return faultResult("invalid_params", {
    text: `Error: '${since}' is no time that journalctl knows.`,
    advice: 'Use since="2 hours ago", since="today" or since="2026-11-22 08:00".',
  });
}
