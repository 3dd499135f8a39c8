// @module-tag needs/bubblewrap
/**
 * Attempts of a client with a token to leave the workspace, to make what git or another user would run, or to pass the bounds of `[serve]`.
 * Judged by the folders afterwards and by what was answered, with the files of this machine and of the sandbox.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { local } from "../env/local.ts";
import { sandbox } from "../env/sandbox/sandbox.ts";
import { type ServedFiles, startServed } from "../testing/served-files.ts";

const SECRET = "serve-attempts-secret";
const WRITTEN = "written-by-the-client";
let folder: string;
let ws: string;
/** Lists the folders' names, kinds, modes and contents, except below the workspace's `free`. */
const around = () =>
  execFileSync(
    "sh",
    [
      "-c",
      "find . -path ./ws/free -prune -o -printf '%p %y %m %l\\n' | sort; cat outside/* ws-other/* ws/.git/config",
    ],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
const specials = () =>
  execFileSync("find", [ws, "-perm", "/7000"], { encoding: "utf8" }).split("\n").filter(Boolean);

const servers: Record<string, ServedFiles> = {};
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-attempts-")));
  ws = join(folder, "ws");
  mkdirSync(ws);
  // The sandbox's own files are what an agent without files of its own would serve.
  for (const [name, files] of [
    ["local", local({ cwd: ws }).files],
    ["sandbox", sandbox({ workspace: ws }).files],
  ] as const) {
    const environment = { ...sandbox({ workspace: ws }), files };
    const settings = { host: "127.0.0.1", port: 0, exec: false, readOnly: false };
    servers[name] = await startServed({ cwd: ws }, { environment, settings });
  }
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server.close();
  rmSync(folder, { recursive: true, force: true });
});
function lay(): void {
  execFileSync(
    "sh",
    [
      "-c",
      `rm -rf ws/* ws/.[!.]* outside ws-other
       mkdir -p outside ws-other ws/.git/hooks ws/sub ws/free
       echo ${SECRET} > outside/secret; echo ${SECRET} > ws-other/secret; chmod 600 outside/secret
       echo '[core]' > ws/.git/config; echo a > ws/a; chmod 644 ws/a
       ln -s ../outside ws/out; ln -s out ws/chain; ln -s ../outside/secret ws/tosecret; ln -s ../outside/new ws/dangling
       ln -s .git ws/gitlink; ln -s /proc/self ws/proc; ln -s loop ws/loop; ln -s / ws/root
       ln -s ../../outside ws/sub/up; ln -s ../.git/hooks ws/sub/hooks; mkfifo ws/pipe; ln -s /dev/zero ws/zero`,
    ],
    { cwd: folder },
  );
}

/** Sends exactly these bytes as the target and headers: `fetch` would tidy them. */
function send(
  base: string,
  path: string,
  {
    method = "POST",
    headers = {},
    body = "",
  }: { method?: string; headers?: Record<string, string | string[]>; body?: string },
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        hostname,
        port,
        path,
        method,
        headers: { "content-length": Buffer.byteLength(body), ...headers },
        agent: false,
      },
      (answer) => {
        let text = "";
        answer.on("data", (chunk) => (text += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    sent.on("error", reject).end(body);
  });
}

/** `WS`, `OUT` and `FOLDER` are the folders. `how` is the whole attempt where there is no more to say. */
type Attempt = [how: string, operation: string, request: Record<string, unknown>];
const reading = (path: string, operation = "read"): Attempt => [
  `${operation} ${JSON.stringify(path)}`,
  operation,
  { path },
];
const writing = (path: string, more: Record<string, string> = {}): Attempt => [
  `write ${JSON.stringify(path)} ${JSON.stringify(more)}`,
  "write",
  { path, ...more },
];
const changing = (operation: string, path: string, judged?: object): Attempt => [
  `${operation} ${JSON.stringify(path)} ${JSON.stringify(judged ?? {})}`,
  operation,
  { path, ...(judged && { judged }) },
];

