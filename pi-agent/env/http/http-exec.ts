/** Programs of the HTTP backend's client. The answer to a request is the program's output, line by line, until its end. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { refuseEnv } from "../clean-env.ts";
import { ExecError, type ExecOps, type Ran, type RunOptions } from "../environment.ts";
import { type HttpClient, HttpFailure } from "./http-client.ts";
import { ALIVE_EVERY_MS, DoneAnswer, type Failure, LINE_MAX_BYTES, RunLine } from "./wire.ts";

/** The longest time that the other machine may take to end everything after a stop. */
const STOP_MS = 5_000;
/** The other side writes at least every ALIVE_EVERY_MS. */
const SILENCE_MS = 3 * ALIVE_EVERY_MS;

export function httpExec(client: HttpClient): ExecOps {
  return {
    async run(argv, options): Promise<Ran> {
      refuseEnv(options.env);
      const stopped = { exitCode: null, signal: null, stopped: true };
      if (options.signal.aborted) return stopped;
      const run = new Run(client, options.signal);
      try {
        return await run.follow(argv, options);
      } catch (error) {
        if (options.signal.aborted) return stopped;
        throw execError(error, client);
      } finally {
        run.over();
      }
    },
  };
}

class Run {
  readonly #client: HttpClient;
  readonly #signal: AbortSignal;
  readonly #id = randomUUID();
  /** Closes the request, at which the other side ends the program too. */
  readonly #cut = new AbortController();
  readonly #begun = Promise.withResolvers<void>();
  #isOver = false;
  #late: NodeJS.Timeout | undefined;

  constructor(client: HttpClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
    signal.addEventListener("abort", this.#stop, { once: true });
  }

  async follow(argv: readonly string[], { cwd, env, stdin, onOutput }: RunOptions): Promise<Ran> {
    const request = {
      run: this.#id,
      argv,
      ...(cwd !== undefined && { cwd }),
      ...(env && { env }),
      ...(stdin && { stdin: Buffer.from(stdin).toString("base64") }),
    };
    const answer = await this.#client.openJson("v1/exec", request, {
      signal: this.#cut.signal,
      silenceMs: SILENCE_MS,
    });
    this.#begun.resolve();
    let end: RunLine["end"];
    // Read to its own end, so that the connection can be used again.
    for await (const line of linesOf(answer)) {
      if (line.out !== undefined) onOutput?.(Buffer.from(line.out, "base64"), "stdout");
      if (line.err !== undefined) onOutput?.(Buffer.from(line.err, "base64"), "stderr");
      if (line.error) throw new HttpFailure(line.error);
      end ??= line.end;
    }
    if (!end) throw new Error("the connection was cut while the program ran");
    if (end.stopped && !this.#signal.aborted) throw new Error("the agent there has stopped the program");
    this.#isOver = true;
    return { exitCode: end.exitCode, signal: end.signal, stopped: end.stopped };
  }

  over(): void {
    this.#signal.removeEventListener("abort", this.#stop);
    clearTimeout(this.#late);
    if (!this.#isOver) this.#cut.abort();
    this.#begun.resolve();
  }

  /** Stops the program there. Its end confirms that the whole tree is gone; without that, the request is closed. */
  readonly #stop = (): void => {
    this.#late = setTimeout(() => this.#cut.abort(), STOP_MS);
    void this.#begun.promise
      .then(() =>
        this.#client.json(DoneAnswer, "v1/exec/stop", { run: this.#id }, { signal: this.#cut.signal }),
      )
      .catch(() => {});
  };
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<RunLine> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, from)) {
      yield lineOf(rest.toString("utf8", from, end));
      from = end + 1;
    }
    rest = rest.subarray(from);
    if (rest.length > LINE_MAX_BYTES) throw new Error("it answered something else: a line without an end");
  }
}

function lineOf(text: string): RunLine {
  const read = checkJson(RunLine, text);
  if (!read.ok) throw new Error(`it answered something else: ${cutText(read.error, 200)}`);
  return read.value;
}

const EXEC_CODES = ["spawn_failed", "cwd_missing", "blocked", "io"] as const;

function execError(error: unknown, client: HttpClient): ExecError {
  if (error instanceof ExecError) return error;
  const failure: Partial<Failure> = error instanceof HttpFailure ? error.failure : {};
  const code = EXEC_CODES.find((one) => one === failure.code);
  if (code === undefined) return new ExecError("io", client.problem(error), { cause: error });
  return new ExecError(code, failure.message ?? "", { cause: error, absent: failure.absent ?? false });
}
