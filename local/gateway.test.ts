import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import { startWorker } from "./gateway.ts";
import { freePort, isFree } from "./port.ts";
import { childrenNamed } from "./workerd-guard.ts";

const WORKER = `
import { DurableObject } from "cloudflare:workers";
export class Rows extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS row (text TEXT)");
  }
  add(text) {
    this.ctx.storage.sql.exec("INSERT INTO row VALUES (?)", text);
    return this.ctx.storage.sql.exec("SELECT text FROM row").toArray().map((row) => row.text);
  }
}
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/web") {
      const said = await env.WEB.fetch(searchParams.get("url")).then((answer) => answer.text(), String);
      return new Response(said);
    }
    const rows = await env.OBJECT.getByName("one").add(new URL(request.url).pathname);
    return Response.json({ rows, greeting: env.GREETING, other: env.OTHER });
  },
};`;

let dir: string;
let config: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "edgecall-gateway-"));
  config = join(dir, "wrangler.toml");
  writeFileSync(join(dir, "index.ts"), WORKER);
  writeFileSync(
    config,
    `name = "rows"
main = "index.ts"
compatibility_date = "2026-10-01"
[[durable_objects.bindings]]
name = "OBJECT"
class_name = "Rows"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["Rows"]
[vars]
GREETING = "from the file"
OTHER = "too"
`,
  );
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const get = async (url: string) => (await fetch(url)).json();

test("rows survive a killed workerd and a restart; variables have priority over the file", {
  timeout: 20_000,
}, async () => {
  const state = join(dir, "a");
  let restarts = 0;
  const port = await freePort();
  const first = await startWorker({
    port,
    dir: state,
    config,
    vars: { GREETING: "hello" },
    onRestart: () => (restarts += 1),
  });
  expect(first.url).toBe(`http://127.0.0.1:${port}`);
  expect(await get(`${first.url}/1`)).toEqual({ rows: ["/1"], greeting: "hello", other: "too" });

  for (const pid of childrenNamed("workerd")) process.kill(pid, "SIGKILL");
  await until(() => restarts === 1, { within: 5_000 });
  expect(await get(`${first.url}/2`)).toMatchObject({ rows: ["/1", "/2"] });
  await first.stop();

  const second = await startWorker({ port, dir: state, config });
  expect(await get(`${second.url}/3`)).toMatchObject({ rows: ["/1", "/2", "/3"], greeting: "from the file" });
  await second.stop();
});

test("a killed gateway ends workerd too, and the next one has the rows", { timeout: 20_000 }, async () => {
  const port = await freePort();
  const script = join(dir, "run.ts");
  const gateway = fileURLToPath(new URL("./gateway.ts", import.meta.url));
  writeFileSync(
    script,
    `import { startWorker } from ${JSON.stringify(gateway)};
     await startWorker(${JSON.stringify({ port, dir: join(dir, "b"), config })});
     process.send({ ready: true });`,
  );
  const run = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    await new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", (code) => reject(new Error(`ended with ${code}`)));
    });
    return child;
  };
  const first = await run();
  try {
    expect(await get(`http://127.0.0.1:${port}/1`)).toMatchObject({ rows: ["/1"] });
  } finally {
    first.kill("SIGKILL");
  }
  expect(await isFree(port, 5_000)).toBe(true);

  const second = await run();
  try {
    expect(await get(`http://127.0.0.1:${port}/2`)).toMatchObject({ rows: ["/1", "/2"] });
  } finally {
    second.kill("SIGKILL");
    await isFree(port, 5_000);
  }
});

test.each([
  ["a year ahead", 365 * 86_400_000],
  ["3 h back", -3 * 3_600_000],
])(
  "O11: a clock that is set %s starts workerd anew, once, with its rows and its port",
  {
    timeout: 30_000,
  },
  async (name, by) => {
    const port = await freePort();
    const gateway = fileURLToPath(new URL("./gateway.ts", import.meta.url));
    const script = join(dir, "clock.ts");
    const set = join(dir, "by");
    writeFileSync(
      script,
      `import { startWorker } from ${JSON.stringify(gateway)};
     await startWorker(${JSON.stringify({ port, dir: join(dir, name), config })});
     process.send({ ready: true });`,
    );
    writeFileSync(set, String(by));
    const child = spawn(
      process.execPath,
      ["--import", fileURLToPath(new URL("../test/settable-clock.mjs", import.meta.url)), script],
      { stdio: ["ignore", "inherit", "pipe", "ipc"], env: { ...process.env, CLOCK_SET_BY: set } },
    );
    let said = "";
    child.stderr?.on("data", (data) => {
      said += data;
    });
    try {
      await once(child, "message");
      const before = childrenNamed("workerd", child.pid);
      expect(await get(`http://127.0.0.1:${port}/1`)).toMatchObject({ rows: ["/1"] });
      child.kill("SIGUSR2");
      const isAnew = () => {
        const now = childrenNamed("workerd", child.pid);
        return now.length > 0 && now.every((pid) => !before.includes(pid)) && now;
      };
      const anew = await until(isAnew, { within: 10_000, what: "another workerd" });
      await until(() => get(`http://127.0.0.1:${port}/2`).catch(() => undefined), { within: 10_000 });
      expect(await get(`http://127.0.0.1:${port}/3`)).toMatchObject({
        rows: expect.arrayContaining(["/1", "/2", "/3"]),
      });
      expect(childrenNamed("workerd", child.pid)).toEqual(anew);
      expect(said.match(/the clock was set by -?\d+ s: the Workers runtime is started again/g)).toHaveLength(
        1,
      );
    } finally {
      child.kill("SIGKILL");
      await isFree(port, 5_000);
    }
  },
);

test("an unknown key of wrangler.toml is an error that names it", async () => {
  const odd = join(dir, "odd.toml");
  writeFileSync(odd, 'name = "x"\nmain = "index.ts"\n[[kv_namespaces]]\nbinding = "KV"\n');
  await expect(startWorker({ port: 0, dir: join(dir, "c"), config: odd })).rejects.toThrow("'kv_namespaces'");
});

test("a taken port is an error that says so", async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
  try {
    await expect(startWorker({ port, dir: join(dir, "d"), config })).rejects.toThrow(
      `port ${port} on 127.0.0.1 is taken`,
    );
  } finally {
    server.close();
  }
});

test("the Worker's requests for a model never reach this machine or its network", async () => {
  let asked = 0;
  const server = createHttpServer((_, response) => {
    asked += 1;
    response.end("of this machine");
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const gateway = await startWorker({ port: 0, dir: join(dir, "web"), config });
  try {
    for (const host of ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254"]) {
      const url = encodeURIComponent(`http://${host}:${port}/`);
      expect(await (await fetch(`${gateway.url}/web?url=${url}`)).text()).not.toContain("of this machine");
    }
    expect(asked).toBe(0);
    // The server does answer an allowed client.
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("of this machine");
  } finally {
    await gateway.stop();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("a workerd that is killed again during its start comes back", async () => {
  const gateway = await startWorker({
    port: await freePort(),
    dir: join(dir, "twice"),
    config,
    onLog: () => {},
  });
  const answers = () =>
    fetch(`${gateway.url}/row`).then(
      (response) => response.ok,
      () => false,
    );
  try {
    const [first] = childrenNamed("workerd");
    process.kill(first ?? 0, "SIGKILL");
    const next = await until(() => childrenNamed("workerd").find((pid) => pid !== first));
    process.kill(next, "SIGKILL");
    await until(answers, { within: 10_000, what: "the Worker answers again" });
  } finally {
    await gateway.stop();
  }
}, 30_000);
