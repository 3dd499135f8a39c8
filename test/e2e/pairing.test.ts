/** A new device joins as with a person: a code from the console, one command, and it is online. Without a service. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const stack = useStack();
const folder = mkdtempSync(join(tmpdir(), "edgecall-pairing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let script: string;
beforeAll(async () => {
  const response = await fetch(`${stack.gateway.url}/install.sh`);
  expect(response.status).toBe(200);
  script = await response.text();
});

type Ran = { code: number; out: string; err: string };
type Running = { stop(): Promise<void> };

/**
 * Runs the installer as `curl …
 * sh -s -- ARGUMENTS` does.
 */
function install(
  args: readonly string[],
  { text = script, env = {} as Record<string, string> } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-s", "--", ...args], { env: { PATH: process.env.PATH, ...env } });
    const ran: Ran = { code: -1, out: "", err: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      ran.out += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      ran.err += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...ran, code: code ?? -1 }));
    // A script that ends early does not read the rest of its input.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });
}

/** Runs the command that the script printed. */
function start(command: string): Running {
  const child = spawn("/bin/sh", ["-c", `exec ${command}`], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return {
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function newCode(body: object = { broker: { url: stack.mqttUrl } }) {
  const response = await stack.gateway.fetch("/v1/device-codes", {
    method: "POST",
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { code: string; command: string };
}

const seen = async (code: string) =>
  (await (await stack.gateway.fetch(`/v1/device-codes/${code}`)).json()) as {
    state: string;
    online?: boolean;
  };

test("one command, and it is online; the same command again upgrades, and keeps settings and key", {
  tags: ["needs/curl"],
  timeout: 120_000,
}, async () => {
  const { code, command } = await newCode();
  expect(command).toContain(`${stack.gateway.url}/install.sh | sudo sh -s -- ${code}`);
  const dir = join(folder, "it's here");
  const installed = await install([code, "--name", "eye", "--no-service", dir]);
  expect(installed, installed.err).toMatchObject({ code: 0 });
  expect(installed.err).toContain("paired with home 'a' as 'eye'");
  for (const file of ["agent.toml", "state/key.json", "state/gateway.json"])
    expect(statSync(join(dir, file)).mode & 0o777, file).toBe(0o600);
  expect(statSync(join(dir, "state")).mode & 0o777).toBe(0o700);

  const agent = start(installed.out);
  try {
    await until(async () => (await seen(code)).online, {
      within: 30_000,
      what: "the code's device is online",
    });
    const reply = await stack.gateway.command("eye", "ping");
    expect(reply).toMatchObject({ status: 200, body: { report_type: "result" } });
  } finally {
    await agent.stop();
  }

  const before = ["agent.toml", "state/key.json"].map((file) => readFileSync(join(dir, file), "utf8"));
  const again = await install(["--no-service", dir]);
  expect(again, again.err).toMatchObject({ code: 0, out: installed.out });
  expect(["agent.toml", "state/key.json"].map((file) => readFileSync(join(dir, file), "utf8"))).toEqual(
    before,
  );
  const other = await install([(await newCode()).code, "--name", "ear", "--no-service", dir]);
  expect(other).toMatchObject({ code: 1, err: expect.stringContaining("agent.toml exists already") });
});

test("errors are explained in words, and install nothing", {
  tags: ["needs/curl"],
  timeout: 120_000,
}, async () => {
  const { code } = await newCode();
  const dir = join(folder, "nothing");
  const cases: Array<[string, string[], Parameters<typeof install>[1], string]> = [
    ["no code", ["--no-service", dir], {}, "a code is needed"],
    ["a wrong code", ["a-AAAAAAAAAAAA", "--no-service", dir], {}, "wrong, used or expired"],
    ["an option that is none", ["--no-such"], {}, "--no-such: there is no such option"],
    ["no value", [code, "--name"], {}, "--name: needs a value"],
    ["a bridge in a folder", [code, "--with-bridge", "--no-service", dir], {}, "not with --no-service"],
    ["the address of nothing", [code, "--address", "hub"], {}, "are for --with-bridge"],
    [
      "another program",
      [code, "--no-service", dir],
      { text: script.replace(/^PROGRAM_SHA256='.*'$/m, `PROGRAM_SHA256='${"0".repeat(64)}'`) },
      "the program is not the one that this script is for",
    ],
  ];
  for (const [name, args, options, words] of cases) {
    const ran = await install(args, options);
    expect({ name, code: ran.code }).toEqual({ name, code: 1 });
    expect(ran.err, name).toContain(words);
  }
  expect(() => statSync(join(dir, "edgecall.cjs"))).toThrow("ENOENT");
  expect(await seen(code)).toEqual({ state: "open" });
});

test("unsupported machines are told why", { tags: ["needs/curl"] }, async () => {
  const { code } = await newCode();
  const dir = join(folder, "machines");
  const on = async (programs: Record<string, string>, args = [code, "--no-service", dir]) => {
    const functions = Object.entries(programs).map(([name, body]) => `${name}() { ${body}; }\n`);
    return (await install(args, { text: `${functions.join("")}${script}` })).err;
  };
  expect(await on({ uname: '[ "$1" = -s ] && echo Linux || echo armv7l' })).toContain(
    "this is armv7l; the agent needs a 64-bit",
  );
  expect(await on({ getconf: "echo 32" })).toContain("this system is 32-bit on a 64-bit processor");
  expect(await on({ uname: "echo Darwin" })).toContain("this is Darwin; the agent needs Linux");
  expect(await on({ id: "echo 1000" }, [code])).toContain("needs root: curl -fsS");
});

test("a Node that is not the pinned one is not run", { tags: ["needs/curl"] }, async () => {
  const server = createServer((_, response) => response.end("not that one"));
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  try {
    const { code } = await newCode();
    const dir = join(folder, "node");
    const ran = await install([code, "--no-service", dir], {
      env: { EDGECALL_OWN_NODE: "1", EDGECALL_REGISTRY: `http://127.0.0.1:${port}` },
    });
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("is not what it has to be") });
    expect(await seen(code)).toEqual({ state: "open" });
  } finally {
    server.close();
  }
});

test("an incomplete download runs nothing", async () => {
  // It is cut at every place in its last lines, and at each hundredth of the rest.
  const cuts = new Set(Array.from({ length: 100 }, (_, n) => Math.floor((script.length * n) / 100)));
  for (let back = 2; back < 40; back += 1) cuts.add(script.length - back);
  const marked = (text: string) => text.replace("main() {", 'main() { echo "it ran";');
  for (const cut of cuts) {
    const { out } = await promisify(execFile)("/bin/sh", ["-c", marked(script.slice(0, cut))])
      .catch((error: { stdout: string }) => ({ out: error.stdout, stdout: error.stdout }))
      .then(({ stdout }) => ({ out: stdout }));
    expect(out, `cut at ${cut}`).toBe("");
  }
});

test("shellcheck finds nothing", { tags: ["needs/shellcheck"] }, async () => {
  const scripts = ["worker/features/pairing/install.sh", "release/build.sh"];
  await promisify(execFile)("shellcheck", scripts.map((path) => join(import.meta.dirname, "../..", path)));
});
