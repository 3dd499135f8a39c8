/** The contract for connecting a chat app from the console. One file a platform implements it; setup.ts lists them. */
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { Deliveries } from "../../../kernel/api/answers.ts";
import type { Connection } from "../../../kernel/settings/chat.ts";

/** The bot that a token belongs to. */
export type Account = {
  name: string;
  /** A link to the bot, or to add it to a server. */
  link?: string;
  /** Fields of the connection that the platform provides. */
  fields?: { public_key: string };
};

/** Each method may throw PlatformError. A refusal has the platform's own words. */
export type Setup<C extends Connection = Connection> = {
  account(connection: C): Promise<Parsed<Account>>;
  /** Makes the platform deliver to an address. @returns what the person still has to do */
  install(connection: C, address: string): Promise<Parsed<string[]>>;
  /**
   * In place of `install` where a program of the gateway's machine fetches the updates.
   * @param mayEndWebhook a person asked for it: deliveries to elsewhere end
   * @returns what the person still has to do
   */
  poll?(connection: C, mayEndWebhook: boolean): Promise<Parsed<string[]>>;
  deliveries(connection: C): Promise<Parsed<Deliveries>>;
  /** Ends deliveries. Absent: the person does that in the platform's own settings. */
  uninstall?(connection: C): Promise<void>;
};
