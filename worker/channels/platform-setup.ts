/** Connecting a chat app from the console: what each platform can be asked. One file each; setup.ts lists them. */
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { Deliveries } from "../api/answers.ts";
import type { Connection } from "../settings/channels.ts";

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
