// @module-tag needs/bubblewrap
// @module-tag needs/openssl
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import type { Environment, RunOptions } from "../env/environment.ts";
import { http } from "../env/http/http.ts";
import { httpPlace } from "../env/http/http-place.ts";
import { local } from "../env/local.ts";
import { sandbox } from "../env/sandbox/sandbox.ts";
import { casesOf, placeOf } from "../testing/cases.ts";
import { codeOf, runIn } from "../testing/environments.ts";
import { type ServedFiles, startServed } from "../testing/served-files.ts";
import { readServeKeys, ServeTokens } from "./serve-keys.ts";

let cwd: string;
const closing: Array<() => Promise<void> | void> = [];
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-serve-")));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function served(more: Parameters<typeof startServed>[1] = {}, folder = cwd): Promise<ServedFiles> {
  const place = await startServed({ cwd: folder }, more);
  closing.push(() => place.close());
  return place;
}

function client(url: string, token: string, more: { cwd?: string; caFile?: string } = {}): Environment {
  const environment = http({ name: "far", url, token, cwd, ...more });
  closing.push(() => environment.close());
  return environment;
}

const settings = (more: object) => ({ host: "127.0.0.1", port: 0, exec: true, readOnly: false, ...more });
const post = (url: string, token: string | undefined, body: string) =>
  fetch(url, {
    method: "POST",
    body,
    redirect: "manual",
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });

test("without a token, or with a wrong one, nothing is answered; the log says so once, and the record has no line", async () => {
  const events: string[] = [];
  const { url, token, lines } = await served({ log: (_level, event) => void events.push(event) });
  writeFileSync(join(cwd, "f"), "secret");
  for (const wrong of [undefined, "", "x".repeat(40), `${token}x`, token.slice(0, -1)])
    for (const path of ["v1/files/read", "v1/exec", "v1/nothing"]) {
      const answer = await post(`${url}/${path}`, wrong, '{"path":"f"}');
      expect([answer.status, await answer.json()]).toEqual([
        401,
        { error: { code: "unauthorized", message: expect.any(String) } },
      ]);
    }
  expect((await fetch(`${url}/v1/info`)).status).toBe(401);
  expect(events).toEqual(["serve.listening", "serve.refused"]);
  expect(lines).toEqual([]);
  const far = client(url, "y".repeat(40));
  await expect(far.files.readFile("f")).rejects.toMatchObject({
    code: "io",
    message: expect.stringContaining("The token is not one of this agent's"),
  });
  await expect(runIn(far, ["true"])).rejects.toMatchObject({ code: "io" });
});

test("the client refuses an address without TLS, and a server of another folder", async () => {
  const { url, token } = await served();
  for (const wrong of ["http://10.0.0.4:7443", "http://far.lan", "ftp://127.0.0.1", "https://a:b@far", "far"])
    expect(() => httpPlace(wrong, "far"), wrong).toThrow("right would be");
  for (const right of ["http://localhost:1", "http://[::1]:1", "http://127.0.0.2", "https://far.lan/agent"])
    expect(() => httpPlace(right, "far"), right).not.toThrow();
  const elsewhere = client(url, token, { cwd: "/srv/other" });
  await expect(elsewhere.files.writeFile("f", Buffer.from("x"))).rejects.toThrow(
    `it serves the folder '${cwd}'`,
  );
  expect(existsSync(join(cwd, "f"))).toBe(false);
});

