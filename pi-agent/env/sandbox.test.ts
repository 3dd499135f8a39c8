import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { processGroupLimit } from "./process-group-limit.ts";
import { sandbox, sandboxMissing } from "./sandbox.ts";
import { sandboxEngine, unsupportedEngine } from "./sandbox-engine.ts";

let workspace: string;
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-sandbox-")));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

test("without bubblewrap it says so, and nothing is offered in its place", async () => {
  const options = { workspace, program: "/nonexistent/bwrap" };
  expect(await sandboxMissing(options)).toMatch(/does not start .*install bubblewrap/);
  const engine = sandboxEngine("bubblewrap", options);
  expect(await engine.missing()).toMatch(/install bubblewrap/);
  expect(engine.lack).toMatch(/install bubblewrap/);
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

test("engines: bubblewrap works, none is none, the others are refused by name", {
  tags: ["needs/bubblewrap"],
}, async () => {
  const bubblewrap = sandboxEngine("bubblewrap", { workspace });
  expect(await bubblewrap.missing()).toBeUndefined();
  expect(bubblewrap).toMatchObject({ lack: undefined, environment: { kind: "sandbox" } });
  expect(sandboxEngine("none", { workspace })).toMatchObject({
    lack: undefined,
    environment: { kind: "local" },
  });
  for (const engine of ["firejail", "podman"] as const)
    expect(unsupportedEngine(engine)).toContain(`sandboxing = "${engine}" is not supported`);
});

test("D2 a bubblewrap that did not start is tried again, one that is not there is not", {
  tags: ["needs/bubblewrap"],
}, async () => {
  const program = join(workspace, "bwrap");
  const engine = sandboxEngine("bubblewrap", { workspace, program });
  writeFileSync(program, "#!/bin/sh\necho 'bwrap: Resource temporarily unavailable' >&2; exit 1\n", {
    mode: 0o755,
  });
  // Several groups of tools ask at once.
  const tries = await Promise.allSettled([engine.missing(), engine.missing()]);
  expect(tries).toMatchObject([1, 2].map(() => ({ status: "rejected", reason: { name: "NoAnswer" } })));
  expect(engine.lack).toContain("Resource temporarily unavailable");
  writeFileSync(program, '#!/bin/sh\nexec bwrap "$@"\n');
  expect(await engine.missing()).toBeUndefined();
  expect(engine.lack).toBeUndefined();
});

test("a device is there only when it was granted, and only one that exists", {
  tags: ["needs/bubblewrap"],
}, async () => {
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
