/** `edgecall logs` shows the record of calls, the newest last. --follow shows new ones as they come. */
import { setTimeout as sleep } from "node:timers/promises";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { visibleJson } from "@edgecall/core/tools/visible.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { AUDIT_LINES_MAX, type AuditQuery, auditLines } from "./audit.ts";
import { readConnection } from "./connection.ts";
import { Gateway, GatewayError } from "./gateway.ts";
import { type Paint, paintFor } from "./paint.ts";
import { type Column, table } from "./table.ts";
import { clock, since } from "./times.ts";

const LINES = 50;
/** A device that is online sends its lines within some five seconds while they are followed, so that a call is shown within ten. */
const LOOK_EVERY_MS = 2_000;
const LOOK_SELDOM_MS = 4_000;
/** The gateway is away. */
const LOOK_AWAY_MS = 15_000;
/** Twice the five minutes, plus an allowance for a slow device clock. Older lines are not requested again. */
const OVERLAP_MS = 10 * 60_000;

export async function logs(call: CommandCall): Promise<number> {
  const { text, env, io } = call;
  const filter = text("filter") ?? "tool";
  if (filter !== "tool") throw new UsageError(`--filter: there is "tool" alone, and "${filter}" was given`);
  const query: AuditQuery = {
    agent: text("agent"),
    tool: text("tool"),
    result: resultOf(text("result")),
    since: text("since") === undefined ? undefined : since(text("since") ?? "", Date.now()),
    limit: lineLimit(text("lines")),
    follow: call.flag("follow"),
  };
  const gateway = new Gateway(readConnection(env));
  const show = call.flag("json")
    ? (lines: readonly AuditLine[]) => io.out(lines.map((line) => `${visibleJson(line)}\n`).join(""))
    : tableShower(io.out, io.terminal ? io.width : undefined, paintFor(io.terminal, env));
  const first = (await auditLines(gateway, query)).reverse();
  if (first.length === 0 && !call.flag("follow")) io.err("no calls on record\n");
  if (first.length > 0) show(first);
  if (call.flag("follow")) await follow(gateway, query, first, show, io.err);
  return EXIT.ok;
}

/** Runs until it is interrupted. If the gateway is away, it is asked again. */
async function follow(
  gateway: Gateway,
  query: AuditQuery,
  first: readonly AuditLine[],
  show: (lines: readonly AuditLine[]) => void,
  err: (text: string) => void,
): Promise<void> {
  let seen = new Set(first.map(lineKey));
  let wait = LOOK_EVERY_MS;
  // Lines from before the first request are not shown, however late a device sends them.
  const begin = new Date(Date.now() - OVERLAP_MS);
  let from = begin;
  for (let away = false; ; ) {
    await sleep(wait);
    try {
      const lines = await auditLines(gateway, { ...query, since: from, limit: AUDIT_LINES_MAX });
      const fresh = lines.filter((line) => !seen.has(lineKey(line))).reverse();
      seen = new Set(lines.map(lineKey));
      if (fresh.length > 0) show(fresh);
      wait = fresh.length > 0 ? LOOK_EVERY_MS : Math.min(wait * 1.5, LOOK_SELDOM_MS);
      from = new Date(Math.max(begin.getTime(), Date.now() - OVERLAP_MS));
      away = false;
    } catch (error) {
      if (!(error instanceof GatewayError) || !["unreachable", "failed"].includes(error.kind)) throw error;
      if (!away) err(`${error.message}\n`);
      away = true;
      wait = LOOK_AWAY_MS;
    }
  }
}

/** The key of a line. It needs the call, since the inner calls of a prompt share its request. */
function lineKey({ agent_id, call_id, timestamp }: AuditLine): string {
  return `${agent_id} ${call_id} ${timestamp}`;
}

function resultOf(text: string | undefined): "success" | "error" | undefined {
  if (text === undefined || text === "success" || text === "error") return text;
  throw new UsageError(`--result: expected success or error, got "${text}"`);
}

function lineLimit(text: string | undefined): number {
  if (text === undefined) return LINES;
  const lines = Number(text);
  if (Number.isInteger(lines) && lines >= 1 && lines <= AUDIT_LINES_MAX) return lines;
  throw new UsageError(`--lines: expected 1 to ${AUDIT_LINES_MAX}, got "${text}"`);
}

/** Shows lines as tables. Later lines use the columns of the first, without titles. */
function tableShower(out: (text: string) => void, width: number | undefined, paint: Paint) {
  let titled = false;
  const columns: Column[] = [
    { title: "TIME" },
    { title: "AGENT", gives: true },
    { title: "TOOL", gives: true },
    {
      title: "RESULT",
      paint: (cell) => paint(cell.trim() === "success" ? "green" : "red", cell),
    },
    { title: "EXIT", right: true },
    { title: "MS", right: true },
    { title: "BY", gives: true },
    { title: "PARAMETERS", gives: true },
  ];
  return (lines: readonly AuditLine[]) => {
    const shown = table(columns, lines.map(rowOf), width);
    out(titled ? shown.slice(shown.indexOf("\n") + 1) : shown);
    titled = true;
  };
}

function rowOf(line: AuditLine): string[] {
  const parameters = JSON.stringify(line.parameters) ?? "";
  const approval = line.approval && approvalText(line.approval);
  const by = [line.caller.principal, approval].filter(Boolean).join(", ");
  return [
    ...[clock(line.timestamp), line.agent_id, line.tool],
    line.result === "success" ? "success" : (line.error_type ?? "error"),
    line.exit_code === null ? "" : String(line.exit_code),
    String(Math.round(line.elapsed_ms)),
    by,
    line.asked === false
      ? NO_TOOL_CALLED
      : line.error === undefined
        ? parameters
        : `${line.error}  ${parameters}`,
  ];
}

function approvalText({ approved, by }: NonNullable<AuditLine["approval"]>): string {
  if (approved) return "approved";
  return by === undefined ? "not approved" : `${by} said no`;
}