test("over TLS with an authority of one's own; a client that does not know it refuses", async () => {
  const at = (name: string) => join(cwd, "..", `${cwd.split("/").at(-1)}-${name}`);
  execFileSync(
    "openssl",
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=far -addext subjectAltName=IP:127.0.0.1 -keyout ${at("key")} -out ${at("cert")}`.split(
      " ",
    ),
    { stdio: "ignore" },
  );
  const tls = { cert: readFileSync(at("cert")), key: readFileSync(at("key")) };
  const { url, token } = await served({ tls });
  expect(url).toMatch(/^https:/);
  const far = client(url, token, { caFile: at("cert") });
  await far.files.writeFile("f", Buffer.from("x"));
  expect(await runIn(far, ["cat", "f"])).toMatchObject({ exitCode: 0, stdout: "x" });
  const stranger = client(url, token);
  await expect(stranger.files.readFile("f")).rejects.toThrow(/self-signed certificate/);
});

test("a redirect is refused, and the token is not sent on", async () => {
  const seen: string[] = [];
  const elsewhere = await listening(
    createServer((request, response) => {
      seen.push(request.headers.authorization ?? "");
      response.end("{}");
    }),
  );
  const redirects = await listening(
    createServer((_request, response) => {
      response.writeHead(307, { location: `${elsewhere}/v1/info` }).end();
    }),
  );
  await expect(client(redirects, "t".repeat(40)).files.stat(".")).rejects.toThrow(
    "redirect (307), which is not followed",
  );
  expect(seen).toEqual([]);
});

test("what answers something else is no agent", async () => {
  const page = await listening(createServer((_request, response) => void response.end("<html>")));
  const far = client(page, "t".repeat(40));
  await expect(far.files.stat(".")).rejects.toThrow("it answered something else");
  await expect(runIn(far, ["true"])).rejects.toMatchObject({ code: "io" });
});

const BLOCKED = casesOf("path_guard", "path_guard").filter(
  ({ expect: { verdict }, given }) => verdict === "blocked" && given?.race === undefined,
);

test.each(BLOCKED)("$id leads nowhere", async (one) => {
  const folder = realpathSync(placeOf(one));
  const root = join(folder, one.given?.root ?? ".");
  if (!existsSync(root)) mkdirSync(root);
  const { url, token } = await served({}, root);
  const far = client(url, token, { cwd: root });
  const { op, path } = one.input as { op: "read" | "write" | "ls"; path: string };
  const work = {
    write: () => far.files.writeFile(path, Buffer.from("written")),
    ls: () => far.files.readDir(path),
    read: () => far.files.readFile(path),
  };
  expect(await codeOf(work[op]())).toBe("access_denied");
  for (const absent of one.expect.filesAbsent ?? []) expect(existsSync(join(folder, absent))).toBe(false);
});

test("no spelling of a path leads out, whatever a client sends", async () => {
  const ws = join(cwd, "ws");
  mkdirSync(ws);
  writeFileSync(join(cwd, "secret"), "secret");
  symlinkSync("..", join(ws, "up"));
  symlinkSync("../new", join(ws, "dangling"));
  const { url, token } = await served({}, ws);
  const ways = [
    "../secret",
    "./../secret",
    "x/../../secret",
    `${ws}/../secret`,
    join(cwd, "secret"),
    "up/secret",
  ];
  for (const path of [
    ...ways,
    "//etc/passwd",
    "/proc/self/root/etc/passwd",
    "/proc/self/environ",
    "a\0/../../secret",
  ])
    for (const operation of ["stat", "read", "list", "mkdir", "remove", "target", "canonical"]) {
      const access = operation === "canonical" ? { access: "write" } : {};
      const real = join(cwd, "secret");
      const judged = ["mkdir", "remove"].includes(operation) ? { judged: { real, git: true } } : {};
      const body = JSON.stringify({ path, ...access, ...judged });
      const answer = await post(`${url}/v1/files/${operation}`, token, body);
      expect(await answer.json(), `${operation} ${path}`).toMatchObject({
        error: { code: expect.stringMatching(/^(access_denied|not_found)$/) },
      });
    }
  for (const path of [...ways, "dangling", "up/new", "%2e%2e/new/../..//../new"]) {
    const query = new URLSearchParams({ path, judged_real: join(cwd, "new"), judged_git: "true" });
    const answer = await post(`${url}/v1/files/write?${query}`, token, "written");
    expect(answer.status, path).not.toBe(200);
  }
  expect(readFileSync(join(cwd, "secret"), "utf8")).toBe("secret");
  expect(existsSync(join(cwd, "new"))).toBe(false);
});

test("read_only refuses every change and every program, exec = false the programs", async () => {
  writeFileSync(join(cwd, "f"), "x");
  const readOnly = await served({ settings: settings({ readOnly: true, exec: false }) });
  const far = client(readOnly.url, readOnly.token);
  expect(Buffer.from(await far.files.readFile("f")).toString()).toBe("x");
  for (const work of [
    far.files.writeFile("f", Buffer.from("y")),
    far.files.mkdirAll("d"),
    far.files.remove("f"),
    runIn(far, ["touch", "d"]),
  ])
    expect(await codeOf(work)).toBe("blocked");
  expect(readFileSync(join(cwd, "f"), "utf8")).toBe("x");
  expect(existsSync(join(cwd, "d"))).toBe(false);
});

test("without programs, a client cannot make git run one either", async () => {
  mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
  const { url, token } = await served({ settings: settings({ exec: false }) });
  const far = client(url, token);
  const hook = ".git/hooks/pre-commit";
  const judged = await far.files.target(hook);
  expect(judged.git).toBe(true);
  expect(await codeOf(far.files.writeFile(hook, Buffer.from("#!/bin/sh\n"), { judged }))).toBe("blocked");
  expect(await codeOf(runIn(far, ["true"]))).toBe("blocked");
});

test("each operation leaves a line with the token's name, without contents", async () => {
  const { url, token, lines } = await served();
  const far = client(url, token);
  await far.files.writeFile("f", Buffer.from("private words"));
  await codeOf(far.files.readFile("../f"));
  await runIn(far, ["sh", "-c", "exit 3"], {
    env: { GIVEN: "private words" },
    stdin: Buffer.from("private words"),
  });
  await codeOf(runIn(far, ["no-such-program"]));
  const caller = { principal: "http:test", role: "guest", channel: "http" };
  await until(() => lines.length === 4);
  expect(lines).toEqual([
    expect.objectContaining({
      tool: "serve_write",
      parameters: { path: "f", bytes: 13 },
      result: "success",
      caller,
    }),
    expect.objectContaining({ tool: "serve_read", error_type: "permission_denied", caller }),
    expect.objectContaining({
      tool: "serve_exec",
      parameters: { argv: ["sh", "-c", "exit 3"] },
      result: "error",
      error: "exit code 3",
      exit_code: 3,
    }),
    expect.objectContaining({ tool: "serve_exec", result: "error", exit_code: null }),
  ]);
  expect(JSON.stringify(lines)).not.toContain("private");
});

test.each(["4755", "2755", "1777", "6755", "7777", "04755"])(
  "S27: no file is made with the mode %s",
  async (mode) => {
    const { url, token } = await served();
    const answer = await post(`${url}/v1/files/write?path=a&mode=${mode}`, token, "x");
    expect(answer.status).toBe(400);
    expect(JSON.stringify(await answer.json())).toContain(
      "mode: expected permission bits in octal, 777 at most: no file is made set-uid, set-gid or sticky",
    );
    expect(existsSync(join(cwd, "a"))).toBe(false);
    expect((await post(`${url}/v1/files/write?path=b&mode=0755`, token, "x")).status).toBe(200);
    expect(statSync(join(cwd, "b")).mode & 0o7777).toBe(0o755);
  },
);

test("S27: a file that is made from a set-uid one is none", async () => {
  for (const files of [local({ cwd }).files, sandbox({ workspace: cwd }).files]) {
    await files.writeFile("made", Buffer.from("x"), { mode: 0o6755 });
    expect(statSync(join(cwd, "made")).mode & 0o7000).toBe(0);
    rmSync(join(cwd, "made"));
  }
});

test("requests that are not right change nothing", async () => {
  const { url, token } = await served();
  const status = async (path: string, body: string) => (await post(`${url}/${path}`, token, body)).status;
  expect(await status("v1/files/stat", "{")).toBe(400);
  expect(await status("v1/files/stat", '{"path":1}')).toBe(400);
  expect(await status("v1/files/remove", '{"path":"f","judge":{"real":"/","git":true}}')).toBe(400);
  expect(await status("v1/files/stat", JSON.stringify({ path: "x".repeat(70_000) }))).toBe(413);
  expect(await status("v1/files/write?path=a&path2=b", "x")).toBe(400);
  expect(await status("v1/files/write?path=a&mode=999", "x")).toBe(400);
  expect(await status("v1/exec", '{"run":"12345678","argv":[]}')).toBe(400);
  expect(await status("v1/exec/stop", '{"run":"12345678"}')).toBe(404);
  expect(await status("v2/files/stat", "{}")).toBe(404);
  expect((await fetch(`${url}/v1/exec`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(405);
  expect(existsSync(join(cwd, "a"))).toBe(false);
});

test("a program that the server's end kills is a failure and never a result", async () => {
  const place = await startServed({ cwd });
  const far = client(place.url, place.token);
  const pidFile = join(cwd, "pid");
  const running = codeOf(runIn(far, ["sh", "-c", "echo begun; touch pid; exec sleep 60"]));
  await until(() => existsSync(pidFile));
  await place.close();
  expect(await running).toBe("io");
});

test("a cut connection in the middle of a program is a failure, and ends the program", async () => {
  const { url, token, lines } = await served();
  const target = new URL(url);
  const cuts: Array<() => void> = [];
  const { connect } = await import("node:net");
  const proxy = createTcpServer((socket) => {
    const there = connect(Number(target.port), target.hostname);
    socket.pipe(there).pipe(socket);
    for (const end of [socket, there]) end.on("error", () => {});
    cuts.push(() => {
      socket.destroy();
      there.destroy();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  closing.push(() => void proxy.close());
  const far = client(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, token);
  let begun = false;
  const running = codeOf(
    runIn(far, ["sh", "-c", "echo begun; exec sleep 60"], { onOutput: () => (begun = true) }),
  );
  await until(() => begun);
  for (const cut of cuts) cut();
  expect(await running).toBe("io");
  await until(() => lines.some(({ tool, error }) => tool === "serve_exec" && error === "it was stopped"));
});

test("a client that is gone does not keep its program running, and nobody else can stop it", async () => {
  const { url, token, lines } = await served();
  const gone = new AbortController();
  const answer = await fetch(`${url}/v1/exec`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ run: "run-12345678", argv: ["sleep", "60"] }),
    signal: gone.signal,
  });
  expect(answer.status).toBe(200);
  const again = await post(`${url}/v1/exec`, token, JSON.stringify({ run: "run-12345678", argv: ["true"] }));
  expect(again.status).toBe(409);
  gone.abort();
  await until(() => lines.some(({ error }) => error === "it was stopped"));
});

/** Programs that end only when they are stopped. @param begins called with each one's options */
function endless(begins: (options: RunOptions) => void): Environment {
  const run: Environment["exec"]["run"] = (_argv, options) =>
    new Promise((resolve) => {
      options.signal.addEventListener("abort", () =>
        resolve({ exitCode: null, signal: "SIGKILL", stopped: true }),
      );
      begins(options);
    });
  return { ...local({ cwd }), exec: { run } };
}

test("more than sixteen programs at once are refused in words, and all end with the server", async () => {
  let running = 0;
  const { url, token, close } = await served({ environment: endless(() => (running += 1)) });
  const far = client(url, token);
  const runs = Array.from({ length: 16 }, () => codeOf(runIn(far, ["x"])));
  await until(() => running === 16);
  await expect(runIn(far, ["x"])).rejects.toThrow("It is busy: 16 programs are running. Nothing was done");
  await close();
  expect(new Set(await Promise.all(runs))).toEqual(new Set(["io"]));
});

test("the program of a client that does not read its output is ended", async () => {
  const chunk = new Uint8Array(1024 * 1024);
  const { url, token, lines } = await served({
    environment: endless(({ onOutput }) => {
      for (let n = 0; n < 64; n += 1) onOutput?.(chunk, "stdout");
    }),
  });
  const answer = await post(`${url}/v1/exec`, token, '{"run":"12345678","argv":["x"]}').catch(
    () => undefined,
  );
  await until(() => lines.some(({ error }) => error === "it was stopped"));
  await answer?.body?.cancel().catch(() => {});
});

test("bodies of more than 256 MiB in all are refused before they are read", async () => {
  const { url, token } = await served();
  const announced = (bytes: number) =>
    request(`${url}/v1/files/write?path=f`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-length": bytes },
    });
  const first = announced(200 * 1024 * 1024);
  first.on("error", () => {});
  first.write("x");
  const statusOf = async (bytes: number) => {
    const sent = announced(bytes);
    sent.on("error", () => {});
    sent.flushHeaders();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    sent.destroy();
    return answer.statusCode;
  };
  await until(async () => (await statusOf(100 * 1024 * 1024)) === 503);
  expect(await statusOf(300 * 1024 * 1024)).toBe(413);
  first.destroy();
  expect(existsSync(join(cwd, "f"))).toBe(false);
});

test("files of more than 256 MiB in all are not read at once, until their readers have them or are gone", async () => {
  const { url, token } = await served();
  for (const [name, mb] of [
    ["large", 200],
    ["whole", 256],
  ] as const) {
    writeFileSync(join(cwd, name), "");
    truncateSync(join(cwd, name), mb * 1024 * 1024);
  }
  const reading = async (body: object) => {
    const sent = request(`${url}/v1/files/read`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    sent.on("error", () => {});
    sent.end(JSON.stringify(body));
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return { status: answer.statusCode, leave: () => sent.destroy() };
  };
  const first = await reading({ path: "large" });
  expect(first.status).toBe(200);
  symlinkSync("large", join(cwd, "link"));
  const second = await reading({ path: "link" });
  expect(second.status).toBe(503);
  const part = await reading({ path: "large", offset: 1_000, length: 10 });
  expect(part.status).toBe(200);
  for (const { leave } of [first, second, part]) leave();
  await until(async () => {
    const whole = await reading({ path: "whole" });
    whole.leave();
    return whole.status === 200;
  });
});

test("a client that is gone before its program begins leaves no program", async () => {
  let running = 0;
  const environment = endless(({ signal }) => {
    running += 1;
    signal.addEventListener("abort", () => (running -= 1));
  });
  const { url, token, lines } = await served({ environment });
  const { hostname, port } = new URL(url);
  const { connect } = await import("node:net");
  const times = 40;
  for (let n = 0; n < times; n += 1) {
    const body = JSON.stringify({ run: `run-${n}-12345678`, argv: ["x"] });
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    const head = `POST /v1/exec HTTP/1.1\r\nhost: far\r\nauthorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.end(head + body);
    socket.destroySoon();
    await once(socket, "close");
  }
  await until(() => lines.length === times);
  expect(running).toBe(0);
});

