/**
 * Serves this agent's workspace to other agents over HTTP (`[serve]`, docs/explain/http-backend.md). Path guard and sandbox are this
 * agent's own. Whoever holds a token works here as with a key of ssh: the calling agent's policy asks its people, and the
 * settings here are the bounds.
 */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import type { Environment, RunOptions } from "../env/environment.ts";
import {
  FILE_MAX_BYTES,
  FILE_OPERATIONS,
  type FileOperation,
  JSON_MAX_BYTES,
  RUN_MAX_BYTES,
  RunRequest,
  StopRequest,
  UNAUTHORIZED,
} from "../env/http/wire.ts";
import { answerJson, ByteBudget, failureOf, jsonOf, RequestError } from "./request.ts";
import { type RunEnd, ServedPrograms } from "./serve-exec.ts";
import { bodyMaxOf, isChange, parseFileRequest } from "./serve-files.ts";
import type { ServeKeys } from "./serve-keys.ts";

export type ServeOptions = {
  settings: Pick<ServeSettings, "host" | "port" | "exec" | "readOnly">;
  keys: ServeKeys;
  agentId: string;
  /** The workspace in which others work. */
  environment: Environment;
  /** The grants of this agent's own programs in the sandbox. */
  grants?: RunOptions["grants"];
  record(line: Omit<AuditLine, "timestamp">): void;
  log: Log;
};

export type Served = {
  /** Undefined while it does not listen, such as when the port is taken. */
  port(): number | undefined;
  /** Ends connections and the programs of others. */
  close(): Promise<void>;
};

const MAX_CONNECTIONS = 64;
const HEADER_MAX_BYTES = 64 * 1024;
const HEADERS_MS = 10_000;
/** For a whole request, with a file of 256 MiB. */
const REQUEST_MS = 600_000;
/** Longer than the client keeps an idle connection. */
const IDLE_MS = 90_000;
/** A stranger who tries tokens must not fill the log. */
const REFUSED_EVERY_MS = 60_000;
const ERROR_CHARS = 500;

/** If the port is taken, that is logged, and the agent works without it. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { settings, keys, log } = options;
  const backend = new Backend(options);
  const limits = {
    maxHeaderSize: HEADER_MAX_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) =>
    void backend.onRequest(request, response);
  const server: Server = keys.tls
    ? createTlsServer({ ...limits, ...keys.tls }, onRequest)
    : createServer(limits, onRequest);
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve) => {
    server.once("listening", resolve);
    server.on("error", (error) => {
      log("error", "serve.failed", { error: error.message, set: "[serve] port" });
      resolve();
    });
    server.listen(settings.port, settings.host);
  });
  // This server must not keep the process alive.
  server.unref();
  if (server.listening) log("info", "serve.listening", { host: settings.host, tls: keys.tls !== undefined });
  return {
    port: () => (server.address() as AddressInfo | null)?.port,
    async close() {
      server.close();
      await backend.close();
      server.closeAllConnections();
    },
  };
}

/** The part of a record line that an operation knows. */
type Ended = {
  tool: string;
  parameters: unknown;
  exitCode?: number | null;
  error?: string;
  type?: ErrorType;
};

