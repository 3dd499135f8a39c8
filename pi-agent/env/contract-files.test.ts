/** Tests that files behave the same in every environment. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { codeOf as code, inEveryEnvironment, ODD_NAMES, runIn } from "../testing/environments.ts";
import { type Environment, FileError } from "./environment.ts";

inEveryEnvironment((_kind, place) => {
  let folder: string;
  let ws: string;
  let outside: string;
  let env: Environment;
  beforeEach(() => {
    ({ folder, ws, outside, env } = place());
  });
  const sh = (command: string) => runIn(env, ["sh", "-c", command]);
  const read = async (path: string, part = {}) =>
    Buffer.from(await env.files.readFile(path, part)).toString();
  const write = async (path: string, text: string, more = {}) =>
    await env.files.writeFile(path, Buffer.from(text), more);

  test("written content is read back, byte for byte, whole and in parts", async () => {
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

  test("S4 nothing is written where git would run it, unless the call was judged with that knowledge", async () => {
    for (const folder of [".git/hooks", "sub/.GIT", "bare/objects", "bare/refs", "half/objects", "half/refs"])
      mkdirSync(join(ws, folder), { recursive: true });
    writeFileSync(join(ws, "bare/HEAD"), "");
    symlinkSync(".git", join(ws, "link"));
    symlinkSync("bare/config", join(ws, "harmless.txt"));
    mkdirSync(join(ws, "worktree"));
    const git = [
      ".git/config",
      ".git/hooks/pre-commit",
      "sub/.GIT/config",
      "./x/../.git/config",
      "link/config",
      "harmless.txt",
      "bare/config",
      "bare/hooks/post-checkout",
      "half/HEAD",
      "worktree/.git",
      "new/.git/config",
      ".git",
    ];
    for (const path of git) {
      const judged = await env.files.target(path);
      expect(judged, path).toMatchObject({ path, git: true });
      if (path !== ".git") expect(await code(write(path, "x")), path).toBe("blocked");
      expect(await code(env.files.mkdirAll(path)), path).toBe("blocked");
      expect(await code(env.files.remove(path)), path).toBe(
        path === "harmless.txt" ? "no failure" : "blocked",
      );
      if (path === "harmless.txt") symlinkSync("bare/config", join(ws, "harmless.txt"));
    }
    await write("bare/config", "judged", { judged: await env.files.target("bare/config") });
    expect(readFileSync(join(ws, "bare/config"), "utf8")).toBe("judged");
    for (const path of [".github/workflows/x.yml", ".gitignore", "git/config", "a.git/x", "half/config"]) {
      await env.files.mkdirAll(join(path, ".."));
      await write(path, "x");
      expect(await env.files.target(path)).toMatchObject({ git: false, link: false });
    }
  });

  test("S4 a write goes only to the place that was judged", async () => {
    await write("a.txt", "a");
    await write("b.txt", "b");
    symlinkSync("a.txt", join(ws, "to"));
    const judged = await env.files.target("to");
    expect(judged).toEqual({ path: "to", real: join(ws, "a.txt"), link: true, git: false });
    rmSync(join(ws, "to"));
    symlinkSync("b.txt", join(ws, "to"));
    expect(await code(write("to", "x", { judged }))).toBe("access_denied");
    expect(await read("b.txt")).toBe("b");
  });

  test("S1 a delete and a new folder go only to the place that was judged", async () => {
    for (const name of ["a", "b"]) mkdirSync(join(ws, name));
    for (const name of ["a/x", "b/x"]) await write(name, name);
    symlinkSync("b/x", join(ws, "to"));
    const [deleted, added, link] = await Promise.all([
      env.files.target("a/x"),
      env.files.target("a/new/y"),
      env.files.target("to"),
    ]);
    renameSync(join(ws, "a"), join(ws, "c"));
    symlinkSync("b", join(ws, "a"));
    expect(await code(env.files.remove("a/x", { judged: deleted }))).toBe("access_denied");
    expect(await code(env.files.mkdirAll("a/new", { judged: added }))).toBe("access_denied");
    // A path that could not be resolved when it was judged.
    const nowhere = { real: "", link: false, git: false };
    expect(await code(env.files.remove("b/x", { judged: { ...nowhere, path: "b/x" } }))).toBe(
      "access_denied",
    );
    expect(await code(write("b/x", "x", { judged: { ...nowhere, path: "b/x" } }))).toBe("access_denied");
    expect(readdirSync(join(ws, "b"))).toEqual(["x"]);
    expect(await read("b/x")).toBe("b/x");
    // A link itself is deleted, if its target is unchanged.
    await env.files.remove("to", { judged: link });
    expect(readdirSync(ws).sort()).toEqual(["a", "b", "c"]);
    rmSync(join(ws, "a"));
    renameSync(join(ws, "c"), join(ws, "a"));
    await env.files.remove("a/x", { judged: deleted });
    await env.files.mkdirAll("a/new", { judged: added });
    expect(readdirSync(join(ws, "a"))).toEqual(["new"]);
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

  test("unusual names are normal names", async () => {
    for (const name of ODD_NAMES) await write(name, `of ${name}`);
    expect((await env.files.readDir(".")).map((entry) => entry.name)).toEqual(readdirSync(ws).sort());
    expect(readdirSync(ws).sort()).toEqual([...ODD_NAMES].sort());
    for (const name of ODD_NAMES) {
      expect(await read(name)).toBe(`of ${name}`);
      expect(await env.files.canonical(name, "write")).toBe(join(ws, name));
      await env.files.remove(name);
    }
    expect(readdirSync(ws)).toEqual([]);
  }, 90_000);

  test("a folder is listed by name and kind, including hidden entries and links", async () => {
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

  test("folders are made with their parents, and an existing one is no error", async () => {
    await env.files.mkdirAll("a/b/c");
    await env.files.mkdirAll("a/b/c");
    expect(statSync(join(ws, "a/b/c")).isDirectory()).toBe(true);
    writeFileSync(join(ws, "file"), "");
    expect(await code(env.files.mkdirAll("file"))).toBe("not_directory");
  });

  test("remove deletes a file, a link but not its target, and only an empty folder", async () => {
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
  }, 60_000);

  test("nothing outside is read or written in any way", async () => {
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
  }, 90_000);

  test("an additional path may be read; `..` and links that stay inside work", async () => {
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
    try {
      for (let round = 0; round < 15; round += 1) {
        const text = await read("way/secret.txt").catch((error: unknown) => (error as FileError).code);
        // The error depends on the link's target at each check; the file outside is never read.
        expect(["inside", "access_denied", "not_found", "not_directory"]).toContain(text);
        await write("way/new.txt", "x").catch((error: unknown) => expect(error).toBeInstanceOf(FileError));
      }
    } finally {
      done = true;
      await swapping;
    }
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  }, 60_000);

  test("an aborted signal does nothing, and its reason is thrown", async () => {
    const reason = new DOMException("stop", "AbortError");
    const signal = AbortSignal.abort(reason);
    await expect(write("f", "x", { signal })).rejects.toBe(reason);
    await expect(env.files.readDir(".", { signal })).rejects.toBe(reason);
    expect(readdirSync(ws)).toEqual([]);
  });
});
