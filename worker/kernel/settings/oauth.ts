/** The variables of sign-in by OAuth; docs/using/connect.md explains them. */
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import type { Env } from "../env.ts";
import { readOnce } from "./read-once.ts";
import { readChoice } from "./read-variable.ts";
import { readSettings } from "./settings.ts";
import { SettingsError } from "./settings-error.ts";

type OauthSettings = {
  isOn: boolean;
  /** Beginnings of redirect addresses with a private scheme, such as `cursor://anysphere.cursor-mcp/`. */
  redirects: readonly string[];
};

/** Programs that a browser opens by a scheme of their own. */
const KNOWN_REDIRECTS = ["cursor://anysphere.cursor-mcp/"];
/** A scheme that browsers and systems do not use themselves, and a place in it. */
const PRIVATE =
  /^(?!https?:|javascript:|data:|file:|blob:|about:|ws)[a-z][a-z0-9+.-]*:\/\/[^\s?#@]+\/[^\s?#@]*$/;

/** @throws SettingsError */
export const readOauthSettings = readOnce((env: Env): OauthSettings => {
  const isOn = readChoice(env, "OAUTH") === "on";
  const { OAUTH_REDIRECTS: more = "" } = env;
  const redirects = more.split(/[\s,]+/).filter((one) => one !== "");
  const wrong = redirects.find((one) => !PRIVATE.test(one));
  if (wrong !== undefined)
    throw new SettingsError(
      `OAUTH_REDIRECTS: expected addresses with a private scheme like cursor://anysphere.cursor-mcp/, got '${wrong}'`,
    );
  return { isOn, redirects: [...KNOWN_REDIRECTS, ...redirects] };
});

/**
 * The gateway's address as issuer of tokens. It comes from PUBLIC_URL where that is set: behind a proxy the request's own
 * address differs, and clients compare the two letter by letter.
 * @param url of a request
 * @returns undefined: OAuth is off, or the address is neither https nor this machine's
 * @throws SettingsError
 */
export function issuerOf(env: Env, url: string): string | undefined {
  if (!readOauthSettings(env).isOn) return undefined;
  const issuer = readSettings(env).publicUrl ?? new URL(url).origin;
  return issuer.startsWith("https://") || isLoopback(issuer) ? issuer : undefined;
}

/** The address that people type into a client, and the audience of its tokens. */
export function resourceOf(issuer: string): string {
  return `${issuer}/mcp`;
}
