import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { tree } from "../testing/tree.ts";
import { FileError, type FileOps } from "./environment.ts";
import { localFiles } from "./local-files.ts";

/** Makes a workspace `ws`, a folder `out` beside it with a secret, and the given files. */
function place(files: Record<string, string | Buffer> = {}, more: { writable?: string[] } = {}) {
  const root = tree({ "ws/.keep": "", "out/secret.txt": "secret", "etc/hostname": "eye\n", ...files });
  const ws = join(root, "ws");
  const writable = (more.writable ?? []).map((path) => join(root, path));
  return { root, ws, files: localFiles({ cwd: ws, root, writable }) };
}

const text = async (files: FileOps, path: string) => new TextDecoder().decode(await files.readFile(path));
const bytes = (content: string) => new TextEncoder().encode(content);

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return "none";
  expect(error).toBeInstanceOf(FileError);
  return (error as FileError).code;
}

test("a file as a whole and in part", async () => {
  const { files } = place({ "ws/a.txt": "0123456789" });
  expect(await text(files, "a.txt")).toBe("0123456789");
  expect(new TextDecoder().decode(await files.readFile("a.txt", { offset: 3, length: 4 }))).toBe("3456");
  expect((await files.readFile("a.txt", { offset: 99 })).length).toBe(0);
  expect((await files.readFile("a.txt", { offset: 8, length: 99 })).length).toBe(2);
});

test("a file below /proc, which reports no size", async () => {
  const files = localFiles({ cwd: "/tmp", readable: ["/proc/version"] });
  expect(await text(files, "/proc/version")).toContain("Linux");
});

test("stat tells kind, size and mode", async () => {
  const { files, ws } = place({ "ws/a.sh": "12345" });
  chmodSync(join(ws, "a.sh"), 0o755);
  symlinkSync("a.sh", join(ws, "l"));
  symlinkSync("nowhere", join(ws, "dangling"));
  expect(await files.stat("a.sh")).toMatchObject({ kind: "file", bytes: 5, mode: 0o755 });
  expect(await files.stat("l")).toMatchObject({ kind: "file", bytes: 5 });
  expect(await files.stat("dangling")).toMatchObject({ kind: "link" });
  expect(await files.stat(".")).toMatchObject({ kind: "directory" });
  expect((await files.readDir(".")).map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    ".keep file",
    "a.sh file",
    "dangling link",
    "l link",
  ]);
});

