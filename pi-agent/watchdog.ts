/**
 * Ends the agent when it hangs, where systemd does not do that: a thread of its own checks that the main thread still runs.
 * If nothing would start the agent again (in a shell), the thread does that too.
 */

/** Longer than any step of the agent takes on the smallest board. */
const STUCK_SECS = 60;

type Environment = Readonly<Record<string, string | undefined>>;

/** The thread's program is a text, since a bundled agent has no second file. It counts its own seconds, so sleep is no hang. */
const WATCHER = `
const { workerData } = require("node:worker_threads");
const beats = new Int32Array(workerData.beats);
let last = -1;
let silent = 0;
setInterval(() => {
  const now = Atomics.load(beats, 0);
  silent = now === last ? silent + 1 : 0;
  last = now;
  if (silent < workerData.stuckSecs) return;
  const line = { level: "error", event: "agent.stuck", ts: new Date().toISOString(), ...workerData.fields };
  require("node:fs").writeSync(2, JSON.stringify(line) + "\\n");
  if (workerData.again) {
    const { spawn } = require("node:child_process");
    const next = spawn(workerData.again[0], workerData.again.slice(1), { detached: true, stdio: "inherit" });
    line.event = "agent.again";
    line.pid = next.pid;
    require("node:fs").writeSync(2, JSON.stringify(line) + "\\n");
  }
  process.kill(process.pid, "SIGKILL");
}, 1000);
`;

/**
 * Starts the watchdog, unless systemd has one.
 * @param env `WATCHDOG_USEC` (from systemd); `EDGECALL_STUCK_SECS`: in place of 60, 0 for never
 */
export async function watchMainThread(agentId: string, env: Environment): Promise<void> {
  const stuckSecs = Number(env.EDGECALL_STUCK_SECS ?? STUCK_SECS);
  if (env.WATCHDOG_USEC !== undefined || !(stuckSecs > 0)) return;
  const beats = new SharedArrayBuffer(4);
  const count = new Int32Array(beats);
  setInterval(() => Atomics.add(count, 0, 1), 500).unref();
  const again = isSupervised(env)
    ? undefined
    : [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { Worker } = await import("node:worker_threads");
  const watcher = new Worker(WATCHER, {
    eval: true,
    workerData: { beats, stuckSecs, again, fields: { agent_id: agentId, secs: stuckSecs } },
    // The least memory that Node allows.
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
  });
  watcher.on("error", () => {});
  watcher.unref();
}

/** True if something starts the agent again: a container's engine, systemd, or the program that started it. */
function isSupervised(env: Environment): boolean {
  return process.pid === 1 || env.INVOCATION_ID !== undefined || process.channel !== undefined;
}
