import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { kinds, NEEDED, ofKind, REMOVED } from "../../testing/sandbox-kinds.ts";
import { processGroupLimit } from "../process-group-limit.ts";
import { ownerOf } from "./podman.ts";
import { type SandboxOptions, sandbox, sandboxMissing } from "./sandbox.ts";
import { sandboxEngine } from "./sandbox-engine.ts";
import { KINDS } from "./sandbox-kinds.ts";

let folder: string;
let workspace: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-sandbox-")));
  workspace = join(folder, "ws");
  mkdirSync(workspace);
});
afterEach(() => rmSync(folder, REMOVED));

test("a missing bubblewrap is reported, and nothing replaces it", async () => {
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

test("a bubblewrap that refuses counts as missing", async () => {
  const program = join(workspace, "bwrap");
  writeFileSync(program, "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2; exit 1\n", {
    mode: 0o755,
  });
  expect(await sandboxMissing({ workspace, program })).toContain("No permissions to create a new namespace");
});

describe.each(kinds)("D13 $kind", ({ kind, tags }) => {
  test("works after it was tried", { tags, timeout: 60_000 }, async () => {
    const engine = sandboxEngine(kind, ofKind(kind, { folder, workspace }));
    expect(engine.lack).toContain("has not been tried");
    expect(await engine.missing()).toBeUndefined();
    expect(engine).toMatchObject({ lack: undefined, environment: { kind: "sandbox" } });
  });

  test("when it is missing, the reason says how to get it, and nothing replaces it", {
    tags: ["needs/linux"],
  }, async () => {
    const options = { kind, workspace, stateDir: folder, program: `/nonexistent/${kind}` };
    expect(await sandboxMissing(options)).toMatch(
      new RegExp(`does not start \\(there is no ${kind}\\): install ${kind}`),
    );
    const run = sandbox(options).exec.run(["touch", "ran"], { signal: new AbortController().signal });
    await expect(run).rejects.toMatchObject({ code: "spawn_failed" });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  });

  test("reads its readable paths outside the workspace, and does not write them", {
    tags,
    timeout: 60_000,
  }, async () => {
    mkdirSync(join(folder, "skills"));
    writeFileSync(join(folder, "skills/told.txt"), "told", { mode: 0o666 });
    const readable = ["/etc/hostname", join(folder, "skills")];
    const options = { ...ofKind(kind, { folder, workspace }), readable };
    const { exec } = sandbox(options);
    let output = "";
    await exec.run(
      [
        "sh",
        "-c",
        'cat "$0"/told.txt /etc/hostname; echo x > "$0"/told.txt; touch mine',
        join(folder, "skills"),
      ],
      {
        signal: new AbortController().signal,
        onOutput: (chunk, stream) => {
          if (stream === "stdout") output += Buffer.from(chunk).toString();
        },
      },
    );
    expect(output).toBe(`told${readFileSync("/etc/hostname", "utf8")}`);
    expect(readFileSync(join(folder, "skills/told.txt"), "utf8")).toBe("told");
    expect(existsSync(join(workspace, "mine"))).toBe(true);
  });

  test("reads the target of a readable link, also in another top-level folder", {
    tags,
    timeout: 60_000,
  }, async () => {
    const far = mkdtempSync("/var/tmp/edgecall-sandbox-");
    try {
      chmodSync(far, 0o777);
      writeFileSync(join(far, "told.txt"), "told", { mode: 0o666 });
      const link = join(folder, "skills");
      symlinkSync(far, link);
      const { exec } = sandbox({ ...ofKind(kind, { folder, workspace }), readable: [link] });
      let output = "";
      await exec.run(
        ["sh", "-c", 'cat "$0/told.txt"; echo x > "$0/told.txt"; echo x > "$1/told.txt"', link, far],
        {
          signal: new AbortController().signal,
          onOutput: (chunk, stream) => {
            if (stream === "stdout") output += Buffer.from(chunk).toString();
          },
        },
      );
      expect(output).toBe("told");
      expect(readFileSync(join(far, "told.txt"), "utf8")).toBe("told");
    } finally {
      rmSync(far, REMOVED);
    }
  });

  test("does not write to a mount below a readable folder", {
    tags: [...tags, "needs/root", "needs/mounts"],
    timeout: 60_000,
  }, async () => {
    const below = join(folder, "skills/below it");
    const covered = join(below, "covered");
    mkdirSync(covered, { recursive: true });
    for (const place of [covered, below])
      execFileSync("mount", ["-t", "tmpfs", "-o", "mode=1777", "edgecall", place]);
    try {
      writeFileSync(join(below, "told.txt"), "told", { mode: 0o666 });
      const { exec } = sandbox({
        ...ofKind(kind, { folder, workspace }),
        readable: [join(folder, "skills")],
      });
      let output = "";
      await exec.run(["sh", "-c", 'cat "$0/told.txt"; echo x > "$0/told.txt"; echo x > "$0/new"', below], {
        signal: new AbortController().signal,
        onOutput: (chunk, stream) => {
          if (stream === "stdout") output += Buffer.from(chunk).toString();
        },
      });
      expect(output).toBe("told");
      expect(readdirSync(below)).toEqual(["told.txt"]);
      expect(readFileSync(join(below, "told.txt"), "utf8")).toBe("told");
    } finally {
      for (const place of [below, covered]) execFileSync("umount", [place]);
    }
  });

  test("has a network only when it is granted", { tags, timeout: 60_000 }, async () => {
    const { exec } = sandbox(ofKind(kind, { folder, workspace }));
    const namespace = async (network: boolean) => {
      let output = "";
      const onOutput = (chunk: Uint8Array) => {
        output += Buffer.from(chunk).toString();
      };
      const signal = new AbortController().signal;
      await exec.run(["readlink", "/proc/self/ns/net"], { signal, onOutput, grants: { network } });
      return output.trim();
    };
    const own = readlinkSync("/proc/self/ns/net");
    expect(await namespace(true)).toBe(own);
    expect(await namespace(false)).toMatch(/^net:/);
    expect(await namespace(false)).not.toBe(own);
  });
});

test("D13 a firejail that ran the program without a sandbox is noticed", {
  tags: ["needs/linux"],
}, async () => {
  // firejail does this when it runs in a sandbox or a container: it drops everything before `--`.
  const program = join(folder, "firejail");
  writeFileSync(program, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n', {
    mode: 0o755,
  });
  const options = { kind: "firejail" as const, workspace, program };
  expect(await sandboxMissing(options)).toMatch(/did not start.* so nothing was run/);
  const run = sandbox(options).exec.run(["touch", "ran"], { signal: new AbortController().signal });
  await expect(run).rejects.toMatchObject({ code: "spawn_failed" });
  expect(existsSync(join(workspace, "ran"))).toBe(false);
});

test("D13 firejail is refused for root", { tags: ["needs/firejail", "needs/root"] }, async () => {
  expect(await sandboxMissing({ kind: "firejail", workspace })).toContain(
    "run the agent as an ordinary user",
  );
});

test("D13 firejail grants no device, and accepts no path that it would read as a pattern, nor too many", {
  tags: ["needs/linux"],
}, async () => {
  const run = (options: SandboxOptions, grants = {}) =>
    sandbox(options).exec.run(["true"], { signal: new AbortController().signal, grants });
  const options = { kind: "firejail" as const, workspace };
  const odd = join(folder, "a*");
  mkdirSync(odd);
  await expect(run(options, { devices: ["/dev/null"] })).rejects.toMatchObject({ code: "blocked" });
  await expect(run({ ...options, readable: [odd] })).rejects.toThrow(
    `firejail cannot take the path '${odd}'`,
  );
  const many = Array.from({ length: 100 }, (_, n) => join(folder, `f${n}`));
  for (const path of many) writeFileSync(path, "");
  await expect(run({ ...options, readable: many })).rejects.toThrow("firejail cannot show so many paths");
});

test("D13 podman: a container of an ended agent is removed at the next start, and a running agent's is not", {
  tags: NEEDED.podman,
  timeout: 120_000,
}, async () => {
  const options = ofKind("podman", { folder, workspace });
  const program = String(options.program);
  const podman = async (...args: string[]) => (await promisify(execFile)(program, args)).stdout;
  const make = async (owner: string) => {
    const name = `edgecall-${owner}-left`;
    const profile = ["--network=none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=64:64"];
    await podman("create", `--name=${name}`, ...profile, "--rootfs", join(folder, "podman-root"), "x");
    return name;
  };
  expect(await sandboxMissing(options)).toBeUndefined();
  const own = ownerOf(process.pid);
  const [boot, space, pid, start] = own.split("-");
  await make([boot, space, spawnSync("true").pid, start].join("-"));
  // Of an earlier agent with the same id, and of one from before the machine's start.
  await make([boot, space, pid, Number(start) - 1].join("-"));
  await make(["0".repeat(8), space, pid, start].join("-"));
  // The process of another container cannot be checked.
  const kept = [await make(own), await make([boot, "1", pid, "1"].join("-"))];
  expect(await sandboxMissing(options)).toBeUndefined();
  const left = (await podman("ps", "--all", "--format={{.Names}}")).trim().split("\n");
  expect(left.sort()).toEqual(kept.sort());
  await podman("rm", ...kept);
});

test("D13 podman: a variable that would redirect podman itself is refused", async () => {
  const options = { kind: "podman" as const, workspace, stateDir: folder };
  const signal = new AbortController().signal;
  const run = sandbox(options).exec.run(["true"], { signal, env: { CONTAINERS_CONF: "x" } });
  await expect(run).rejects.toMatchObject({ code: "blocked" });
});

test("D13 the weaker promises of each kind, compared with bubblewrap, are listed", () => {
  expect(KINDS.bubblewrap.gaps).toBeUndefined();
  for (const kind of ["firejail", "podman"] as const) expect(KINDS[kind].gaps).toContain(kind);
});

test("the kind none has no sandbox", () => {
  expect(sandboxEngine("none", { workspace })).toMatchObject({
    lack: undefined,
    environment: { kind: "local" },
  });
});

test("D2 a bubblewrap that did not start is tried again, and a missing one is not", {
  tags: ["needs/bubblewrap"],
}, async () => {
  const program = join(workspace, "bwrap");
  const engine = sandboxEngine("bubblewrap", { workspace, program });
  writeFileSync(program, "#!/bin/sh\necho 'bwrap: Resource temporarily unavailable' >&2; exit 1\n", {
    mode: 0o755,
  });
  // Several groups of tools ask at the same time.
  const tries = await Promise.allSettled([engine.missing(), engine.missing()]);
  expect(tries).toMatchObject([1, 2].map(() => ({ status: "rejected", reason: { name: "NoAnswer" } })));
  expect(engine.lack).toContain("Resource temporarily unavailable");
  writeFileSync(program, '#!/bin/sh\nexec bwrap "$@"\n');
  expect(await engine.missing()).toBeUndefined();
  expect(engine.lack).toBeUndefined();
});

test("only a device that was granted and exists is there", {
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

test("root's limit is a control group, if one can be made, and is removed after the call", async () => {
  const limit = await processGroupLimit(10);
  const group = limit.prefix[3];
  if (process.getuid?.() !== 0) expect(group).toBeUndefined();
  if (group !== undefined) expect(readFileSync(join(group, "pids.max"), "utf8")).toBe("10\n");
  await limit.release();
  expect(existsSync(group ?? "/nonexistent")).toBe(false);
});
