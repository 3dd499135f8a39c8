/** Every platform by its name in the address. */
import { CHANNEL_NAMES, type ChannelName } from "../settings/channels.ts";
import type { Channel } from "./channel.ts";
import { discord } from "./discord.ts";
import { generic } from "./generic.ts";
import { slack } from "./slack.ts";
import { telegram } from "./telegram.ts";
import { whatsapp } from "./whatsapp.ts";

const CHANNELS = { telegram, slack, discord, whatsapp, generic };

/** Undefined: there is no such platform. */
export function channelOf(name: string): Channel | undefined {
  if (!(CHANNEL_NAMES as readonly string[]).includes(name)) return undefined;
  // SAFETY: a line is made of a connection of the same channel (`findConnection` takes both).
  return CHANNELS[name as ChannelName] as unknown as Channel;
}
