import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until } from "../test/wait.ts";
import { Peer, startBroker } from "./testing/home.ts";

const ROOT = join(import.meta.dirname, "..");
/** The repository's own Node, which strips types, whichever Node runs the tests. */
const OWN_NODE = join(ROOT, "node_modules/.bin/node");
const NODE = existsSync(OWN_NODE) ? OWN_NODE : process.execPath;

const open: Array<{ stop(): Promise<void> }> = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

type Program = {
  child: ChildProcess;
  stderr(): string;
  exit: Promise<number | null>;
  /** After `exit`, when all that it wrote was read and no other process has its stderr. */
  closed: Promise<number | null>;
  messages: unknown[];
};

function run(args: string[], options: { ipc?: boolean; env?: Record<string, string> } = {}): Program {
  const child = spawn(NODE, [join(ROOT, "pi-agent/main.ts"), ...args], {
    stdio: ["ignore", "pipe", "pipe", ...(options.ipc ? (["ipc"] as const) : [])],
    env: { PATH: process.env.PATH, ...options.env },
  });
  let stderr = "";
  const messages: unknown[] = [];
  child.stderr?.on("data", (chunk) => (stderr += chunk));
  child.on("message", (message) => messages.push(message));
  const exit = new Promise<number | null>((resolve) => child.on("exit", resolve));
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  open.push({
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await exit;
    },
  });
  return { child, stderr: () => stderr, exit, closed, messages };
}

function configFile(port: number): string {
  const file = join(mkdtempSync(join(tmpdir(), "edgecall-agent-")), "agent.toml");
  writeFileSync(file, `agent_id = "proc"\n[mqtt]\nurl = "mqtt://127.0.0.1:${port}"\n`);
  return file;
}

async function home() {
  const broker = await startBroker();
  open.push(broker);
  const peer = await Peer.connect(broker.port);
  open.push(peer);
  return { broker, peer };
}

const presence = (peer: Peer) =>
  peer.received.filter(({ kind }) => kind === "presence").map((one) => one.payload);
const online = (peer: Peer) =>
  until(() => peer.received.some(({ kind }) => kind === "tools"), {
    within: 15_000,
    what: "the agent is online",
  });
const toolCommand = (id: string, more: Record<string, unknown> = {}) => ({
  command: "tool",
  payload: { tool: "memory", parameters: {} },
  request_id: id,
  ...more,
});

test("frozen past a call's deadline and continued, it runs nothing", async () => {
  const { broker, peer } = await home();
  const program = run(["--config", configFile(broker.port)]);
  await online(peer);
  program.child.kill("SIGSTOP");
  await until(() => /^State:\s+T/m.test(readFileSync(`/proc/${program.child.pid}/status`, "utf8")));
  await peer.command("proc", toolCommand("late", { expires_in_ms: 1_000 }));
  // Here the condition is time itself: the deadline has to pass while the process is frozen.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  program.child.kill("SIGCONT");
  const [report] = await until(() => peer.reports("late").length && peer.reports("late"));
  expect(report?.payload).toMatchObject({ status: "error", code: "expired", error_type: "timeout" });
  expect(program.stderr()).not.toContain('"tool.start"');
  // After the time of doubt, calls are served as usual.
  const served = await until(async () => {
    const { payload } = await peer.ask("proc", toolCommand(crypto.randomUUID(), { expires_in_ms: 1_000 }));
    return payload.status === "success" && payload;
  });
  expect(served.result).toContain("RAM");
}, 30_000);

test("SIGTERM: goodbye and 0", async () => {
  const { broker, peer } = await home();
  const program = run(["--config", configFile(broker.port)]);
  await online(peer);
  program.child.kill("SIGTERM");
  expect(await program.exit).toBe(0);
  await until(() => presence(peer).at(-1)?.state === "offline");
  expect(presence(peer).at(-1)?.reason).toBe("shutdown");
}, 30_000);

test("SIGKILL: the last will; and the next process still recognises a repeated request", async () => {
  const { broker, peer } = await home();
  const config = configFile(broker.port);
  const first = run(["--config", config]);
  await online(peer);
  const report = await peer.ask("proc", toolCommand("once"));
  first.child.kill("SIGKILL");
  await until(() => presence(peer).at(-1)?.reason === "last will");
  peer.received.length = 0;
  run(["--config", config]);
  await online(peer);
  expect(await peer.ask("proc", toolCommand("once"))).toEqual(report);
}, 30_000);

