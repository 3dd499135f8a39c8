/**
 * JSON-RPC messages of MCP, and the errors of a request.
 *
 * The client is our own, because the SDK's takes 21 MB of memory and 117 KB of gzip in the agent's bundle (measured). Three
 * methods are enough here: the handshake, `tools/list` and `tools/call`.
 */

import { VERSION } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";

/** The version that the handshake of 2025 proposes; the server answers with the one that it supports. */
export const LEGACY_VERSION = "2025-11-25";
/** The version without a handshake, in which each request names the client. */
export const MODERN_VERSION = "2026-07-28";

export type ClientInfo = { name: string; version: string };

/** As servers know this agent. */
export function clientInfo(agentId: string): ClientInfo {
  return { name: `edgecall agent ${agentId}`, version: VERSION };
}

/** The limit of one message. A picture of 8 MiB in base64 fits. */
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

/** The server received the request and answered with an error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(cutText(message, 2_000));
    this.code = code;
  }
}

/** The server is absent or went away. If `sent`, it may have received the request. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  readonly sent: boolean;

  constructor(message: string, sent: boolean) {
    super(message);
    this.sent = sent;
  }
}

/** Carries messages: over a program's stdin and stdout, or over HTTP requests. */
export type Link = {
  /**
   * Sends a request and resolves with its answer. Notifications that arrive meanwhile go to `onNotification`.
   * @throws RpcError, Unreachable, or the signal's reason
   */
  request(method: string, params: Params, options: RequestOptions): Promise<Params>;
  /** Sends a message that has no answer. Never rejects. */
  notify(method: string, params?: Params): Promise<void>;
  /** Sets the version that the handshake agreed on. */
  agreed(version: string): void;
  /** Resolves with the reason when the other side ends the link; never after `close`. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
};

export type RequestOptions = { signal: AbortSignal; onNotification?: (notification: Message) => void };

/** Returns the answer in a message. @throws RpcError for an error */
export function answerIn({ result, error }: Message): Params {
  if (error) throw new RpcError(error.code, error.message);
  if (!result) throw new RpcError(-32_603, "an answer without a result");
  return result;
}