const ATTEMPTS: Attempt[] = [
  // Out, to read
  ...[
    "sub/../../outside/secret",
    "sub/up/secret",
    "chain/secret",
    "tosecret",
    "WS/../outside/secret",
    "FOLDER/ws-other/secret",
  ].map((path) => reading(path)),
  ...[
    "WS-other/secret",
    "root/..FOLDER/outside/secret",
    "proc/root/..OUT/secret",
    "/proc/self/cwd/../outside/secret",
  ].map((path) => reading(path)),
  ...[
    "/proc/thread-self/root/OUT/secret",
    "//OUT//secret",
    "///proc/self/environ",
    "proc/environ",
    "/proc/self/fd/0",
  ].map((path) => reading(path)),
  ...["/dev/fd/0", "/dev/stdin", "/etc/shadow", "root/etc/passwd", "a/../../outside/secret"].map((path) =>
    reading(path),
  ),
  ...[
    "．．/outside/secret",
    "..\\outside\\secret",
    "%2e%2e/outside/secret",
    "..%2foutside/secret",
    "..\u2215outside/secret",
  ].map((path) => reading(path)),
  ...[
    "~/../outside/secret",
    "$PWD/../outside/secret",
    "file:///OUT/secret",
    "*/secret",
    "`cat OUT/secret`",
  ].map((path) => reading(path)),
  ...["chain", "out/", "sub/up/.", "root", "/", ".."].map((path) => reading(path, "list")),
  ...["tosecret", "out", "loop/x"].map((path) => reading(path, "stat")),
  ["a part of a file outside", "read", { path: "tosecret", offset: 1, length: 30 }],
  ["a device without an end", "read", { path: "zero", length: 100 }],
  ["a pipe that nobody writes", "read", { path: "pipe" }],
  ["canonical of a path outside", "canonical", { path: "out/secret", access: "read" }],
  [
    "a prototype in place of a path",
    "read",
    JSON.parse('{"__proto__":{"path":"tosecret"},"path":"tosecret"}'),
  ],
  // Out, to write
  ...[
    "tosecret",
    "dangling",
    "out/new",
    "sub/up/new",
    "chain/new",
    "WS-other/secret",
    "/proc/self/cwd/../outside/new",
  ].map((path) => writing(path)),
  ...["pipe", "zero", "loop", "sub", ".", "/dev/null", "proc/comm", "root/tmp/edgecall-attempt"].map((path) =>
    writing(path),
  ),
  writing("out/new", { judged_real: "OUT/new", judged_git: "true" }),
  writing("a", { judged_real: "OUT/secret" }),
  ...["out/d", "dangling/d", "../d", "sub/up/d/e", "tosecret/d", "FOLDER/ws-new"].map((path) =>
    changing("mkdir", path),
  ),
  ...["out/secret", "sub/up/secret", "../outside", "WS/../ws-other/secret", ".", "..", "WS"].map((path) =>
    changing("remove", path),
  ),
  changing("remove", "tosecret", { real: "OUT/secret", git: false }),
  changing("mkdir", "out/d", { real: "OUT/d/x", git: true }),
  // Git runs these.
  ...[
    ".git/hooks/pre-commit",
    ".GIT/hooks/x",
    "gitlink/config",
    "sub/hooks/pre-commit",
    "sub/.git",
    "sub/../.git/config",
  ].map((path) => writing(path)),
  ...[".git/hooks/post-checkout", "gitlink/hooks/x"].map((path) =>
    writing(path, { judged_real: "WS/.git/hooks/post-checkout", judged_git: "true" }),
  ),
  changing("mkdir", ".git/hooks/d", { real: "WS/.git/hooks/d", git: true }),
  changing("remove", ".git/config", { real: "WS/.git/config", git: true }),
  changing("mkdir", "sub/.git/hooks"),
  // Special modes, in each spelling
  ...[
    "4755",
    "04755",
    "2755",
    "1777",
    "7777",
    "+s",
    "u+s",
    "0o4755",
    "-1",
    "4294967295",
    " 755",
    "755\n",
    "１７７",
    "1e3",
    "755,4755",
  ].map((mode) => writing("free/m", { mode })),
];

