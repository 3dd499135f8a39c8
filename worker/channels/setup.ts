/**
 * Connecting a chat app from the console: what each platform is asked when a token is pasted, told where to deliver, and
 * asked again when something does not arrive. One file each; the routes are in connection-routes.ts.
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

/** Undefined: this platform is set up by hand. */
export function setupOf(channel: string): Setup | undefined {
  // SAFETY: a setup is given connections of its own channel alone, by whose name it is found.
  return Object.hasOwn(SETUPS, channel) ? (SETUPS[channel] as Setup) : undefined;
}
