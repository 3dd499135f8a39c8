/**
 * Measures an agent program: size, time from its start until it is online (clock time, and processor time, which a busy
 * machine changes less), and memory at rest.
 *
 *   node test/install/measure.ts [--rounds N] [--bare] 'NAME=COMMAND …' …
 *
 * COMMAND is split at spaces and gets `agent run --config FILE`. Rounds alternate, and medians are shown. `--bare`: only tools
 * that start no other program, for emulators, on which such a start is slow.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Peer, startBroker } from "../../pi-agent/testing/home.ts";
import { until } from "../wait.ts";

/** Time until the garbage of the start is collected and memory is stable. */
const REST_MS = 5_000;
/** The unit of processor time in Linux' /proc. */
const TICK_MS = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" }, bare: { type: "boolean", default: false } },
});
const programs = positionals.map((word) => {
  const at = word.indexOf("=");
  return {
    name: word.slice(0, at),
    command: word.slice(at + 1).split(" "),
    online: [] as number[],
    cpu: [] as number[],
    rss: [] as number[],
  };
});
const dir = mkdtempSync(join(tmpdir(), "edgecall-measure-"));
const broker = await startBroker();
const peer = await Peer.connect(broker.port);
const config = join(dir, "agent.toml");
const tools = values.bare ? '[tools]\nsandboxing = "none"\nenabled = ["memory", "read"]\n' : "";
writeFileSync(config, `agent_id = "eye"\n[mqtt]\nurl = "mqtt://127.0.0.1:${broker.port}"\n${tools}`);

for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const { command, online, cpu, rss } of programs) {
    const [program = "", ...args] = command;
    const before = peer.received.filter(({ kind }) => kind === "tools").length;
    const began = performance.now();
    const child = spawn(program, [...args, "agent", "run", "--config", config], {
      stdio: "ignore",
      env: { PATH: process.env.PATH, NODE_OPTIONS: process.env.NODE_OPTIONS, MALLOC_ARENA_MAX: "2" },
    });
    const gone = new Promise((resolve) => child.once("exit", resolve));
    await until(() => peer.received.filter(({ kind }) => kind === "tools").length > before, {
      within: 120_000,
      every: 1,
      what: `${command.join(" ")} is online`,
    });
    online.push(performance.now() - began);
    cpu.push(cpuMs(child.pid));
    await pause(REST_MS);
    const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
    rss.push(Number(kib) / 1_024);
    child.kill("SIGTERM");
    await gone;
  }
}

/** Returns the process's own time, without the programs that it starts. */
function cpuMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const median = (of: number[]) => of.sort((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0;
const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
console.log("| program | MB | online ms | CPU ms | RSS MiB |\n| --- | --- | --- | --- | --- |");
for (const { name, command, online, cpu, rss } of programs) {
  const size = mb(statSync(command.at(-1) ?? "").size);
  console.log(
    `| ${name} | ${size} | ${median(online).toFixed(0)} | ${median(cpu).toFixed(0)} | ${median(rss).toFixed(0)} |`,
  );
}
await peer.stop();
await broker.stop();
rmSync(dir, { recursive: true, force: true });
process.exit(0);
