/**
 * This machine's agent.toml under `npm start`. It is written once. From then on only the broker's address and login follow the start's, each on
 * its own line: what a person wrote there (a policy, a model, comments) stays as it is.
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isObject } from "@edgecall/core/protocol/is-object.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { parse, stringify } from "smol-toml";

export type BrokerAccess = { url: string; username?: string; password?: string; ca?: string };
export type NewAgent = { agentId: string; stateDir: string };

/** The file is broken, or says what the stack cannot follow. The message is for a person. */
export class AgentTomlError extends Error {}

const HEADER =
  "# This machine's agent. edgecall start wrote it once, and follows only the broker's address and login in [mqtt]; all else is yours.\n" +
  "# pi-agent/agent.example.toml has every key. A [policy] says what is done without asking.\n";
/** Earlier versions wrote this anew at each start. */
const WRITTEN_EACH_TIME = /^# Written by npm start each time[^\n]*\n/;
const KEYS = ["url", "username", "password", "ca"] as const;

/** @throws AgentTomlError when the file is there and broken */
export async function writeAgentToml(file: string, agent: NewAgent, broker: BrokerAccess): Promise<void> {
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const text = before === undefined ? newText(agent, broker) : withBroker(file, before, broker);
  // A power cut leaves the person's file whole.
  if (text !== before) await writeAtomic(file, text);
}

/** @returns what the file says, each undefined where it does not @throws AgentTomlError when it is broken */
export function agentIn(file: string): Partial<NewAgent> {
  if (!existsSync(file)) return {};
  const { agent_id: agentId, state_dir: stateDir } = parsed(file, readFileSync(file, "utf8"));
  return {
    ...(typeof agentId === "string" && { agentId }),
    ...(typeof stateDir === "string" && { stateDir: resolve(dirname(file), stateDir) }),
  };
}

function newText({ agentId, stateDir }: NewAgent, broker: BrokerAccess): string {
  const text = stringify({
    agent_id: agentId,
    agent_type: "monitor",
    capabilities: `${agentId}, the machine that this gateway runs on — temperature, CPU/memory/disk stats, process monitoring`,
    state_dir: stateDir,
    mqtt: withoutMissing(broker),
  });
  return `${HEADER}${text}\n`;
}

function withBroker(file: string, text: string, broker: BrokerAccess): string {
  const before = parsed(file, text);
  const wanted = withoutMissing(broker);
  const now = isObject(before.mqtt) ? before.mqtt : {};
  const changed = KEYS.filter((key) => wanted[key] !== undefined && now[key] !== wanted[key]);
  const isOld = WRITTEN_EACH_TIME.test(text);
  const lines = (isOld ? text.replace(WRITTEN_EACH_TIME, HEADER) : text).split("\n");
  for (const key of changed) setKey(lines, key, JSON.stringify(wanted[key]));
  const after = lines.join("\n");
  // A file may say [mqtt] in a way that no line can be changed in: dotted keys, an inline table.
  const read = changed.length === 0 ? before : tryParse(after);
  const ended = read && isObject(read.mqtt) ? read.mqtt : {};
  const isOther = read && JSON.stringify({ ...read, mqtt: 0 }) !== JSON.stringify({ ...before, mqtt: 0 });
  if (changed.some((key) => ended[key] !== wanted[key]) || isOther)
    throw new AgentTomlError(
      `${file}: the broker's address cannot be written into [mqtt]; write it as a table with url = ${JSON.stringify(broker.url)} on a line of its own`,
    );
  return after;
}

/** Sets `key = value` in the table [mqtt], and keeps a comment behind it. */
function setKey(lines: string[], key: string, value: string): void {
  let start = lines.findIndex((line) => /^\s*\[\s*mqtt\s*\]\s*(#.*)?$/.test(line));
  if (start < 0) {
    if (lines.at(-1) !== "") lines.push("");
    start = lines.push("[mqtt]") - 1;
  }
  const length = lines.slice(start + 1).findIndex((line) => /^\s*\[/.test(line));
  const end = length < 0 ? lines.length : start + 1 + length;
  const at = lines.findIndex(
    (line, n) => n > start && n < end && new RegExp(`^\\s*["']?${key}["']?\\s*=`).test(line),
  );
  if (at < 0) lines.splice(start + 1, 0, `${key} = ${value}`);
  else
    lines[at] = (lines[at] ?? "").replace(
      VALUE,
      (_, before: string, comment = "") => `${before}${value}${comment}`,
    );
}

/** A line's key, its text value, and a comment. */
const VALUE = /^([^=]*=\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^#]*?)(\s*#.*)?\s*$/;

function parsed(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new AgentTomlError(
      `${file}: is no TOML (${why}). Correct it, or move it away: edgecall start then writes a new one. Nothing was started.`,
    );
  }
}

function tryParse(text: string): Record<string, unknown> | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function withoutMissing(broker: BrokerAccess): Record<string, string> {
  return Object.fromEntries(
    Object.entries(broker).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
