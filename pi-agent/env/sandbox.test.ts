import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { processGroupLimit } from "./process-group-limit.ts";
import { sandbox, sandboxMissing } from "./sandbox.ts";
import { sandboxEngine } from "./sandbox-engine.ts";

let workspace: string;
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-sandbox-")));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

test("without bubblewrap it says so, and nothing is offered in its place", async () => {
  const options = { workspace, program: "/nonexistent/bwrap" };
  expect(await sandboxMissing(options)).toMatch(/does not start .*install bubblewrap/);
  expect(await sandboxEngine("bubblewrap", options)).toMatchObject({ ok: false });
  await expect(
    sandbox(options).exec.run(["true"], { signal: new AbortController().signal }),
  ).rejects.toMatchObject({
    code: "spawn_failed",
  });
});

test("a bubblewrap that refuses is as good as none", async () => {
  const program = join(workspace, "bwrap");
  writeFileSync(program, "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2; exit 1\n", {
    mode: 0o755,
  });
  expect(await sandboxMissing({ workspace, program })).toContain("No permissions to create a new namespace");
});

test("engines: bubblewrap works, none is none, the others are refused by name", async () => {
  expect(await sandboxEngine("bubblewrap", { workspace })).toMatchObject({
    ok: true,
    environment: { kind: "sandbox" },
  });
  expect(await sandboxEngine("none", { workspace })).toMatchObject({
    ok: true,
    environment: { kind: "local" },
  });
  for (const engine of ["firejail", "podman"] as const)
    expect(await sandboxEngine(engine, { workspace })).toEqual({
      ok: false,
      missing: expect.stringContaining(`sandboxing = "${engine}" is not supported`),
    });
});

test("a device is there only when it was granted, and only one that exists", async () => {
  const run = async (devices?: string[]) => {
    let said = "";
    const ran = await sandbox({ workspace }).exec.run(["test", "-e", "/dev/kmsg"], {
      signal: new AbortController().signal,
      onOutput: (chunk) => {
        said += Buffer.from(chunk).toString();
      },
      ...(devices && { grants: { devices } }),
    });
    return `${ran.exitCode}${said}`;
  };
  expect(await run()).toBe("1");
  expect(await run(["/dev/kmsg"])).toBe("0");
  await expect(run(["/dev/no-such-device"])).rejects.toMatchObject({ code: "blocked" });
});

test("root's limit is a control group, where one can be made, and goes with the call", async () => {
  const limit = await processGroupLimit(10);
  const group = limit.prefix[3];
  if (process.getuid?.() !== 0) expect(group).toBeUndefined();
  if (group !== undefined) expect(readFileSync(join(group, "pids.max"), "utf8")).toBe("10\n");
  await limit.release();
  expect(existsSync(group ?? "/nonexistent")).toBe(false);
});