describe("where a path leads to", () => {
  test("nothing outside is read, listed or mentioned", async () => {
    const { files, root, ws } = place({ "ws/d/x": "" });
    symlinkSync(join(root, "out"), join(ws, "l"));
    symlinkSync("../out/secret.txt", join(ws, "s"));
    symlinkSync("../out/none.txt", join(ws, "n"));
    symlinkSync("l/secret.txt", join(ws, "ll"));
    symlinkSync("/proc/self/environ", join(ws, "environ"));
    symlinkSync("/proc/self/root", join(ws, "rootlink"));
    for (const path of [
      "../out/secret.txt",
      "d/../../out/secret.txt",
      join(root, "out/secret.txt"),
      "l",
      "l/",
      "l/.",
      "l/secret.txt",
      "l/none.txt",
      "l/../../out/secret.txt",
      "s",
      "n",
      "ll",
      "environ",
      "rootlink/etc/passwd",
      "/proc/self/environ",
      "/dev/zero",
      "/no/such",
      "/",
      "..",
      `${ws}-other/x`,
      "d\0/x",
    ]) {
      expect(await codeOf(files.readFile(path)), path).toBe("access_denied");
      expect(await codeOf(files.readDir(path)), path).toBe("access_denied");
      expect(await codeOf(files.stat(path)), path).toBe("access_denied");
      expect(await codeOf(files.canonical(path, "read")), path).toBe("access_denied");
    }
  });

  test("nothing outside is written, made or removed", async () => {
    const { files, root, ws } = place();
    symlinkSync("../out", join(ws, "l"));
    symlinkSync("../new.txt", join(ws, "dangling"));
    symlinkSync("../newdir", join(ws, "dangling-dir"));
    for (const path of ["../x", "l/x", "dangling", "/etc/hostname", join(root, "x"), "dangling-dir/x"]) {
      expect(await codeOf(files.writeFile(path, bytes("x"))), path).toBe("access_denied");
      expect(await codeOf(files.mkdirAll(path)), path).toBe("access_denied");
    }
    for (const path of ["../out/secret.txt", "l/secret.txt", ".", "..", "/etc/hostname"])
      expect(await codeOf(files.remove(path)), path).toBe("access_denied");
    expect(readdirSync(root).sort()).toEqual(["etc", "out", "ws"]);
    expect(readdirSync(join(root, "out"))).toEqual(["secret.txt"]);
  });

  test("inside, links and `..` work like any path", async () => {
    const { files, root, ws } = place({ "ws/d/a.txt": "a" });
    symlinkSync("d", join(ws, "l"));
    symlinkSync(join(ws, "d/a.txt"), join(ws, "abs"));
    symlinkSync("d/new.txt", join(ws, "dangling"));
    for (const path of ["d/../d/a.txt", "l/a.txt", "abs", join(ws, "d/a.txt"), "./d//a.txt"])
      expect(await text(files, path), path).toBe("a");
    await files.writeFile("dangling", bytes("new"));
    expect(readFileSync(join(ws, "d/new.txt"), "utf8")).toBe("new");
    expect(lstatSync(join(ws, "dangling")).isSymbolicLink()).toBe(true);
    expect(await files.canonical("l/../l/a.txt", "write")).toBe(join(ws, "d/a.txt"));
    expect(await files.canonical("l/none/x", "write")).toBe(join(ws, "d/none/x"));
    // The workspace's own path may contain a link.
    symlinkSync("ws", join(root, "linked"));
    expect(await text(localFiles({ cwd: join(root, "linked") }), "d/a.txt")).toBe("a");
    expect(await text(localFiles({ cwd: join(root, "linked") }), join(root, "linked/d/a.txt"))).toBe("a");
  });

  test("additional paths: some may be read, some also written", async () => {
    const { files, root } = place({ "shared/a": "a" }, { writable: ["shared"] });
    expect(await text(files, "/etc/hostname")).toBe("eye\n");
    expect(await codeOf(files.readFile("/etc/os-release"))).toBe("not_found");
    expect(await codeOf(files.stat("/etc/os-release"))).toBe("not_found");
    expect(await codeOf(files.readDir("/etc"))).toBe("access_denied");
    await files.writeFile("../shared/new.txt", bytes("n"));
    expect(readFileSync(join(root, "shared/new.txt"), "utf8")).toBe("n");
    await expect(files.writeFile("/etc/hostname", bytes("x"))).rejects.toThrow(
      /may write \(its workspace, .*shared\)/,
    );
  });

  test("each refusal has its own code", async () => {
    const { files, ws } = place({ "ws/a.txt": "a", "ws/d/x": "x" });
    execFileSync("mkfifo", [join(ws, "pipe")]);
    symlinkSync("loop", join(ws, "loop"));
    expect(await codeOf(files.readFile("none"))).toBe("not_found");
    expect(await codeOf(files.readFile("a.txt/x"))).toBe("not_found");
    expect(await codeOf(files.readFile("d"))).toBe("is_directory");
    expect(await codeOf(files.readFile("a.txt/"))).toBe("not_directory");
    expect(await codeOf(files.readDir("a.txt"))).toBe("not_directory");
    expect(await codeOf(files.readFile("pipe"))).toBe("access_denied");
    expect(await codeOf(files.writeFile("pipe", bytes("x")))).toBe("access_denied");
    expect(await codeOf(files.writeFile("d", bytes("x")))).toBe("is_directory");
    expect(await codeOf(files.writeFile("new/", bytes("x")))).toBe("is_directory");
    expect(await codeOf(files.writeFile("no/such", bytes("x")))).toBe("not_found");
    expect(await codeOf(files.mkdirAll("a.txt"))).toBe("not_directory");
    expect(await codeOf(files.mkdirAll("a.txt/x"))).toBe("not_found");
    expect(await codeOf(files.remove("d"))).toBe("exists");
    expect(await codeOf(files.remove("none"))).toBe("not_found");
    expect(await codeOf(files.readFile("loop"))).toBe("access_denied");
    expect(await codeOf(files.readFile(""))).toBe("invalid_params");
    expect(await codeOf(files.writeFile("x".repeat(300), bytes("x")))).toBe("invalid_params");
    expect((await files.stat("pipe")).kind).toBe("other");
  });

  test("any name is allowed, and is shown without breaking the line", async () => {
    const { files, ws } = place();
    for (const name of ["two\nlines", '"quote\'s"', "-rf", "$(touch x)", "größe ✓", " ", "*"]) {
      await files.writeFile(name, bytes(name));
      expect(readFileSync(join(ws, name), "utf8")).toBe(name);
      await files.remove(name);
    }
    await expect(files.readFile("a\nb")).rejects.toThrow("There is no 'a\\x0ab'.");
  });
});

