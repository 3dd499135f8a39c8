/**
 * The hash that binds an approval to exactly what the person saw: agent, tool, arguments and working directory. The gateway
 * and the device each compute it themselves.
 */

/** @returns SHA-256 in hex over a canonical JSON text: keys sorted, no white space */
import { sha256Hex } from "../encoding.ts";
export async function approvalHash(
  agent: string,
  tool: string,
  parameters: Record<string, unknown>,
  cwd = "",
): Promise<string> {
  return await canonicalHash({ domain: "edgecall approval v1", agent, tool, parameters, cwd });
}

/** @returns SHA-256 in hex over the canonical JSON of a value; `domain` names what is hashed */
export async function canonicalHash(value: { domain: string; [field: string]: unknown }): Promise<string> {
  return await sha256Hex(canonicalJson(value));
}

/** Returns JSON with the keys of every object sorted, so that equal values have the same text (like RFC 8785). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(",")}}`;
}
