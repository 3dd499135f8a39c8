/**
 * The platforms that the console can connect: each checks a pasted token, is told where to deliver, and reports how deliveries
 * stand. Each has a file; the routes are in routes/connection-routes.ts.
 */
import { discordSetup } from "./discord-setup.ts";
import type { Setup } from "./platform-setup.ts";
import { slackSetup } from "./slack-setup.ts";
import { telegramSetup } from "./telegram-setup.ts";

const SETUPS: Partial<Record<string, unknown>> = {
  telegram: telegramSetup,
  slack: slackSetup,
  discord: discordSetup,
};

/** @returns undefined for a platform that a person sets up by hand */
export function setupOf(channel: string): Setup | undefined {
  // SAFETY: a setup is found by the channel's name, so it gets only connections of that channel.
  return Object.hasOwn(SETUPS, channel) ? (SETUPS[channel] as Setup) : undefined;
}
