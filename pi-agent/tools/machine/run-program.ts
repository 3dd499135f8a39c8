/** Runs a program to its end and keeps its output. For programs with little output that end soon. */
import type { ExecOps } from "../../env/environment.ts";
import { lookFor } from "../../env/probe.ts";

/** More than any of these programs prints; the rest is dropped. */
const OUTPUT_MAX_BYTES = 1024 * 1024;

export type Ended = {
  /** null when a signal ended the program. */
  exitCode: number | null;
  /** The raw output, for data that is not text. */
  bytes: Uint8Array;
  stdout: string;
  stderr: string;
  /** True if output was dropped. */
  cut: boolean;
};

/**
 * @param argv checked by the caller, so that no option in it comes from a model
 * @throws ExecError when it could not be started; the signal's reason when that ended it
 */
export async function runProgram(
  exec: ExecOps,
  argv: readonly [string, ...string[]],
  { signal, maxBytes = OUTPUT_MAX_BYTES }: { signal: AbortSignal; maxBytes?: number },
): Promise<Ended> {
  const output = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const left = { stdout: maxBytes, stderr: OUTPUT_MAX_BYTES };
  let cut = false;
  const { exitCode } = await exec.run(argv, {
    signal,
    // The output is parsed, so it must be in English.
    env: { LC_ALL: "C.UTF-8" },
    onOutput(chunk, stream) {
      const part = chunk.subarray(0, left[stream]);
      if (part.length < chunk.length) cut = true;
      left[stream] -= part.length;
      output[stream].push(part);
    },
  });
  signal.throwIfAborted();
  const bytes = Buffer.concat(output.stdout);
  return { exitCode, bytes, stdout: bytes.toString(), stderr: Buffer.concat(output.stderr).toString(), cut };
}

/** Returns the last line of a program's error output, without its name and colours, for a message. */
export function complaint({ stderr, exitCode }: Pick<Ended, "stderr" | "exitCode">): string {
  const lines = plain(stderr)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const last = lines.at(-1)?.slice(0, 300);
  return last ?? (exitCode === null ? "it was ended by a signal" : `exit code ${exitCode}, without a word`);
}

/** Removes terminal colours and other control characters; tabs and newlines stay. */
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
 * Tells whether a program can be started.
 * @param look a harmless command: `["ping", "-V"]`
 * @throws NoAnswer
 */
export async function programThere(exec: ExecOps, look: readonly [string, ...string[]]): Promise<boolean> {
  return (await lookFor(exec, look)) !== undefined;
}
