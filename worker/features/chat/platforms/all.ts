/** All chat platforms, by their names in a webhook's address. */
import { PLATFORM_NAMES, type PlatformName } from "../../../kernel/settings/chat.ts";
import type { ChatPlatform } from "./chat-platform.ts";
import { discord } from "./discord.ts";
import { generic } from "./generic.ts";
import { slack } from "./slack.ts";
import { telegram } from "./telegram.ts";
import { whatsapp } from "./whatsapp.ts";

const PLATFORMS = { telegram, slack, discord, whatsapp, generic };

/** @returns undefined when there is no such platform */
export function platformOf(name: string): ChatPlatform | undefined {
  if (!(PLATFORM_NAMES as readonly string[]).includes(name)) return undefined;
  // SAFETY: a `Line` has a connection of the same channel, because `findConnection` looks for both.
  return PLATFORMS[name as PlatformName] as unknown as ChatPlatform;
}
