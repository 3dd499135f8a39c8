/** Sends a request unchanged, and returns the result. */
import { Agent, type ClientRequestArgs, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { WebSocket } from "ws";
import type { HostileRequest, HttpRequest, RawRequest, SocketRequest } from "./request.ts";

export type Answer =
  | { as: "response"; status: number; headers: IncomingMessage["headers"]; text: string }
  /** A WebSocket that was opened, and its close code. */
  | { as: "closed"; code: number }
  /** No complete answer: the connection ended, or the time was up. */
  | { as: "dropped"; why: string };

/** Much longer than any refusal takes, also on a loaded machine. */
const ANSWER_WITHIN_MS = 30_000;
/** For bytes that are not HTTP: the runtime may wait for more of them. */
const RAW_WITHIN_MS = 2_000;
/** The pieces of a body that is sent without its length. */
const CHUNK_BYTES = 64 * 1_024;

export class RequestSender {
  readonly #url: URL;
  readonly #agent: Agent;
  readonly #rule: string;

  /** @param atOnce the number of connections @param rule the id that stands for `{rule}` in a path */
  constructor(url: string, atOnce: number, rule: string) {
    this.#url = new URL(url);
    this.#rule = rule;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  }

  async send(hostile: HostileRequest): Promise<Answer> {
    if (hostile.by === "raw") return await this.#raw(hostile);
    if (hostile.by === "socket") return await this.#socket(hostile);
    const answer = await this.#http(hostile, this.#agent);
    // The server may close an idle connection just as it is used again (RFC 9112 §9.3.1).
    return answer === "closed while idle" ? await this.#fresh(hostile) : answer;
  }

  stop(): void {
    this.#agent.destroy();
  }

  async #fresh(hostile: HttpRequest): Promise<Answer> {
    const answer = await this.#http(hostile, false);
    return answer === "closed while idle" ? { as: "dropped", why: "twice" } : answer;
  }

  #http(hostile: HttpRequest, agent: Agent | false): Promise<Answer | "closed while idle"> {
    const { method, body, chunked } = hostile;
    const path = hostile.path.replace("{rule}", this.#rule);
    const headers: Record<string, string> = Object.fromEntries(
      Object.entries(hostile.headers).map(([name, value]) => [
        name,
        value.replace("{origin}", this.#url.origin),
      ]),
    );
    if (body && !chunked) headers["content-length"] = String(body.length);
    const { hostname, port } = this.#url;
    const options: ClientRequestArgs = { hostname, port, method, path, headers, agent };
    return new Promise((resolve) => {
      let answered = false;
      const sent = request(options, (response) => {
        answered = true;
        readText(response).then(
          (text) =>
            resolve({ as: "response", status: response.statusCode ?? 0, headers: response.headers, text }),
          (error: unknown) =>
            resolve({ as: "dropped", why: `in the middle of ${response.statusCode}: ${String(error)}` }),
        );
      });
      sent.setTimeout(ANSWER_WITHIN_MS, () =>
        sent.destroy(new Error(`no answer within ${ANSWER_WITHIN_MS} ms`)),
      );
      sent.on("error", (error: NodeJS.ErrnoException) => {
        // The server answered before it had read the whole body, and closed: its answer counts.
        if (answered) return;
        if (sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE"))
          resolve("closed while idle");
        else resolve({ as: "dropped", why: `${error.code ?? ""} ${error.message}` });
      });
      if (body && chunked)
        for (let at = 0; at < body.length; at += CHUNK_BYTES) sent.write(body.subarray(at, at + CHUNK_BYTES));
      sent.end(chunked ? undefined : body);
    });
  }

  #socket({ path, headers, frames }: SocketRequest): Promise<Answer> {
    return new Promise((resolve) => {
      const socket = new WebSocket(`ws://${this.#url.host}${path}`, {
        headers,
        handshakeTimeout: ANSWER_WITHIN_MS,
      });
      socket.on("unexpected-response", (_, response) => {
        readText(response).then(
          (text) =>
            resolve({ as: "response", status: response.statusCode ?? 0, headers: response.headers, text }),
          (error: unknown) => resolve({ as: "dropped", why: String(error) }),
        );
      });
      socket.on("open", () => {
        for (const frame of frames) socket.send(frame);
        socket.close(1000);
      });
      socket.on("close", (code) => resolve({ as: "closed", code }));
      socket.on("error", (error) => resolve({ as: "dropped", why: error.message }));
    });
  }

  #raw({ bytes }: RawRequest): Promise<Answer> {
    return new Promise((resolve) => {
      const socket = connect(Number(this.#url.port), this.#url.hostname);
      const parts: Buffer[] = [];
      const end = () => {
        socket.destroy();
        const text = Buffer.concat(parts).toString("latin1");
        const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
        resolve(
          status
            ? { as: "response", status: Number(status), headers: {}, text }
            : { as: "dropped", why: "closed" },
        );
      };
      socket.setTimeout(RAW_WITHIN_MS, end);
      socket.on("data", (part) => parts.push(part));
      socket.on("close", end);
      socket.on("error", end);
      socket.end(bytes);
    });
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}
