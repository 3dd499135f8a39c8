/**
 * JSON-RPC messages of MCP, and the words for what goes wrong.
 *
 * A client of our own, because the SDK's takes 21 MB of memory and 117 KB of gzip in the agent's bundle (measured),
 * for what is three methods here: the handshake, `tools/list` and `tools/call`.
 */

import { VERSION } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";

/** A server of 2025 is greeted with this one, and answers with the one that it speaks. */
export const LEGACY_VERSION = "2025-11-25";
/** Without a handshake: each request says who speaks. */
export const MODERN_VERSION = "2026-07-28";

export const CLIENT_INFO = { name: "edgecall-agent", version: VERSION };

/** One message, whole: a picture of 8 MiB in base64 fits. */
export const MESSAGE_MAX_BYTES = 12 * 1024 * 1024;

export type Params = Record<string, unknown>;

export const Message = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.optional(z.union([z.string(), z.number(), z.null()])),
  method: z.optional(z.string()),
  params: z.optional(z.record(z.string(), z.unknown())),
  result: z.optional(z.record(z.string(), z.unknown())),
  error: z.optional(z.looseObject({ code: z.number(), message: z.string() })),
});
export type Message = z.infer<typeof Message>;

/** The server answered with an error: it has the request, and says no. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message.slice(0, 2_000));
    this.code = code;
  }
}

/** The server is not there, or went away. `sent`: it may have got the request. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.sent = sent;
  }
}

/** What carries messages: a program's stdin and stdout, or HTTP requests. */
export type Link = {
  /**
   * Sends a request and resolves with its answer; what comes meanwhile goes to `heard`.
   * @throws RpcError, Unreachable, or the signal's reason
   */
  request(method: string, params: Params, options: RequestOptions): Promise<Params>;
  /** Nobody answers. Never rejects. */
  notify(method: string, params?: Params): Promise<void>;
  /** After the handshake: the version that both speak. */
  agreed(version: string): void;
  /** Ended by the other side, with why; never after `close`. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
};

export type RequestOptions = { signal: AbortSignal; heard?: (notification: Message) => void };

/** The answer in a message, or its error. */
export function answerIn({ result, error }: Message): Params {
  if (error) throw new RpcError(error.code, error.message);
  if (!result) throw new RpcError(-32_603, "an answer without a result");
  return result;
}