test("the file of tokens: names and long tokens, for the agent's user alone", async () => {
  const long = "a".repeat(32);
  const tokens = ServeTokens.parse(`# comment\n\nlaptop ${long}\n gpu  ${"b".repeat(40)}\n`, "f");
  expect(tokens.nameOf(`Bearer ${long}`)).toBe("laptop");
  expect(tokens.nameOf(`bearer ${"b".repeat(40)}`)).toBe("gpu");
  for (const wrong of [undefined, "", long, `Bearer ${long}a`, `Basic ${long}`])
    expect(tokens.nameOf(wrong)).toBeUndefined();
  for (const wrong of ["", "laptop short", long, `a ${long}\na ${"b".repeat(40)}`, `A ${long}`])
    expect(() => ServeTokens.parse(wrong, "f"), wrong).toThrow(/serve\.token_file: f/);
  const file = join(cwd, "tokens");
  writeFileSync(file, `laptop ${long}\n`);
  const given = { ...settings({}), tokenFile: file, tls: undefined };
  chmodSync(file, 0o644);
  await expect(readServeKeys(given)).rejects.toThrow("every user of this machine can read");
  chmodSync(file, 0o600);
  expect((await readServeKeys(given)).tokens.nameOf(`Bearer ${long}`)).toBe("laptop");
  await expect(readServeKeys({ ...given, tokenFile: join(cwd, "none") })).rejects.toThrow("cannot be read");
});

test("a changed token is read again after a refusal", async () => {
  const { url, token } = await served();
  const file = join(cwd, "..", `${cwd.split("/").at(-1)}-token`);
  writeFileSync(file, `${"z".repeat(40)}\n`);
  const far = http({ name: "far", url, cwd, token: { file } });
  closing.push(() => far.close());
  expect(await codeOf(far.files.stat("."))).toBe("io");
  writeFileSync(file, `${token}\n`);
  expect(await far.files.stat(".")).toMatchObject({ kind: "directory" });
});

test("a link of the workspace to a place outside is not followed", async () => {
  symlinkSync("/etc", join(cwd, "out"));
  const { url, token } = await served();
  const far = client(url, token);
  expect(await codeOf(far.files.readFile("out/passwd"))).toBe("access_denied");
  expect(await codeOf(far.files.readFile("/etc/passwd"))).toBe("access_denied");
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