describe.each(["local", "sandbox"])("S27: the files of %s", (name) => {
  // No attempt changes them.
  beforeAll(lay);

  test.each(ATTEMPTS)("S27: %s", async (_, operation, wanted) => {
    const filled = JSON.parse(
      JSON.stringify(wanted)
        .replaceAll("OUT", join(folder, "outside"))
        .replaceAll("WS", ws)
        .replaceAll("FOLDER", folder),
    ) as Record<string, string>;
    const { url = "", token = "" } = servers[name] ?? {};
    const before = around();
    const isWrite = operation === "write";
    const path = `/v1/files/${operation}${isWrite ? `?${new URLSearchParams(filled)}` : ""}`;
    const body = isWrite ? WRITTEN : JSON.stringify(filled);
    const { status, text } = await send(url, path, { headers: { authorization: `Bearer ${token}` }, body });
    expect(text).not.toContain(SECRET);
    expect(around()).toBe(before);
    expect(specials()).toEqual([]);
    expect(status, text).toBeGreaterThanOrEqual(400);
  });

  test("S27: what is allowed works, so that the attempts above could", async () => {
    const { url = "", token = "" } = servers[name] ?? {};
    const headers = { authorization: `Bearer ${token}` };
    const wrote = await send(url, "/v1/files/write?path=free/m&mode=0755", { headers, body: WRITTEN });
    const read = await send(url, "/v1/files/read", { headers, body: '{"path":"sub/../free/m"}' });
    const made = await send(url, "/v1/files/mkdir", { headers, body: '{"path":"free/d/e"}' });
    expect([wrote.status, made.status, read.text]).toEqual([200, 200, WRITTEN]);
  });

  test("S27: three writes that each look plain make no repository of git together", async () => {
    const { url = "", token = "" } = servers[name] ?? {};
    const headers = { authorization: `Bearer ${token}` };
    const done: number[] = [];
    for (const part of ["objects", "refs"])
      done.push(
        (await send(url, "/v1/files/mkdir", { headers, body: JSON.stringify({ path: `free/${part}` }) }))
          .status,
      );
    done.push(
      (await send(url, "/v1/files/write?path=free/HEAD", { headers, body: "ref: refs/heads/x" })).status,
    );
    expect(done).toEqual([200, 200, 403]);
  });

  test("S27: a set-uid file is none any more once another content is written to it", async () => {
    const { url = "", token = "" } = servers[name] ?? {};
    const headers = { authorization: `Bearer ${token}` };
    for (const mode of ["4755", "2755", "6711"]) {
      execFileSync("sh", ["-c", `echo old > free/x; chmod ${mode} free/x`], { cwd: ws });
      const { status } = await send(url, "/v1/files/write?path=free/x", { headers, body: WRITTEN });
      expect([status, specials()], mode).toEqual([200, []]);
    }
  });
});

describe("S27: the doors of [serve]", () => {
  beforeAll(lay);

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  test.each<
    [
      how: string,
      (token: string) => { path?: string; method?: string; headers?: Record<string, string | string[]> },
    ]
  >([
    ["the token in the address", (token) => ({ path: `/v1/files/read?access_token=${token}` })],
    [
      "the token as user and password",
      (token) => ({ headers: { authorization: `Basic ${Buffer.from(`test:${token}`).toString("base64")}` } }),
    ],
    ["the token in a cookie", (token) => ({ headers: { cookie: `token=${token}` } })],
    ["the token's name before it", (token) => ({ headers: bearer(`test ${token}`) })],
    ["two tokens in one header", (token) => ({ headers: bearer(`${token}, Bearer x`) })],
    ["a token without its end", (token) => ({ headers: bearer(token.slice(0, 32)) })],
    ["a token of all lines of the file", (token) => ({ headers: bearer(`${token}\t`.trim().repeat(2)) })],
    ["another method", (token) => ({ method: "PUT", headers: bearer(token) })],
    [
      "a method in a header",
      (token) => ({ method: "GET", headers: { ...bearer(token), "x-http-method-override": "POST" } }),
    ],
    ["a program where there are none", (token) => ({ path: "/v1/exec", headers: bearer(token) })],
    ["a program by another spelling", (token) => ({ path: "/v1/files/../exec", headers: bearer(token) })],
    [
      "a program by an encoded spelling",
      (token) => ({ path: "/v1/files/%2e%2e/exec", headers: bearer(token) }),
    ],
    ["a program by two slashes", (token) => ({ path: "//v1/exec", headers: bearer(token) })],
    [
      "a program by an absolute address",
      (token) => ({ path: "http://agent/v1/exec", headers: bearer(token) }),
    ],
    ["an operation by another letter case", (token) => ({ path: "/v1/FILES/read", headers: bearer(token) })],
    [
      "no length of the body",
      (token) => ({ headers: { ...bearer(token), "transfer-encoding": "chunked", "content-length": [] } }),
    ],
    [
      "a length that is none",
      (token) => ({
        path: "/v1/files/write?path=free/x",
        headers: { ...bearer(token), "content-length": "0x10" },
      }),
    ],
  ])("S27: %s", async (_, attempt) => {
    const { url = "", token = "" } = servers.local ?? {};
    const { path = "/v1/files/read", ...more } = attempt(token);
    const body = path.includes("exec") ? '{"run":"12345678","argv":["touch","free/x"]}' : '{"path":"a"}';
    const before = around();
    const answer = await send(url, path, { ...more, body }).catch(() => ({ status: 400, text: "" }));
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    expect(around()).toBe(before);
    expect(execFileSync("ls", [join(ws, "free")], { encoding: "utf8" })).toBe("");
  });
});