describe("writing", () => {
  test("keeps mode and links, leaves nothing behind", async () => {
    const { files, ws } = place({ "ws/d/s.sh": "old" });
    chmodSync(join(ws, "d/s.sh"), 0o755);
    symlinkSync("d/s.sh", join(ws, "l"));
    await files.writeFile("l", bytes("new"));
    expect(readFileSync(join(ws, "d/s.sh"), "utf8")).toBe("new");
    expect(statSync(join(ws, "d/s.sh")).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(ws, "l"))).toBe("d/s.sh");
    expect(readdirSync(join(ws, "d"))).toEqual(["s.sh"]);
    await files.writeFile("run", bytes("x"), { mode: 0o700 });
    expect(statSync(join(ws, "run")).mode & 0o777).toBe(0o700);
  });

  test("keeps the owner, as root", { tags: ["needs/root"] }, async () => {
    const { files, ws } = place({ "ws/a": "old" });
    execFileSync("chown", ["65534:65534", join(ws, "a")]);
    await files.writeFile("a", bytes("new"));
    expect(statSync(join(ws, "a"))).toMatchObject({ uid: 65_534, gid: 65_534 });
  });

  test("a reader meanwhile sees the old file or the new one", async () => {
    const { files, ws } = place();
    const versions = ["a", "b"].map((letter) => letter.repeat(300_000));
    await files.writeFile("f", bytes(versions[0] ?? ""));
    let done = false;
    const writing = (async () => {
      for (let round = 1; round <= 40; round += 1)
        await files.writeFile("f", bytes(versions[round % 2] ?? ""));
      done = true;
    })();
    while (!done) {
      expect(versions).toContain(await text(files, "f"));
      expect(versions).toContain(readFileSync(join(ws, "f"), "utf8"));
    }
    await writing;
    expect(readdirSync(ws).sort()).toEqual([".keep", "f"]);
  });

  test("a failure leaves the old file and no other", async () => {
    const { ws } = place({ "ws/a": "old" });
    const out = inOtherProcess(ws, ["tell(files.writeFile('a', new Uint8Array(200_000)))"], (argv) => [
      "sh",
      "-c",
      // At most 64 blocks a file; the signal for that is ignored, so that the write fails.
      'trap "" XFSZ; ulimit -f 64; exec "$@"',
      "sh",
      ...argv,
    ]);
    expect(out).toEqual(["io: 'a' cannot be written (EFBIG)."]);
    expect(readFileSync(join(ws, "a"), "utf8")).toBe("old");
    expect(readdirSync(ws).sort()).toEqual([".keep", "a"]);
  });

  test("folders are made, and are no error when they are there", async () => {
    const { files, ws } = place();
    await files.mkdirAll("a/b/c");
    await files.mkdirAll("a/b/c/");
    await files.mkdirAll(".");
    await files.remove("a/b/c");
    expect(existsSync(join(ws, "a/b"))).toBe(true);
    expect(existsSync(join(ws, "a/b/c"))).toBe(false);
    symlinkSync("a", join(ws, "l"));
    await files.remove("l");
    expect(existsSync(join(ws, "a"))).toBe(true);
  });
});

