/** Reads the record of calls of a home, when its devices have brought their lines. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../wait.ts";
import { request } from "./client.ts";
import { type ChaosHome, linesOf } from "./stack.ts";

export type RecordLine = {
  timestamp: string;
  agent_id: string;
  tool: string;
  parameters?: unknown;
  result: "success" | "error";
  error_type?: string;
  call_id: string;
  caller: { principal: string; chain?: { id: string; via: string[] } };
};

/** Devices that are online bring their lines within seconds while somebody follows the record. */
const BROUGHT_WITHIN_MS = 60_000;

/** @property missing lines that the devices wrote, and that the home does not have: agent, id of the call, result */
export type CallsRecord = { lines: RecordLine[]; missing: string[] };

/** Returns the record of a home when its devices have brought what they wrote, or when they had the time for it. */
export async function recordOf(home: ChaosHome): Promise<CallsRecord> {
  const written = home.members.flatMap(({ recordDir }) => {
    // A device that no call reached has written nothing.
    if (!existsSync(recordDir)) return [];
    const days = readdirSync(recordDir).filter((name) => name.endsWith(".jsonl"));
    return days.flatMap((day) => linesOf(join(recordDir, day)).flatMap(parsed));
  });
  let lines: RecordLine[] = [];
  let missing: string[] = [];
  const isWhole = async () => {
    await request(home.gatewayUrl, "/v1/audit?follow=yes&limit=1");
    const exported = await (await request(home.gatewayUrl, "/v1/audit/export")).text();
    lines = exported.split("\n").flatMap(parsed);
    const brought = new Set(lines.map(keyOf));
    missing = written.map(keyOf).filter((key) => !brought.has(key));
    return missing.length === 0;
  };
  const what = "the record has every line of its devices";
  await until(isWhole, { within: BROUGHT_WITHIN_MS, every: 1_000, what }).catch(() => {});
  return { lines, missing };
}

function keyOf({ agent_id, call_id, result }: RecordLine): string {
  return `${agent_id} ${call_id} ${result}`;
}

/** A line that a full disk or a kill tore is none, and neither is the export's last one. */
function parsed(line: string): RecordLine[] {
  try {
    const read = JSON.parse(line) as RecordLine;
    return read.call_id === undefined ? [] : [read];
  } catch {
    return [];
  }
}
