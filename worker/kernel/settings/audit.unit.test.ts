import { expect, test } from "vitest";
import { readAuditSettings } from "./audit.ts";

const DAY_MS = 86_400_000;

test("by default: 90 days, 50 MB, and no outside store", () => {
  expect(readAuditSettings({})).toEqual({
    ok: true,
    value: { keepMs: 90 * DAY_MS, keepBytes: 50 * 1024 * 1024, store: undefined },
  });
  expect(readAuditSettings({ AUDIT_URL: " ", AUDIT_TOKEN: "t" })).toMatchObject({
    value: { store: undefined },
  });
});

test("a store by the address that Turso shows, or by one's own", () => {
  const storeOf = (url: string, token = " t ") => {
    const read = readAuditSettings({ AUDIT_URL: url, AUDIT_TOKEN: token, AUDIT_SEND_EVERY_S: "5" });
    return read.ok && read.value.store;
  };
  expect(storeOf("libsql://home-anna.turso.io")).toEqual({
    url: "https://home-anna.turso.io",
    token: "t",
    everyMs: 5_000,
  });
  expect(storeOf("http://127.0.0.1:8080/", "")).toMatchObject({
    url: "http://127.0.0.1:8080",
    token: undefined,
  });
});

test.each([
  ["AUDIT_URL", "libsql://home.turso.io?authToken=secret-1234"],
  ["AUDIT_URL", "https://anna:secret-1234@home.turso.io"],
  ["AUDIT_URL", "secret-1234"],
  ["AUDIT_URL", "ws://secret-1234.example"],
  ["AUDIT_KEEP_DAYS", "0"],
  ["AUDIT_KEEP_MB", "1.5"],
  ["AUDIT_SEND_EVERY_S", "soon"],
])("a wrong %s is named, and possible secrets are not quoted: %s", (name, value) => {
  const read = readAuditSettings({ [name]: value });
  expect(read).toMatchObject({ ok: false, error: expect.stringMatching(new RegExp(`^${name}: expected`)) });
  expect(JSON.stringify(read)).not.toContain("secret-1234");
});