test("started by another program, it reports when it is ready, and ends with that program", async () => {
  const { broker, peer } = await home();
  const program = run(["--config", configFile(broker.port), "--id", "other"], { ipc: true });
  await until(() => program.messages.length > 0, { within: 15_000 });
  expect(program.messages).toEqual([{ ready: true }]);
  const { topic } = await until(() => peer.received[0], { what: "its first message" });
  expect(topic).toContain("/other/");
  program.child.disconnect();
  expect(await program.exit).toBe(0);
}, 30_000);

test("wrong usage is named, with exit code 2", async () => {
  const missing = run([]);
  expect(await missing.closed).toBe(2);
  expect(missing.stderr()).toMatch(/missing: --config FILE[\s\S]*usage:/);
  const absent = run(["--config", "/nonexistent/agent.toml"]);
  expect(await absent.closed).toBe(2);
  expect(absent.stderr()).toContain("/nonexistent/agent.toml: there is no such file");
  const file = configFile(1);
  writeFileSync(file, 'agent_id = "x"\n[tools]\nsandboxing = "chroot"\n');
  const wrong = run(["--config", file]);
  expect(await wrong.closed).toBe(2);
  expect(wrong.stderr()).toMatch(/tools\.sandboxing: .*"bubblewrap"/);
}, 30_000);

test("S14 the texts that stopped it in 0.2.0 do not: meanwhile a ping is answered within a second", {
  tags: ["needs/bubblewrap"],
  timeout: 60_000,
}, async () => {
  const { broker, peer } = await home();
  const config = configFile(broker.port);
  writeFileSync(config, `${readFileSync(config, "utf8")}[policy]\nbash = "deny"\n`);
  run(["--config", config]);
  await online(peer);
  const bad = [":(){", "rm -r ", "find x ", "a:/", "token", "sudo ", "curl x", "\n "];
  const calls = bad.map(async (unit) => {
    const command = unit.repeat(60_000 / unit.length);
    return await peer.ask("proc", {
      command: "tool",
      payload: { tool: "bash", parameters: { command } },
      request_id: crypto.randomUUID(),
    });
  });
  const waits: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    const begun = performance.now();
    await peer.ask("proc", { command: "ping", request_id: crypto.randomUUID() });
    waits.push(performance.now() - begun);
  }
  for (const { payload } of await Promise.all(calls)) expect(payload.error_type).toBe("permission_denied");
  expect(Math.max(...waits)).toBeLessThan(1_000);
});

test("S14 its own watchdog ends a hanging agent, and restarts it where nothing else would", async () => {
  const { broker, peer } = await home();
  const config = configFile(broker.port);
  const env = { EDGECALL_STUCK_SECS: "2", EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: `${config}.marks` };
  const program = run(["--config", config], { env });
  await online(peer);
  const born = () => presence(peer).filter(({ state }) => state === "online").length;
  const before = born();
  await peer.command("proc", {
    command: "tool",
    payload: { tool: "hang", parameters: { ms: 3_600_000 } },
    request_id: "hangs",
  });
  await program.exit;
  expect(program.child.signalCode).toBe("SIGKILL");
  await until(() => program.stderr().includes('"event":"agent.stuck"'), { what: "the reason in its log" });
  await until(() => born() > before, { within: 30_000, what: "the next agent is online" });
  const pid = await until(() => /"pid":(\d+)/.exec(program.stderr())?.[1]);
  open.push({ stop: async () => void process.kill(Number(pid), "SIGKILL") });
}, 60_000);

test("S14 the watchdog ignores an agent that only waits, and only ends one that a container engine restarts", async () => {
  const { broker, peer } = await home();
  const config = configFile(broker.port);
  const env = {
    EDGECALL_STUCK_SECS: "2",
    EDGECALL_TEST_TOOLS: "1",
    EDGECALL_TEST_FILE: `${config}.marks`,
    INVOCATION_ID: "x",
  };
  const program = run(["--config", config], { env });
  await online(peer);
  const slow = { tool: "slow", parameters: { ms: 4_000 } };
  const { payload } = await peer.ask("proc", { command: "tool", payload: slow, request_id: "slow" });
  expect(payload.status).toBe("success");
  peer.received.length = 0;
  const hang = { tool: "hang", parameters: { ms: 3_600_000 } };
  await peer.command("proc", { command: "tool", payload: hang, request_id: "hangs" });
  await program.exit;
  await until(() => presence(peer).at(-1)?.reason === "last will");
  expect(presence(peer).some(({ state }) => state === "online")).toBe(false);
}, 60_000);
