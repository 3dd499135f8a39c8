/** The requests of the HTTP backend's client: its connection, its token, and the errors that both can have. */

import { readFile } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { checkJson, type z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { httpPlace } from "./http-place.ts";
import {
  type Failure,
  FailureAnswer,
  FILE_MAX_BYTES,
  InfoAnswer,
  JSON_MAX_BYTES,
  UNAUTHORIZED,
} from "./wire.ts";

export type HttpOptions = {
  /** The machine's name in results. */
  name: string;
  /** `https://host:port`, or `http://` to this machine itself; further path segments stand before `/v1`. */
  url: string;
  /** The folder that is served there. Another one is refused, so that no path is judged by the wrong folder. */
  cwd: string;
  token: string | { file: string };
  /** A PEM file with the authority that signed the server's certificate; absent = Node's own list. */
  caFile?: string | undefined;
};

export type Send = {
  signal?: AbortSignal | undefined;
  /** The longest time without a byte. */
  silenceMs?: number;
};
type Body = { body: Uint8Array; type: string };

/** A folder's list of a hundred thousand names has less. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;
const CONNECT_MS = 10_000;
/** A slow card may need long to store a large file. */
const SILENCE_MS = 120_000;
/** Less than the server's, so that no request goes to a connection that the server is about to close. */
const IDLE_MS = 30_000;
const MAX_SOCKETS = 32;
const TOKEN = /^[\x21-\x7e]{1,512}$/;

/** The other side refused a request, or an operation failed there. */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export class HttpClient {
  readonly #options: HttpOptions;
  readonly #place: URL;
  #agent: http.Agent | undefined;
  #isClosed = false;
  #token: Promise<string> | undefined;
  #connected: Promise<void> | undefined;

  /** @throws ExecError `blocked` for an address that is not accepted */
  constructor(options: HttpOptions) {
    this.#options = options;
    this.#place = httpPlace(options.url, options.name);
  }

  /**
   * Sends a request of JSON and returns the answer's body.
   * @throws HttpFailure when the other side refused it; the signal's reason; Error when the connection failed
   */
  async bytes(path: string, value: unknown, send: Send): Promise<Uint8Array> {
    return await collect(await this.openJson(path, value, send), FILE_MAX_BYTES);
  }

  /** The same for an answer of JSON. */
  async json<T>(schema: z.ZodMiniType<T>, path: string, value: unknown, send: Send): Promise<T> {
    return await parsed(schema, await this.openJson(path, value, send));
  }

  /** Sends a body of bytes. */
  async send<T>(schema: z.ZodMiniType<T>, path: string, send: Send & Body): Promise<T> {
    return await parsed(schema, await this.#open(path, send));
  }

  /** Sends a request of JSON and returns the answer while it arrives. */
  async openJson(path: string, value: unknown, send: Send): Promise<http.IncomingMessage> {
    const body = Buffer.from(JSON.stringify(value));
    return await this.#open(path, { ...send, body, type: "application/json" });
  }

  /** Returns the words for a failed request. */
  problem(error: unknown): string {
    const { name } = this.#options;
    if (error instanceof HttpFailure) return `'${name}' (${this.#place.host}) refused it: ${error.message}`;
    const { code } = error as NodeJS.ErrnoException;
    const why = messageOf(error) || code || "no reason given";
    return `The connection to '${name}' (${this.#place.host}) failed or was lost: ${why}.`;
  }

  close(): void {
    this.#isClosed = true;
    this.#agent?.destroy();
  }

  /** Sends a request, after the first connection was checked. @returns an answer with status 200 */
  async #open(path: string, send: Send & Body): Promise<http.IncomingMessage> {
    try {
      this.#connected ??= this.#connect();
      await unlessAborted(this.#connected, send.signal);
      return await this.#send(path, send);
    } catch (error) {
      if (!send.signal?.aborted && !isOfOperation(error)) this.#connected = this.#token = undefined;
      throw error;
    }
  }

  /** Finds out whether the agent there serves the expected folder. */
  async #connect(): Promise<void> {
    const answer = await this.#send("v1/info", { signal: AbortSignal.timeout(CONNECT_MS) });
    const { cwd } = await parsed(InfoAnswer, answer);
    if (cwd !== this.#options.cwd)
      throw new Error(
        `it serves the folder '${cwd}', not '${this.#options.cwd}'; set cwd to the one it serves`,
      );
  }

  async #send(path: string, { body, type, signal, silenceMs = SILENCE_MS }: Send & Partial<Body>) {
    if (this.#isClosed) throw new Error("it was closed");
    const token = await this.#readToken();
    this.#agent ??= await this.#makeAgent();
    const agent = this.#agent;
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const { request } = this.#place.protocol === "https:" ? https : http;
      const sent = request(
        new URL(path, this.#place),
        {
          method: body ? "POST" : "GET",
          agent,
          ...(signal && { signal }),
          timeout: silenceMs,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body && { "content-type": type, "content-length": body.length }),
          },
        },
        resolve,
      );
      sent.on("timeout", () => sent.destroy(new Error(`nothing came for ${silenceMs / 1_000} s`)));
      sent.on("error", reject);
      sent.end(body);
    });
    if (response.statusCode === 200) return response;
    throw await failureOf(response);
  }

  async #readToken(): Promise<string> {
    const { token } = this.#options;
    if (typeof token === "string") return token;
    this.#token ??= readFile(token.file, "utf8").then((text) => text.trim());
    const read = await this.#token;
    if (!TOKEN.test(read)) throw new Error(`${token.file} must hold its token alone, in one line`);
    return read;
  }

  async #makeAgent(): Promise<http.Agent> {
    const { caFile } = this.#options;
    const shared = { keepAlive: true, timeout: IDLE_MS, maxSockets: MAX_SOCKETS };
    if (this.#place.protocol === "http:") return new http.Agent(shared);
    return new https.Agent({ ...shared, ...(caFile !== undefined && { ca: await readFile(caFile) }) });
  }
}

/** After any other failure the address, the token or the folder there may be another. */
function isOfOperation(error: unknown): boolean {
  return error instanceof HttpFailure && error.failure.code !== UNAUTHORIZED;
}

async function parsed<T>(schema: z.ZodMiniType<T>, response: http.IncomingMessage): Promise<T> {
  const answer = await collect(response, ANSWER_MAX_BYTES);
  const read = checkJson(schema, Buffer.from(answer).toString());
  if (!read.ok) throw new Error(`it answered something else: ${cutText(read.error, 200)}`);
  return read.value;
}

/** A redirect is never followed: the token is for one place only. */
async function failureOf(response: http.IncomingMessage): Promise<Error> {
  const { statusCode = 0 } = response;
  if (statusCode >= 300 && statusCode < 400) {
    response.destroy();
    return new Error(`it answered with a redirect (${statusCode}), which is not followed`);
  }
  const body = await collect(response, JSON_MAX_BYTES).catch(() => new Uint8Array());
  const read = checkJson(FailureAnswer, Buffer.from(body).toString());
  if (!read.ok) return new Error(`it answered with status ${statusCode}`);
  return new HttpFailure(read.value.error);
}

async function collect(response: http.IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    total += chunk.length;
    // Leaving the loop destroys the connection.
    if (total > maxBytes) throw new Error(`its answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  if (!response.complete) throw new Error("the connection was cut");
  return Buffer.concat(chunks);
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
