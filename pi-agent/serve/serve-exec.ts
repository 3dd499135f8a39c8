/** The programs of the HTTP backend's server: their output goes to the client line by line, and they end with its request. */
import type { ServerResponse } from "node:http";
import type { z } from "@edgecall/core/protocol/parse.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { ExecOps, Ran, RunOptions } from "../env/environment.ts";
import { ALIVE_EVERY_MS, CHUNK_BYTES, type RunLine, type RunRequest } from "../env/http/wire.ts";
import { busy, failureOf, RequestError } from "./request.ts";

const MAX_RUNNING = 16;
/** Output that waits for a client that reads slowly. Then the program is ended, since it cannot be paused. */
const WAITING_MAX_BYTES = 32 * 1024 * 1024;
/** Longer than any call of a tool, for a client whose end was not noticed. */
const RUN_MAX_MS = 3_600_000;

export type RunEnd = { ran: Ran } | { error: string; type: ErrorType };
type Grants = RunOptions["grants"];
type Request = z.infer<typeof RunRequest>;

export class ServedPrograms {
  readonly #exec: ExecOps;
  readonly #grants: Grants;
  readonly #running = new Map<string, { stop: AbortController; over: Promise<unknown> }>();

  constructor(exec: ExecOps, grants: Grants) {
    this.#exec = exec;
    this.#grants = grants;
  }

  /**
   * Runs a program and answers with its output and its end.
   * @param caller the token's name: nobody else can stop it
   * @throws RequestError when it was not started
   */
  async run(request: Request, caller: string, response: ServerResponse): Promise<RunEnd> {
    const id = `${caller} ${request.run}`;
    if (this.#running.has(id)) throw new RequestError(409, "invalid_request", "This run has begun already.");
    if (this.#running.size >= MAX_RUNNING) throw busy(`${MAX_RUNNING} programs are running`);
    const stop = new AbortController();
    const over = this.#follow(request, stop, response);
    this.#running.set(id, { stop, over });
    try {
      return await over;
    } finally {
      this.#running.delete(id);
    }
  }

  /** @returns false when there is no such run */
  stop(run: string, caller: string): boolean {
    const running = this.#running.get(`${caller} ${run}`);
    running?.stop.abort();
    return running !== undefined;
  }

  /** Ends all programs. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ over }) => over));
  }

  async #follow(request: Request, stop: AbortController, response: ServerResponse): Promise<RunEnd> {
    const write = (line: RunLine) => void response.write(`${JSON.stringify(line)}\n`);
    const gone = () => stop.abort();
    response.on("close", gone);
    const alive = setInterval(() => write({}), ALIVE_EVERY_MS);
    const tooLong = setTimeout(() => stop.abort(), RUN_MAX_MS);
    response.writeHead(200, { "content-type": "application/x-ndjson" }).flushHeaders();
    try {
      const ran = await this.#exec.run(request.argv as [string, ...string[]], {
        ...optionsOf(request),
        ...(this.#grants && { grants: this.#grants }),
        signal: stop.signal,
        onOutput(chunk, stream) {
          for (let at = 0; at < chunk.length; at += CHUNK_BYTES) {
            const part = Buffer.from(chunk.subarray(at, at + CHUNK_BYTES)).toString("base64");
            write(stream === "stdout" ? { out: part } : { err: part });
          }
          if (response.writableLength > WAITING_MAX_BYTES) response.destroy();
        },
      });
      write({ end: ran });
      return { ran };
    } catch (error) {
      const { failure, type } = failureOf(error);
      write({ error: failure });
      return { error: failure.message, type };
    } finally {
      clearInterval(alive);
      clearTimeout(tooLong);
      response.off("close", gone);
      response.end();
    }
  }
}

function optionsOf({ cwd, env, stdin }: Request): Pick<RunOptions, "cwd" | "env" | "stdin"> {
  return {
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
    ...(stdin !== undefined && { stdin: Buffer.from(stdin, "base64") }),
  };
}
