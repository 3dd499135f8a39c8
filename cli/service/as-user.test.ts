/** Root acts with a service's rights and no others. */
import { chmodSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openIdentity, rememberGateway } from "@edgecall/pi-agent/link/identity.ts";
import { expect, test } from "vitest";
import { asUser, inFolderOf } from "./as-user.ts";

test("root's groups are dropped, and restored afterwards, also after a failure", {
  tags: ["needs/root"],
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-as-user-"));
  chmodSync(folder, 0o755);
  const file = join(folder, "of-the-group");
  writeFileSync(file, "root's");
  chmodSync(file, 0o660);
  const groups = process.getgroups?.();
  process.setgroups?.([0, ...(groups ?? [])]);
  try {
    await expect(asUser("daemon", () => writeFile(file, "changed"))).rejects.toThrow("EACCES");
    expect(process.getgroups?.()).toContain(0);
    expect(process.geteuid?.()).toBe(0);
  } finally {
    process.setgroups?.(groups ?? []);
  }
  expect(readFileSync(file, "utf8")).toBe("root's");
  expect(statSync(file).gid).toBe(0);
});

test("a link in a service's folder gives no access to root's files", {
  tags: ["needs/root"],
}, async () => {
  const home = mkdtempSync(join(tmpdir(), "edgecall-as-user-"));
  chmodSync(home, 0o755);
  const secret = join(home, "roots");
  writeFileSync(secret, "root's", { mode: 0o600 });
  const state = join(home, "state");
  const inState = await inFolderOf("daemon", state);
  const { publicKey } = await inState(() => openIdentity(state));
  symlinkSync(secret, join(state, "gateway.json.next"));
  // A second time, as when a device is paired again: files that root left there belong to the service from then on.
  writeFileSync(join(state, "old"), "");
  const again = await inFolderOf("daemon", state);
  await expect(again(() => rememberGateway(state, publicKey))).rejects.toThrow("EACCES");
  expect(readFileSync(secret, "utf8")).toBe("root's");
  const owner = statSync(join(state, "key.json")).uid;
  expect(owner).not.toBe(0);
  expect([statSync(secret).uid, statSync(join(state, "old")).uid]).toEqual([0, owner]);
});
