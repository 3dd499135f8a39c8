/** `POLLING_TOKEN`: a program on the gateway's machine fetches updates, where no platform can reach the gateway. */
import type { Env } from "../../kernel/env.ts";
import { SettingsError } from "../../kernel/settings/settings-error.ts";

const TOKEN = /^[A-Za-z0-9_-]{32,256}$/;

/** @returns undefined when platforms deliver to webhooks @throws SettingsError */
export function pollingToken({ POLLING_TOKEN: token }: Pick<Env, "POLLING_TOKEN">): string | undefined {
  if (!token) return undefined;
  if (TOKEN.test(token)) return token;
  throw new SettingsError("POLLING_TOKEN: expected 32 to 256 of A-Z a-z 0-9 _ -");
}
