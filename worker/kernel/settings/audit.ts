/** Variables of the audit log: how long it is stored here, and where else it is sent. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import { type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import { readOnce } from "./read-once.ts";
import { checkNumber } from "./read-variable.ts";

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
  const days = checkNumber(env, "AUDIT_KEEP_DAYS");
  const megabytes = checkNumber(env, "AUDIT_KEEP_MB");
  const every = checkNumber(env, "AUDIT_SEND_EVERY_S");
  if (!days.ok) return days;
  if (!megabytes.ok) return megabytes;
  if (!every.ok) return every;
  const url = env.AUDIT_URL?.trim().replace(/^libsql:/, "https:");
  // The value is not quoted: Turso's addresses may contain the token.
  if (url && !isPlainAddress(url))
    return wrong("AUDIT_URL: expected a libsql://, https:// or http:// address with nothing behind its path");
  const everyMs = every.value * 1_000;
  const store = url
    ? { url: url.replace(/\/+$/, ""), token: env.AUDIT_TOKEN?.trim() || undefined, everyMs }
    : undefined;
  return {
    ok: true,
    value: { keepMs: days.value * 86_400_000, keepBytes: megabytes.value * 1024 * 1024, store },
  };
});

function isPlainAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password, search, hash } = new URL(url);
  return /^https?:$/.test(protocol) && username + password + search + hash === "";
}
