/** All chat platforms, by their names in a webhook's address. */
import { CHANNEL_NAMES, type ChannelName } from "../../../kernel/settings/chat.ts";
import type { Channel } from "./channel.ts";
import { discord } from "./discord.ts";
import { generic } from "./generic.ts";
import { slack } from "./slack.ts";
import { telegram } from "./telegram.ts";
import { whatsapp } from "./whatsapp.ts";

const CHANNELS = { telegram, slack, discord, whatsapp, generic };

/** @returns undefined when there is no such platform */
export function channelOf(name: string): Channel | undefined {
  if (!(CHANNEL_NAMES as readonly string[]).includes(name)) return undefined;
  // SAFETY: a `Line` has a connection of the same channel, because `findConnection` looks for both.
  return CHANNELS[name as ChannelName] as unknown as Channel;
}
