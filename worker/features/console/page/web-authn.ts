/** What the page uses of WebAuthn, as the API has it. */
import { say } from "./texts/say.ts";

/** Why this browser has no passkeys at this address; undefined: it has. */
export function whyNoPasskeys(): string | undefined {
  const { hostname, port } = location;
  if (/^127\.|^\[::1\]$/.test(hostname))
    return say("noneAtAddress", { address: `http://localhost${port && `:${port}`}` });
  if (/^[\d.]+$|^\[/.test(hostname)) return say("noneAtIp");
  if (!isSecureContext) return say("noneOverHttp");
  return typeof PublicKeyCredential === "undefined" ? say("noneInBrowser") : undefined;
}

/** @param text base64url */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const chars = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(chars, (char) => char.charCodeAt(0));
}

/** @returns base64url */
export function textOf(bytes: ArrayBuffer | Uint8Array): string {
  const chars = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return btoa(chars).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @throws Error */
export function assertionOf(credential: Credential | null) {
  if (!(credential instanceof PublicKeyCredential)) throw new Error("the browser gave no passkey");
  const { response } = credential;
  if (!(response instanceof AuthenticatorAssertionResponse))
    throw new Error("the browser gave no confirmation");
  return {
    id: credential.id,
    clientDataJSON: textOf(response.clientDataJSON),
    authenticatorData: textOf(response.authenticatorData),
    signature: textOf(response.signature),
    userHandle: response.userHandle ? textOf(response.userHandle) : null,
  };
}
