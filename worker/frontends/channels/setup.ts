/**
 * Connecting a chat app from the console: what each platform is asked when a token is pasted, told where to deliver, and
 * asked again when something does not arrive. One file each; the routes are in connection-routes.ts.
 */
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { Deliveries } from "../../api/answers.ts";
import type { Connection } from "../../settings/channels.ts";
import { discordSetup } from "./discord-setup.ts";
import { slackSetup } from "./slack-setup.ts";
import { telegramSetup } from "./telegram-setup.ts";

/** Who the platform says that a token is. */
export type Account = {
  name: string;
  /** Where a person finds the bot, or lets it into a server. */
  link?: string;
  /** What the connection needs and the platform knows. */
  fields?: { public_key: string };
};

/** Each may throw PlatformError. A refusal is in the platform's own words. */
export type Setup<C extends Connection = Connection> = {
  account(connection: C): Promise<Parsed<Account>>;
  /** Has the platform deliver to an address. @returns what is left for the person to do */
  install(connection: C, address: string): Promise<Parsed<string[]>>;
  deliveries(connection: C): Promise<Parsed<Deliveries>>;
  /** Has it deliver nowhere. Absent: that is done in the platform's own settings. */
  uninstall?(connection: C): Promise<void>;
};

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
