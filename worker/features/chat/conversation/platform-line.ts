/** The way from a conversation to its chat platform. */

import type { Address } from "../../../kernel/api/turns.ts";
import type { Env } from "../../../kernel/env.ts";
import { platformOf } from "../platforms/all.ts";
import type { ChatPlatform, Line } from "../platforms/chat-platform.ts";
import { connectionOf } from "../platforms/connections.ts";
import { PlatformError } from "../platforms/platform-request.ts";

export type Way = { channel: ChatPlatform; line: Line };

export class PlatformLine {
  readonly #env: Env;
  readonly #home: string;
  readonly #name: string;
  readonly #channel: ChatPlatform | undefined;
  /** The platform refuses everything until then (epoch ms), as it last said. */
  quietUntil = 0;

  /** @param conversation `home/channel/id` */
  constructor(env: Env, conversation: string) {
    const [home = "", name = ""] = conversation.split("/");
    this.#env = env;
    this.#home = home;
    this.#name = name;
    this.#channel = platformOf(name);
  }

  /** @returns undefined: there is no such connection any more */
  async way(address: Address): Promise<Way | undefined> {
    const channel = this.#channel;
    const connection = channel && (await connectionOf(this.#env, this.#home, this.#name, address.connection));
    return channel && connection && { channel, line: { connection, address } };
  }

  /** The pause between two edits of one message (ms); 0: messages cannot be edited. */
  editEveryMs(address: Address): number {
    return this.#channel?.editEveryMs?.(address) ?? 0;
  }

  noteRefusal(error: unknown): void {
    if (!(error instanceof PlatformError) || error.refusal.kind !== "again") return;
    this.quietUntil = Math.max(this.quietUntil, Date.now() + error.refusal.afterMs);
  }
}
