/** A tool's program, run to its end with its output kept: for programs that say little and end soon. */
import type { ExecOps } from "../../env/environment.ts";
import { lookFor } from "../../env/probe.ts";

/** More than any of these programs says; a larger output is cut here, never kept. */
export const OUTPUT_MAX_BYTES = 1024 * 1024;

export type Ended = {
  /** null when a signal ended it. */
  exitCode: number | null;
  /** As it came, for what is no text. */
  bytes: Uint8Array;
  stdout: string;
  stderr: string;
  /** More came than was kept. */
  cut: boolean;
};

/**
 * @param argv checked by the caller: no option in it may come from a model
 * @throws ExecError when it could not be started, and the signal's reason when that ended it
 */
export async function runProgram(
  exec: ExecOps,
  argv: readonly [string, ...string[]],
  { signal, maxBytes = OUTPUT_MAX_BYTES }: { signal: AbortSignal; maxBytes?: number },
): Promise<Ended> {
  const kept = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const left = { stdout: maxBytes, stderr: OUTPUT_MAX_BYTES };
  let cut = false;
  const { exitCode } = await exec.run(argv, {
    signal,
    // Their words are read here, so they have to be the English ones.
    env: { LC_ALL: "C.UTF-8" },
    onOutput(chunk, stream) {
      const part = chunk.subarray(0, left[stream]);
      if (part.length < chunk.length) cut = true;
      left[stream] -= part.length;
      kept[stream].push(part);
    },
  });
  signal.throwIfAborted();
  const bytes = Buffer.concat(kept.stdout);
  return { exitCode, bytes, stdout: bytes.toString(), stderr: Buffer.concat(kept.stderr).toString(), cut };
}

/** The last line of what a program complained of, without its own name and colours, for a message. */
export function complaint({ stderr, exitCode }: Pick<Ended, "stderr" | "exitCode">): string {
  const lines = plain(stderr)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const last = lines.at(-1)?.slice(0, 300);
  return last ?? (exitCode === null ? "it was ended by a signal" : `exit code ${exitCode}, without a word`);
}

/** Without terminal colours and other control characters; tabs and newlines stay. */
export function plain(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
      .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, "")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
  );
}

/**
 * Tells whether a program can be started at all.
 * @param look how it is started, harmlessly: `["ping", "-V"]`
 * @throws NoAnswer
 */
export async function programThere(exec: ExecOps, look: readonly [string, ...string[]]): Promise<boolean> {
  return (await lookFor(exec, look)) !== undefined;
}