test("an ordinary user: what the system forbids is reported as such", { tags: ["needs/root"] }, async () => {
  const { ws } = place({ "ws/p.txt": "x", "ws/ro/a": "a", "ws/x/in.txt": "in" });
  execFileSync("chmod", ["-R", "a+rX", join(ws, "..")]);
  chmodSync(join(ws, "p.txt"), 0);
  // May be entered, but not listed.
  chmodSync(join(ws, "x"), 0o711);
  const nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
  const out = inOtherProcess(
    ws,
    [
      "tell(files.readFile('p.txt'))",
      "tell(files.writeFile('ro/a', new Uint8Array()))",
      "tell(files.readFile('x/in.txt'))",
      "tell(files.readDir('x'))",
      "tell(files.readFile('x/none'))",
    ],
    (argv) => [...nobody, ...argv],
  );
  expect(out).toEqual([
    "access_denied: Permission denied: the system does not let this agent read 'p.txt'.",
    "access_denied: Permission denied: the system does not let this agent write 'ro/a'.",
    "done",
    "access_denied: Permission denied: the system does not let this agent read 'x'.",
    "not_found: There is no 'x/none'.",
  ]);
});

/** Makes the calls in another process that `wrap` starts. @returns their results */
function inOtherProcess(ws: string, calls: string[], wrap: (argv: string[]) => string[]): string[] {
  const program = `
    import { localFiles } from ${JSON.stringify(join(import.meta.dirname, "local-files.ts"))};
    const files = localFiles({ cwd: ${JSON.stringify(ws)} });
    const tell = async (work) => await work.then(() => "done", (error) => error.code + ": " + error.message);
    console.log(JSON.stringify([${calls.map((call) => `await ${call}`).join(", ")}]));`;
  const [file = "", ...args] = wrap([process.execPath, "--input-type=module", "-e", program]);
  return JSON.parse(String(execFileSync(file, args, { stdio: ["ignore", "pipe", "ignore"] })));
}

test("an abort is passed on unchanged", async () => {
  const { files } = place({ "ws/a": "a" });
  const reason = new Error("stop");
  await expect(files.readFile("a", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

/** Swaps `ws/d` between a folder and a link to `out`, as fast as a thread can. */
async function swapping(root: string, during: () => Promise<void>): Promise<void> {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(
    `const { renameSync } = require("node:fs");
     const { workerData: { ws, shared } } = require("node:worker_threads");
     const swap = (to, from) => { renameSync(ws + "/d", ws + to); renameSync(ws + from, ws + "/d"); };
     while (Atomics.load(shared, 1) === 0) {
       swap("/folder", "/link"); swap("/link", "/folder");
       Atomics.add(shared, 0, 1);
     }`,
    { eval: true, workerData: { ws: join(root, "ws"), shared } },
  );
  try {
    await until(() => Atomics.load(shared, 0) > 0);
    await during();
  } finally {
    Atomics.store(shared, 1, 1);
    await worker.terminate();
  }
}

test("a folder that is swapped for a link leads nowhere else", async () => {
  const { files, root, ws } = place({ "ws/d/secret.txt": "mine", "out/new.txt": "theirs", "out/mark": "" });
  symlinkSync("../out", join(ws, "link"));
  const seen = { read: 0, refused: 0, wrote: 0 };
  await swapping(root, async () => {
    for (
      let round = 0;
      round < 3_000 && (round < 300 || Math.min(...Object.values(seen)) === 0);
      round += 1
    ) {
      const content = await text(files, "d/secret.txt").catch((error: FileError) => error.code);
      expect(["mine", "access_denied", "not_found"]).toContain(content);
      if (content === "mine") seen.read += 1;
      if (content === "access_denied") seen.refused += 1;
      const wrote = await files.writeFile("d/new.txt", bytes("x")).catch(() => "refused");
      if (wrote !== "refused") seen.wrote += 1;
      await files.remove("d/new.txt").catch(() => {});
      const listed = await files.readDir("d").catch(() => []);
      expect(listed.map(({ name }) => name)).not.toContain("mark");
      expect((await files.stat("d/secret.txt").catch(() => ({ bytes: 4 }))).bytes).toBe(4);
    }
  });
  // Each result occurred, so the race really happened.
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  expect(readdirSync(join(root, "out")).sort()).toEqual(["mark", "new.txt", "secret.txt"]);
  expect(readFileSync(join(root, "out/new.txt"), "utf8")).toBe("theirs");
});

test("a hard link looks like any file: this is a limit, not a promise", async () => {
  const { files, root, ws } = place();
  linkSync(join(root, "out/secret.txt"), join(ws, "hard"));
  expect(await text(files, "hard")).toBe("secret");
});
