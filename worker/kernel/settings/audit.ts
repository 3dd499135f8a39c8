/** Variables of the audit log: how long it is stored here, and where else it is sent. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { readOnce } from "./read-once.ts";

export type AuditSettings = {
  keepMs: number;
  keepBytes: number;
  /** Undefined: the log is stored only here. */
  store: StoreSettings | undefined;
};

export type StoreSettings = {
  /** http(s), without a slash at its end. */
  url: string;
  token: string | undefined;
  /** Lines wait so long to be sent together, because each time costs a few rows and requests. */
  everyMs: number;
};

export const readAuditSettings = readOnce((env: Variables): Parsed<AuditSettings> => {
  const wrong: string[] = [];
  const whole = (name: keyof Variables, fallback: number, max: number) => {
    const text = env[name]?.trim();
    const value = text ? Number(text) : fallback;
    if (!Number.isInteger(value) || value < 1 || value > max)
      wrong.push(`${name}: expected a whole number from 1 to ${max}, got '${text}'`);
    return value;
  };
  const keepMs = whole("AUDIT_KEEP_DAYS", 90, 3_650) * 86_400_000;
  const keepBytes = whole("AUDIT_KEEP_MB", 50, 4_096) * 1024 * 1024;
  const everyMs = whole("AUDIT_SEND_EVERY_S", 60, 86_400) * 1_000;
  const url = env.AUDIT_URL?.trim().replace(/^libsql:/, "https:");
  // The value is not quoted: Turso's addresses may contain the token.
  if (url && !isPlainAddress(url))
    wrong.push("AUDIT_URL: expected a libsql://, https:// or http:// address with nothing behind its path");
  if (wrong[0] !== undefined) return { ok: false, error: wrong[0] };
  const store = url
    ? { url: url.replace(/\/+$/, ""), token: env.AUDIT_TOKEN?.trim() || undefined, everyMs }
    : undefined;
  return { ok: true, value: { keepMs, keepBytes, store } };
});

function isPlainAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password, search, hash } = new URL(url);
  return /^https?:$/.test(protocol) && username + password + search + hash === "";
}
