/**
 * The files of jobs, below the agent's state folder: who began each one, what it printed, how it ended. Ended jobs are kept for
 * some days, so that a person can look at them. The program of a job adds its own files (env/detached.ts).
 */
import { createReadStream } from "node:fs";
import { access, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { ToolContext } from "@edgecall/core/tools/contract.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { bootId, OUTPUT_FILES } from "../env/detached.ts";
import { LineWindow } from "../output/line-window.ts";
import { CUT_MAX_BYTES } from "../output/text-cut.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const KEPT_MS = 7 * DAY_MS;
const KEPT_JOBS = 64;
/** Bytes of all ended jobs together. */
const KEPT_BYTES = 64 * 1024 ** 2;
const JOBS_FOLDER = "jobs";
const META_FILE = "job.json";
const TOKEN = /^[0-9a-f-]{36}$/;

/** @returns a function from a job's token to its folder */
export function jobFolderIn(stateDir: string): (token: string) => string {
  return (token) => join(stateDir, JOBS_FOLDER, token);
}

const Meta = z.looseObject({
  /** The call that began it. */
  of: z.string(),
  tool: z.string(),
  caller: z.looseObject({
    principal: z.string(),
    role: z.string(),
    channel: z.string(),
    conversation: z.optional(z.string()),
  }),
  /** Epoch ms. */
  since: z.number(),
  max_ms: z.number(),
  /** The system's boot, and the ms that it had run for. A device without a clock may set its time while the job runs. */
  boot: z.string(),
  uptime_ms: z.number(),
  ended: z.optional(
    z.looseObject({
      at: z.number(),
      status: z.enum(["success", "error"]),
      exit_code: z.optional(z.nullable(z.number())),
    }),
  ),
});
type Meta = z.infer<typeof Meta>;

export type JobRecord = {
  token: string;
  tool: string;
  caller: ToolContext["caller"];
  /** Epoch ms. */
  since: number;
  maxMs: number;
  ended?: { at: number; status: "success" | "error"; exitCode?: number | null | undefined } | undefined;
};

/** Lines of a job's output. `total` counts all lines that are kept. */
export type JobOutput = { text: string; first: number; last: number; total: number; stderr: string };

/** Bytes that are shown of the end of stderr, and of a last line that is too long. */
const END_BYTES = 4 * 1024;

export class JobFiles {
  readonly #root: string;
  readonly #now: () => number;
  /** Returns the folder of a job. */
  readonly dir: (token: string) => string;

  /** @param stateDir the agent's state folder */
  constructor(stateDir: string, now: () => number = Date.now) {
    this.#root = join(stateDir, JOBS_FOLDER);
    this.dir = jobFolderIn(stateDir);
    this.#now = now;
  }

  /** Records a job that begins. @throws the system's error */
  async begin(
    token: string,
    job: { of: string; tool: string; caller: ToolContext["caller"]; maxMs: number },
  ) {
    const { of, tool, caller, maxMs } = job;
    const { principal, role, channel, conversation } = caller;
    await mkdir(this.dir(token), { recursive: true, mode: 0o700 });
    await this.#write(token, {
      of,
      tool,
      caller: { principal, role, channel, ...(conversation !== undefined && { conversation }) },
      since: this.#now(),
      max_ms: maxMs,
      boot: bootId(),
      uptime_ms: uptimeMs(),
    });
  }

  /** Records the end. @param text kept as the output of a job that has no program @throws the system's error */
  async end(
    token: string,
    { status, exitCode, text }: { status: "success" | "error"; exitCode?: number | null; text: string },
  ): Promise<void> {
    const meta = await this.#read(token);
    if (!meta) return;
    const out = join(this.dir(token), OUTPUT_FILES.stdout);
    if (!(await isThere(out))) await writeFile(out, text, { mode: 0o600 });
    const ended = { at: this.#now(), status, ...(exitCode !== undefined && { exit_code: exitCode }) };
    await this.#write(token, { ...meta, ended });
  }

  async get(token: string): Promise<JobRecord | undefined> {
    const meta = await this.#read(token);
    return meta && recordOf(token, meta);
  }

  /** The newest first. */
  async list(): Promise<JobRecord[]> {
    const found = await Promise.all((await this.tokens()).map((token) => this.get(token)));
    return found.filter((one) => one !== undefined).sort((a, b) => b.since - a.since);
  }

  async tokens(): Promise<string[]> {
    const names = await readdir(this.#root).catch(() => []);
    return names.filter((name) => TOKEN.test(name));
  }

  /** Returns the time that a job has left, in ms. It counts from the job's begin, whatever the clock says. */
  async restOf(token: string): Promise<number | undefined> {
    const meta = await this.#read(token);
    if (!meta) return undefined;
    // After a restart of the device no job runs any more.
    const passed = meta.boot === bootId() ? uptimeMs() - meta.uptime_ms : 0;
    return Math.max(1, Math.round(meta.max_ms - passed));
  }

  /**
   * Reads lines of what a job printed.
   * @param from the first line, from 1; absent: the last ones
   * @param lines at most so many
   */
  async output(token: string, lines: number, from?: number): Promise<JobOutput | undefined> {
    const path = join(this.dir(token), OUTPUT_FILES.stdout);
    if (!(await isThere(path))) return undefined;
    const total = (await windowOf(path, new LineWindow(1, 0, 0))).total;
    const first = from ?? Math.max(1, total - lines + 1);
    const window = await windowOf(path, new LineWindow(first, lines, CUT_MAX_BYTES / 2));
    const stderr = await endOf(join(this.dir(token), OUTPUT_FILES.stderr), END_BYTES);
    // A progress bar may be one line of megabytes.
    const text = window.shown === 0 && from === undefined ? await endOf(path, END_BYTES) : window.text;
    return { text, first, last: first + window.shown - 1, total, stderr };
  }

  /** Removes what is too old or too much. @param running jobs that stay in any case */
  async prune(running: ReadonlySet<string>): Promise<void> {
    const ended = (await Promise.all((await this.tokens()).map((token) => this.#ended(token)))).filter(
      ({ token }) => !running.has(token),
    );
    let bytes = 0;
    for (const [index, one] of ended.sort((a, b) => b.at - a.at).entries()) {
      bytes += one.bytes;
      const isKept = index < KEPT_JOBS && bytes <= KEPT_BYTES && this.#now() - one.at < KEPT_MS;
      if (!isKept) await rm(this.dir(one.token), { recursive: true, force: true });
    }
  }

  async #ended(token: string): Promise<{ token: string; at: number; bytes: number }> {
    const meta = await this.#read(token);
    const sizes = Object.values(OUTPUT_FILES).map(async (name) => {
      return (await stat(join(this.dir(token), name)).catch(() => undefined))?.size ?? 0;
    });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    return { token, at: meta?.ended?.at ?? meta?.since ?? 0, bytes };
  }

  async #read(token: string): Promise<Meta | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const read = checkJson(Meta, await readFile(join(this.dir(token), META_FILE), "utf8").catch(() => ""));
    return read.ok ? read.value : undefined;
  }

  async #write(token: string, meta: Meta): Promise<void> {
    await writeAtomic(join(this.dir(token), META_FILE), JSON.stringify(meta));
  }
}

function recordOf(token: string, { tool, caller, since, max_ms: maxMs, ended }: Meta): JobRecord {
  return {
    token,
    tool,
    caller,
    since,
    maxMs,
    ...(ended && { ended: { at: ended.at, status: ended.status, exitCode: ended.exit_code } }),
  };
}

function uptimeMs(): number {
  return Math.round(uptime() * 1_000);
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Streams the file, because it may have 16 MiB and the device little memory. */
async function windowOf(path: string, window: LineWindow): Promise<LineWindow> {
  const decoder = new StringDecoder("utf8");
  for await (const chunk of createReadStream(path)) window.add(decoder.write(chunk as Buffer));
  window.add(decoder.end());
  window.end();
  return window;
}

async function endOf(path: string, bytes: number): Promise<string> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size === 0) return "";
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { start: Math.max(0, size - bytes) })) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
