/** The variables for sign-in with Cloudflare Access; docs/reference/settings.md explains them. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import { SettingsError } from "./settings-error.ts";
import type { ApiToken } from "./tokens.ts";

export function usesAccess(env: Variables): boolean {
  return Boolean(env.ACCESS_TEAM_DOMAIN && env.ACCESS_AUD && env.ACCESS_EMAILS);
}

/** @returns the team's origin, `https://myteam.cloudflareaccess.com`. @throws SettingsError */
export function teamAddress({ ACCESS_TEAM_DOMAIN: text = "" }: Variables): string {
  const address = /^https?:\/\//.test(text) ? text : `https://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // http is accepted only for this machine, for tests.
  if (url && url.pathname === "/" && (url.protocol === "https:" || url.hostname === "127.0.0.1"))
    return url.origin;
  throw new SettingsError(
    `ACCESS_TEAM_DOMAIN: expected a domain like myteam.cloudflareaccess.com, got '${text}'`,
  );
}

/**
 * @param records of API_TOKENS
 * @returns the name of a record for each e-mail address in lower case
 * @throws SettingsError
 */
export function recordNames(
  { ACCESS_EMAILS = "" }: Variables,
  records: readonly ApiToken[],
): Map<string, string> {
  const known = new Set(records.map(({ name }) => name));
  const pairs = ACCESS_EMAILS.split(/[\n,]+/).filter((pair) => pair.trim() !== "");
  return new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf("=");
      const [email, name] = [pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()];
      if (at < 1 || !known.has(name))
        throw new SettingsError(
          `ACCESS_EMAILS: expected EMAIL=NAME of a record in API_TOKENS, got '${pair.trim()}'`,
        );
      return [email, name];
    }),
  );
}