class Backend {
  readonly #options: ServeOptions;
  readonly #programs: ServedPrograms;
  /** The largest file, and the request for it. */
  readonly #bytes = new ByteBudget(FILE_MAX_BYTES + JSON_MAX_BYTES);
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ServeOptions) {
    this.#options = options;
    this.#programs = new ServedPrograms(options.environment.exec, options.grants);
  }

  async onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The socket may be gone at any time.
    response.on("error", () => {});
    const caller = this.#options.keys.tokens.nameOf(request.headers.authorization);
    try {
      if (caller === undefined) throw this.#refuse();
      await this.#route(request, response, caller);
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      const { status, failure } = failureOf(error);
      // A body that nobody reads must not be taken for the next request.
      if (!request.complete) response.setHeader("connection", "close");
      answerJson(response, status, { error: failure });
    }
  }

  async close(): Promise<void> {
    await this.#programs.close();
  }

  #refuse(): RequestError {
    const now = performance.now();
    if (now - this.#refusedAt >= REFUSED_EVERY_MS) {
      this.#refusedAt = now;
      this.#options.log("warn", "serve.refused", { error: "a request without a valid token" });
    }
    return new RequestError(401, UNAUTHORIZED, "The token is not one of this agent's.");
  }

  async #route(request: IncomingMessage, response: ServerResponse, caller: string): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://agent");
    const { settings, agentId, environment } = this.#options;
    if (request.method === "GET" && pathname === "/v1/info") {
      const { exec, readOnly: read_only } = settings;
      answerJson(response, 200, { name: agentId, cwd: environment.cwd, version: VERSION, exec, read_only });
      return;
    }
    const operation = FILE_OPERATIONS.find((one) => pathname === `/v1/files/${one}`);
    const isKnown = operation !== undefined || pathname === "/v1/exec" || pathname === "/v1/exec/stop";
    if (!isKnown || request.method !== "POST")
      throw new RequestError(isKnown ? 405 : 404, "invalid_request", "There is no such operation.");
    if (operation) await this.#file(operation, query, request, response, caller);
    else if (pathname === "/v1/exec") await this.#run(request, response, caller);
    else await this.#stop(request, response, caller);
  }

  async #file(
    operation: FileOperation,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
    caller: string,
  ): Promise<void> {
    const { settings, environment } = this.#options;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    await this.#recorded(`serve_${operation}`, caller, async (ended) => {
      const answer = await this.#bytes.with(request, bodyMaxOf(operation), async (body) => {
        const parsed = parseFileRequest(operation, { query, body }, settings.exec);
        ended.parameters = parsed.parameters;
        if (settings.readOnly && isChange(operation))
          throw new RequestError(
            403,
            "blocked",
            "This agent serves its files for reading only. Nothing was changed.",
          );
        const size = await parsed.size?.(environment.files, gone.signal);
        if (size !== undefined) this.#holdUntilClosed(response, size, gone.signal);
        return await parsed.run(environment.files, gone.signal);
      });
      if (answer instanceof Uint8Array)
        response
          .writeHead(200, { "content-type": "application/octet-stream", "content-length": answer.length })
          .end(answer);
      else answerJson(response, 200, answer);
    });
  }

  /** A reader may be slow, and the file is in memory until the reader has it. @throws RequestError; the signal's reason */
  #holdUntilClosed(response: ServerResponse, bytes: number, gone: AbortSignal): void {
    gone.throwIfAborted();
    response.once("close", this.#bytes.hold(bytes));
  }

  async #run(request: IncomingMessage, response: ServerResponse, caller: string): Promise<void> {
    await this.#recorded("serve_exec", caller, async (ended) => {
      const wanted = await this.#bytes.with(request, RUN_MAX_BYTES, async (body) => jsonOf(RunRequest, body));
      ended.parameters = { argv: wanted.argv, ...(wanted.cwd !== undefined && { cwd: wanted.cwd }) };
      if (!this.#options.settings.exec)
        throw new RequestError(403, "blocked", "This agent runs no programs for others. Nothing was run.");
      Object.assign(ended, endOf(await this.#programs.run(wanted, caller, response)));
    });
  }

  async #stop(request: IncomingMessage, response: ServerResponse, caller: string): Promise<void> {
    const { run } = await this.#bytes.with(request, JSON_MAX_BYTES, async (body) =>
      jsonOf(StopRequest, body),
    );
    if (!this.#programs.stop(run, caller))
      throw new RequestError(404, "not_found", "There is no such run, or it has ended.");
    answerJson(response, 200, {});
  }

  /** Does an operation, and records it, however it ends. @param work fills in what it knows for the record */
  async #recorded(tool: string, caller: string, work: (ended: Ended) => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    const ended: Ended = { tool, parameters: {} };
    try {
      await work(ended);
    } catch (error) {
      const { failure, type } = failureOf(error);
      Object.assign(ended, { error: failure.message, type });
      throw error;
    } finally {
      this.#record(ended, caller, startedAt);
    }
  }

  #record(
    { tool, parameters, exitCode = null, error, type }: Ended,
    caller: string,
    startedAt: number,
  ): void {
    const id = randomUUID();
    this.#options.record({
      agent_id: this.#options.agentId,
      tool,
      parameters,
      result: error === undefined ? "success" : "error",
      ...(error !== undefined && {
        error_type: type ?? "execution_failed",
        error: cutText(error, ERROR_CHARS),
      }),
      exit_code: exitCode,
      elapsed_ms: Math.round(performance.now() - startedAt),
      call_id: id,
      request_id: id,
      caller: { principal: `http:${caller}`, role: "guest", channel: "http" },
    });
  }
}

function endOf(end: RunEnd): Partial<Ended> {
  if ("error" in end) return end;
  const { exitCode, signal, stopped } = end.ran;
  if (exitCode === 0) return { exitCode };
  const error = stopped
    ? "it was stopped"
    : exitCode === null
      ? `it was killed by ${signal}`
      : `exit code ${exitCode}`;
  return { exitCode, error, type: "execution_failed" };
}
