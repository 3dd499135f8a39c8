/** The link to an MCP server that is a program on this machine: one message a line, on its stdin and stdout. */
import type { Writable } from "node:stream";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { ExecOps, RunOptions } from "@edgecall/pi-agent/env/environment.ts";
import {
  answerIn,
  type Link,
  MESSAGE_MAX_BYTES,
  Message,
  type Params,
  type RequestOptions,
  Unreachable,
} from "./messages.ts";

/** The end of stderr is kept, because it usually says why the program ended. */
const STDERR_MAX = 500;
const NO_METHOD = -32_601;

export type StdioServer = {
  exec: ExecOps;
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  grants?: RunOptions["grants"];
};

type Pending = {
  resolve(message: Message): void;
  reject(why: unknown): void;
  onNotification: RequestOptions["onNotification"];
};

/** Starts the program. If it cannot be started, the link has ended already. */
export function stdioLink({ exec, argv, env, grants }: StdioServer): Link {
  const stop = new AbortController();
  const pending = new Map<number, Pending>();
  const lines = new Lines(MESSAGE_MAX_BYTES);
  let stdin: Writable | undefined;
  /** Messages that were written before the program had started. */
  let early = "";
  let stderr = "";
  let lastId = 0;
  let endReason: string | undefined;

  const write = (message: object) => {
    const line = `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
    if (!stdin) early += line;
    else if (stdin.writable) stdin.write(line);
  };

  const receive = (line: string) => {
    const read = checkJson(Message, line);
    // Some servers print a greeting on stdout, so a line that is no message is ignored.
    if (!read.ok) return;
    const { id, method } = read.value;
    if (method === undefined) {
      if (typeof id === "number") pending.get(id)?.resolve(read.value);
    } else if (id === undefined || id === null) {
      for (const { onNotification } of pending.values()) onNotification?.(read.value);
    } else if (method === "ping") write({ id, result: {} });
    else write({ id, error: { code: NO_METHOD, message: "this client has no such method" } });
  };

  const options: RunOptions = {
    env,
    lasting: true,
    signal: stop.signal,
    ...(grants && { grants }),
    onStdin: (opened) => {
      stdin = opened;
      opened.write(early);
    },
    onOutput: (chunk, stream) => {
      if (stream === "stderr") stderr = `${stderr}${Buffer.from(chunk).toString("utf8")}`.slice(-STDERR_MAX);
      else if (!lines.add(chunk, receive)) stop.abort();
    },
  };
  const ended = exec
    .run(argv, options)
    .then(
      ({ exitCode, signal, stopped }) =>
        stopped ? "it was stopped" : `it ended with ${signal ?? `exit code ${exitCode}`}`,
      messageOf,
    )
    .then((why) => {
      endReason = [why, stderr.trim()].filter(Boolean).join(": ");
      for (const { reject } of pending.values()) reject(new Unreachable(endReason, true));
      return endReason;
    });

  return {
    ended,
    agreed: () => {},
    async request(method, params, { signal, onNotification }) {
      signal.throwIfAborted();
      if (endReason !== undefined) throw new Unreachable(endReason, false);
      lastId += 1;
      const id = lastId;
      const cancel = () => {
        write({ method: "notifications/cancelled", params: { requestId: id, reason: "cancelled" } });
        pending.get(id)?.reject(signal.reason);
      };
      try {
        const answer = new Promise<Message>((resolve, reject) =>
          pending.set(id, { resolve, reject, onNotification }),
        );
        signal.addEventListener("abort", cancel, { once: true });
        write({ id, method, params });
        return answerIn(await answer);
      } finally {
        signal.removeEventListener("abort", cancel);
        pending.delete(id);
      }
    },
    async notify(method: string, params: Params = {}) {
      write({ method, params });
    },
    async close() {
      stop.abort();
      await ended;
    },
  };
}

/** Splits bytes into lines. A line that never ends is not stored. */
class Lines {
  readonly #max: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns false when a line is longer than it may be */
  add(chunk: Uint8Array, onLine: (line: string) => void): boolean {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#parts.push(rest.subarray(0, end));
      onLine(Buffer.concat(this.#parts).toString("utf8"));
      this.#parts = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
    }
    this.#parts.push(rest);
    this.#bytes += rest.length;
    return this.#bytes <= this.#max;
  }
}
