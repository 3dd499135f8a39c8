/** Requests of the HTTP backend's server: what it reads of them, and the errors that it answers. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
import { type ErrorCode, type ErrorType, errorTypeOf } from "@edgecall/core/tools/errors.ts";
import { ExecError, FileError } from "../env/environment.ts";
import type { Failure } from "../env/http/wire.ts";

/** A request that is refused before any operation. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  invalid_params: 400,
  access_denied: 403,
  blocked: 403,
  not_found: 404,
  exists: 409,
  is_directory: 409,
  not_directory: 409,
  too_large: 413,
};

/** Returns the answer for an error. An unexpected one is answered without its text. */
export function failureOf(error: unknown): { status: number; failure: Failure; type: ErrorType } {
  if (error instanceof RequestError) {
    const { status, code, message } = error;
    const type = status === 403 ? "permission_denied" : status < 500 ? "invalid_params" : "execution_failed";
    return { status, failure: { code, message }, type };
  }
  if (error instanceof FileError || error instanceof ExecError) {
    const { code, message } = error;
    const advice = error instanceof FileError ? error.advice : undefined;
    const absent = error instanceof ExecError && error.absent;
    const failure = { code, message, ...(advice !== undefined && { advice }), ...(absent && { absent }) };
    return { status: STATUS[code] ?? 500, failure, type: errorTypeOf(code) };
  }
  return {
    status: 500,
    failure: { code: "io", message: "The operation failed there." },
    type: "execution_failed",
  };
}

/** The bytes of bodies and of files for readers that are held at once, for all requests together. */
export class ByteBudget {
  readonly #maxBytes: number;
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Reads a body of announced length, and passes it on.
   * @throws RequestError; Error when the client ended the request early
   */
  async with<T>(request: IncomingMessage, maxBytes: number, work: (body: Buffer) => Promise<T>): Promise<T> {
    const length = Number(request.headers["content-length"] ?? Number.NaN);
    if (!Number.isSafeInteger(length))
      throw new RequestError(411, "invalid_request", "There is no Content-Length.");
    if (length > maxBytes)
      throw new RequestError(413, "too_large", `The body has ${length} bytes; ${maxBytes} are the most.`);
    const release = this.hold(length);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      return await work(Buffer.concat(chunks));
    } finally {
      release();
    }
  }

  /** @returns a function that gives the bytes back, to be called once @throws RequestError */
  hold(bytes: number): () => void {
    if (this.#held + bytes > this.#maxBytes) throw busy("too many bytes are under way");
    this.#held += bytes;
    return () => {
      this.#held -= bytes;
    };
  }
}

export function busy(why: string): RequestError {
  return new RequestError(503, "busy", `It is busy: ${why}. Nothing was done; try again later.`);
}

/** @throws RequestError */
export function jsonOf<T>(schema: z.ZodMiniType<T>, body: Buffer): T {
  const read = checkJson(schema, body.toString("utf8"));
  if (!read.ok) throw new RequestError(400, "invalid_request", `The request is not right: ${read.error}`);
  return read.value;
}

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length }).end(body);
}
