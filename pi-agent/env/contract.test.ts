/** One behaviour, wherever a tool's files and processes are. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type Sshd, startSshd } from "../testing/sshd.ts";
import { type Environment, ExecError, FileError, type RunOptions } from "./environment.ts";
import { local } from "./local.ts";
import { sandbox } from "./sandbox.ts";
import { ssh } from "./ssh.ts";

let sshd: Sshd;
beforeAll(async () => {
  sshd = await startSshd();
});
afterAll(async () => await sshd.close());

const PLACES: Record<string, (cwd: string, readable: string[]) => Environment> = {
  local: (cwd, readable) => local({ cwd, readable }),
  sandbox: (workspace, readable) => sandbox({ workspace, readable }),
  ssh: (cwd, readable) => ssh({ name: "far", host: "127.0.0.1", ...sshd, cwd, readable }),
};

/** Names that a shell, a program's options or a line-wise list would take for something else. */
const ODD_NAMES = [
  "a b",
  "new\nline",
  "ends\n",
  "it's",
  'say "x"',
  "-rf",
  "--",
  "$(id)",
  "`id`",
  "a\\b",
  "*",
  "é",
];

describe.each(Object.keys(PLACES))("%s", (kind) => {
  let folder: string;
  let ws: string;
  let outside: string;
  let env: Environment;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-contract-")));
    ws = join(folder, "ws");
    outside = join(folder, "outside");
    mkdirSync(ws);
    mkdirSync(outside);
    writeFileSync(join(outside, "secret.txt"), "secret");
    writeFileSync(join(folder, "told.txt"), "told");
    env = PLACES[kind]?.(ws, [join(folder, "told.txt")]) as Environment;
  });
  afterEach(async () => {
    await env.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const read = async (path: string, part = {}) =>
    Buffer.from(await env.files.readFile(path, part)).toString();
  const write = async (path: string, text: string, more = {}) =>
    await env.files.writeFile(path, Buffer.from(text), more);
  const code = async (work: Promise<unknown>) =>
    await work.then(
      () => "no failure",
      (error: unknown) =>
        error instanceof FileError || error instanceof ExecError ? error.code : `${error}`,
    );

  async function run(argv: [string, ...string[]], options: Partial<RunOptions> = {}) {
    let stdout = "";
    let stderr = "";
    const ran = await env.exec.run(argv, {
      signal: new AbortController().signal,
      ...options,
      onOutput: (chunk, stream) => {
        if (stream === "stdout") stdout += Buffer.from(chunk).toString();
        else stderr += Buffer.from(chunk).toString();
        options.onOutput?.(chunk, stream);
      },
    });
    return { ...ran, stdout, stderr };
  }
  const sh = async (command: string, options: Partial<RunOptions> = {}) =>
    await run(["sh", "-c", command], options);

  describe("files", () => {
    test("what is written is read, byte for byte, whole and in parts", async () => {
      const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
      await env.files.writeFile("all.bin", bytes);
      expect(Buffer.compare(await env.files.readFile("all.bin"), bytes)).toBe(0);
      expect(
        Buffer.compare(await env.files.readFile("all.bin", { offset: 69_999 }), bytes.subarray(69_999)),
      ).toBe(0);
      expect(await env.files.readFile("all.bin", { offset: 255, length: 3 })).toHaveLength(3);
      expect(await env.files.readFile("all.bin", { offset: 80_000 })).toHaveLength(0);
      expect(readFileSync(join(ws, "all.bin"))).toHaveLength(70_000);
      await write("empty", "");
      expect(await read("empty")).toBe("");
    });

    test("stat tells kind, size, mode and time", async () => {
      await write("f", "12345", { mode: 0o640 });
      expect(await env.files.stat("f")).toEqual({
        kind: "file",
        bytes: 5,
        mode: 0o640,
        modifiedAt: Math.round(statSync(join(ws, "f")).mtimeMs),
      });
      expect(await env.files.stat(".")).toMatchObject({ kind: "directory" });
      symlinkSync("f", join(ws, "to-f"));
      symlinkSync("nowhere", join(ws, "to-nowhere"));
      expect(await env.files.stat("to-f")).toMatchObject({ kind: "file", bytes: 5 });
      expect(await env.files.stat("to-nowhere")).toMatchObject({ kind: "link" });
    });

    test("a rewritten file keeps its mode, a link its target, and nothing is left beside it", async () => {
      writeFileSync(join(ws, "run.sh"), "old", { mode: 0o751 });
      symlinkSync("run.sh", join(ws, "link"));
      await write("link", "new");
      expect(readFileSync(join(ws, "run.sh"), "utf8")).toBe("new");
      expect(statSync(join(ws, "run.sh")).mode & 0o777).toBe(0o751);
      expect(readdirSync(ws).sort()).toEqual(["link", "run.sh"]);
    });

    test("names are names, whatever they look like", async () => {
      for (const name of ODD_NAMES) await write(name, `of ${name}`);
      expect((await env.files.readDir(".")).map((entry) => entry.name)).toEqual(readdirSync(ws).sort());
      expect(readdirSync(ws).sort()).toEqual([...ODD_NAMES].sort());
      for (const name of ODD_NAMES) {
        expect(await read(name)).toBe(`of ${name}`);
        expect(await env.files.canonical(name, "write")).toBe(join(ws, name));
        await env.files.remove(name);
      }
      expect(readdirSync(ws)).toEqual([]);
    }, 30_000);

    test("a folder is listed by name and kind, hidden ones and links too", async () => {
      mkdirSync(join(ws, "sub"));
      writeFileSync(join(ws, ".hidden"), "");
      symlinkSync("nowhere", join(ws, "dangling"));
      expect(await env.files.readDir(".")).toEqual([
        { name: ".hidden", kind: "file" },
        { name: "dangling", kind: "link" },
        { name: "sub", kind: "directory" },
      ]);
      expect(await env.files.readDir("sub")).toEqual([]);
    });

    test("folders are made with their parents, and made again without harm", async () => {
      await env.files.mkdirAll("a/b/c");
      await env.files.mkdirAll("a/b/c");
      expect(statSync(join(ws, "a/b/c")).isDirectory()).toBe(true);
      writeFileSync(join(ws, "file"), "");
      expect(await code(env.files.mkdirAll("file"))).toBe("not_directory");
    });

    test("remove takes a file, a link and not its target, and an empty folder only", async () => {
      mkdirSync(join(ws, "full/inner"), { recursive: true });
      writeFileSync(join(ws, "kept"), "");
      symlinkSync("kept", join(ws, "link"));
      await env.files.remove("link");
      expect(await code(env.files.remove("full"))).toBe("exists");
      await env.files.remove("full/inner");
      await env.files.remove("full");
      expect(readdirSync(ws)).toEqual(["kept"]);
      expect(await code(env.files.remove("gone"))).toBe("not_found");
    });

    test("each failure has its code", async () => {
      mkdirSync(join(ws, "dir"));
      writeFileSync(join(ws, "file"), "x");
      expect(await code(env.files.readFile("none"))).toBe("not_found");
      expect(await code(env.files.stat("none"))).toBe("not_found");
      expect(await code(env.files.readFile("file/below"))).toBe("not_found");
      expect(await code(env.files.readFile("dir"))).toBe("is_directory");
      expect(await code(write("dir", ""))).toBe("is_directory");
      expect(await code(write("none/file", ""))).toBe("not_found");
      expect(await code(env.files.readDir("file"))).toBe("not_directory");
      expect(await code(env.files.readDir("none"))).toBe("not_found");
      expect(await code(env.files.stat("file/"))).toBe("not_directory");
      expect(await code(env.files.readFile(""))).toBe("invalid_params");
      expect(await code(env.files.readFile("/dev/zero"))).toBe("access_denied");
      expect(await code(env.files.readFile("nul\0"))).toBe("access_denied");
      await sh("mkfifo pipe");
      expect(await code(env.files.readFile("pipe"))).toBe("access_denied");
      expect(await code(write("pipe", ""))).toBe("access_denied");
    }, 20_000);

    test("nothing outside is read or written, by no way", async () => {
      symlinkSync(outside, join(ws, "out"));
      symlinkSync(join(outside, "secret.txt"), join(ws, "secret"));
      symlinkSync(join(outside, "new.txt"), join(ws, "dangling-out"));
      const ways = [
        "../outside/secret.txt",
        join(outside, "secret.txt"),
        "out/secret.txt",
        "secret",
        "out/",
        "/etc/shadow",
      ];
      for (const way of ways) expect(await code(env.files.readFile(way)), way).toBe("access_denied");
      for (const way of [
        "../outside/x",
        "out/x",
        "secret",
        "dangling-out",
        join(folder, "told.txt"),
        "out/x/y",
      ])
        expect(await code(write(way, "overwritten")), way).toBe("access_denied");
      for (const way of ["out/made", "../outside/made"]) {
        expect(await code(env.files.mkdirAll(way)), way).toBe("access_denied");
        expect(await code(env.files.readDir(way)), way).toBe("access_denied");
        expect(await code(env.files.stat(way)), way).toBe("access_denied");
      }
      expect(await code(env.files.remove("out/secret.txt"))).toBe("access_denied");
      expect(await code(env.files.remove("."))).toBe("access_denied");
      expect(readdirSync(outside)).toEqual(["secret.txt"]);
      expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
      expect(readFileSync(join(folder, "told.txt"), "utf8")).toBe("told");
    }, 30_000);

    test("a further path may be read; `..` and links that stay inside are ways like any other", async () => {
      expect(await read(join(folder, "told.txt"))).toBe("told");
      mkdirSync(join(ws, "sub"));
      writeFileSync(join(ws, "file"), "inside");
      symlinkSync("../file", join(ws, "sub/up"));
      expect(await read("sub/../file")).toBe("inside");
      expect(await read("sub/up")).toBe("inside");
      expect(await env.files.canonical("sub/up", "write")).toBe(join(ws, "file"));
      expect(await env.files.canonical("sub/new/deep", "write")).toBe(join(ws, "sub/new/deep"));
    });

    test("a link that is swapped while a file is read or written leads nowhere", async () => {
      mkdirSync(join(ws, "real"));
      writeFileSync(join(ws, "real/secret.txt"), "inside");
      let done = false;
      const swapping = (async () => {
        while (!done) {
          rmSync(join(ws, "way"), { force: true });
          symlinkSync(Math.random() < 0.5 ? outside : join(ws, "real"), join(ws, "way"));
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      for (let round = 0; round < 15; round += 1) {
        const text = await read("way/secret.txt").catch((error: unknown) => (error as FileError).code);
        expect(["inside", "access_denied", "not_found"]).toContain(text);
        await write("way/new.txt", "x").catch((error: unknown) => expect(error).toBeInstanceOf(FileError));
      }
      done = true;
      await swapping;
      expect(readdirSync(outside)).toEqual(["secret.txt"]);
    }, 60_000);

    test("an aborted signal does nothing, and is what is thrown", async () => {
      const reason = new DOMException("stop", "AbortError");
      const signal = AbortSignal.abort(reason);
      await expect(write("f", "x", { signal })).rejects.toBe(reason);
      await expect(env.files.readDir(".", { signal })).rejects.toBe(reason);
      expect(readdirSync(ws)).toEqual([]);
    });
  });

  describe("programs", () => {
    test("tells the exit code and both streams", async () => {
      expect(await sh("echo out; echo err >&2; exit 42")).toEqual({
        exitCode: 42,
        signal: null,
        stopped: false,
        stdout: "out\n",
        stderr: "err\n",
      });
      expect(await sh("exit 255")).toMatchObject({ exitCode: 255, stderr: "" });
      expect(await sh("exit 1")).toMatchObject({ exitCode: 1 });
    });

    test("names the signal that ended it", async () => {
      expect(await sh("kill -9 $$")).toMatchObject({
        exitCode: null,
        signal: "SIGKILL",
        stopped: false,
        stderr: "",
      });
      expect(await sh("kill -TERM $$")).toMatchObject({ signal: "SIGTERM" });
    });

    test("arguments arrive as they were given", async () => {
      const words = [...ODD_NAMES, "", "a'b'c", "A=B"];
      const { stdout } = await run(["printf", "%s\\0", ...words]);
      expect(stdout).toBe(words.map((word) => `${word}\0`).join(""));
    });

    test("starts in the workspace or a folder of it, and nowhere else", async () => {
      mkdirSync(join(ws, "sub dir"));
      symlinkSync(outside, join(ws, "out"));
      expect((await run(["pwd"])).stdout).toBe(`${ws}\n`);
      expect((await run(["pwd"], { cwd: "sub dir" })).stdout).toBe(`${join(ws, "sub dir")}\n`);
      expect(await code(run(["pwd"], { cwd: "none" }))).toBe("cwd_missing");
      expect(["blocked", "cwd_missing"]).toContain(await code(run(["pwd"], { cwd: ".." })));
      // In the sandbox there is nothing where the link leads.
      expect(["blocked", "cwd_missing"]).toContain(await code(run(["pwd"], { cwd: "out" })));
    });

    test("a program that is not there is told from one that fails", async () => {
      expect(await code(run(["no-such-program-here"]))).toBe("spawn_failed");
      expect(await code(run(["/nonexistent-shell-path", "-c", "echo"]))).toBe("spawn_failed");
      expect(await sh("exit 127")).toMatchObject({ exitCode: 127 });
    });

    test("has a clean environment, and what is given to it", async () => {
      process.env.EDGECALL_TEST_SECRET = "not for tools";
      try {
        const { stdout } = await sh("env; cat /proc/$$/environ /proc/$PPID/environ 2>/dev/null", {
          env: { GIVEN: "a b" },
        });
        if (kind !== "local") expect(stdout).not.toContain("EDGECALL_TEST_SECRET");
        expect((await run(["env"], { env: { GIVEN: "a b" } })).stdout).toContain("GIVEN=a b\n");
        const names = (await run(["env"])).stdout.split("\n").map((line) => line.split("=")[0]);
        expect([
          "PATH",
          "HOME",
          "LANG",
          "TERM",
          "TZ",
          "PWD",
          "EDGECALL_RUN",
          "OLDPWD",
          "_",
          "SHLVL",
          "",
        ]).toEqual(expect.arrayContaining(names));
      } finally {
        delete process.env.EDGECALL_TEST_SECRET;
      }
    });

    test.each([
      "LD_PRELOAD",
      "LD_LIBRARY_PATH",
      "BASH_ENV",
      "ENV",
      "NODE_OPTIONS",
      "PATH",
      "PYTHONSTARTUP",
      "PERL5OPT",
      "GIT_SSH_COMMAND",
      "IFS",
      "BASH_FUNC_ls%%",
      "a b",
    ])("the variable %s is refused", async (name) => {
      expect(await code(run(["true"], { env: { [name]: "x" } }))).toBe("blocked");
    });

    test("stdin is what is given, and then at its end; without any it is at its end", async () => {
      expect((await run(["cat"], { stdin: Buffer.from("given") })).stdout).toBe("given");
      expect((await sh("cat; echo after")).stdout).toBe("after\n");
      const much = Buffer.alloc(300_000, "x");
      expect((await run(["wc", "-c"], { stdin: much })).stdout.trim()).toBe("300000");
      // A program that reads none of it ends all the same.
      expect(await run(["true"], { stdin: much })).toMatchObject({ exitCode: 0 });
    });

    test("passes on much output, binary too, whole", async () => {
      let bytes = 0;
      const ran = await sh("head -c 3000000 /dev/zero; head -c 1000 /dev/zero >&2", {
        onOutput: (chunk) => {
          bytes += chunk.length;
        },
      });
      expect(ran.exitCode).toBe(0);
      expect(bytes).toBe(3_001_000);
    });

    test("output comes while it runs", async () => {
      const stop = new AbortController();
      const ran = sh("echo begun; sleep 60", { signal: stop.signal, onOutput: () => stop.abort() });
      expect(await ran).toMatchObject({ stopped: true, stdout: "begun\n" });
    });

    test("an aborted signal starts nothing", async () => {
      expect(await sh("touch started", { signal: AbortSignal.abort() })).toMatchObject({ stopped: true });
      expect(existsSync(join(ws, "started"))).toBe(false);
    });

    test("the abort ends children, their sessions and their orphans before it is confirmed", async () => {
      const stop = new AbortController();
      const token = `31${Date.now() % 1e7}`;
      const command = `sleep ${token}.1 & setsid sleep ${token}.2 & (setsid sleep ${token}.3 &) ; (sleep ${token}.4 &) ; echo up; wait`;
      const running = sh(command, { signal: stop.signal });
      await until(() => processesWith(token).length >= 4);
      stop.abort();
      expect(await running).toMatchObject({ exitCode: null, stopped: true });
      expect(processesWith(token)).toEqual([]);
    }, 15_000);

    test("what is left running at the end is ended too, and holds up nothing", async () => {
      const token = `32${Date.now() % 1e7}`;
      const startedAt = performance.now();
      const ran = await sh(`sleep ${token}.1 & setsid sleep ${token}.2 >/dev/null 2>&1 & echo done`);
      expect(ran).toMatchObject({ exitCode: 0, stopped: false, stdout: "done\n" });
      expect(performance.now() - startedAt).toBeLessThan(3_000);
      expect(processesWith(token)).toEqual([]);
    });

    test("two at once do not disturb each other", async () => {
      const stop = new AbortController();
      const first = sh("sleep 60", { signal: stop.signal });
      const second = sh("sleep 0.3; echo second");
      stop.abort();
      expect(await first).toMatchObject({ stopped: true });
      expect(await second).toMatchObject({ exitCode: 0, stdout: "second\n" });
    });
  });
});

function processesWith(token: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return words[0]?.endsWith("sleep") && words[1]?.startsWith(token) ? [words.join(" ")] : [];
    } catch {
      return [];
    }
  });
}
