/** Where the answer of a sign-in may go. Whoever gets it gets the tokens, so every address is one that the client registered. */

/** Characters of one address. */
const REDIRECT_MAX = 500;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Programs that people know by name; the others are shown by their host. */
const KNOWN_HOSTS: Readonly<Record<string, string>> = {
  "claude.ai": "Claude",
  "claude.com": "Claude",
  "chatgpt.com": "ChatGPT",
  "vscode.dev": "VS Code",
  "insiders.vscode.dev": "VS Code Insiders",
  "www.cursor.com": "Cursor",
};

/** @property place `loopback`: a program on the person's machine; `app`: one that a private scheme opens */
export type RedirectPlace = { place: "loopback" | "app" | "web"; host: string; known: string | undefined };

/** @param schemes beginnings of allowed addresses with private schemes @returns what is wrong with a redirect address */
export function redirectProblem(text: string, schemes: readonly string[]): string | undefined {
  if (text.length > REDIRECT_MAX) return `is longer than ${REDIRECT_MAX} characters`;
  if (!URL.canParse(text) || /[\s\\]/.test(text)) return "is not an address";
  const url = new URL(text);
  if (text.includes("#")) return "has a fragment";
  if (url.username !== "" || url.password !== "") return "has a user name or password";
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:")
    return LOOPBACK.test(url.hostname) ? undefined : "is http, which is for this machine's programs alone";
  if (schemes.some((start) => text.startsWith(start))) return undefined;
  return `has the scheme '${url.protocol}', which OAUTH_REDIRECTS of this gateway does not name`;
}

/** Whether a client that registered `known` may ask for the answer at `asked`. Ports of loopback addresses are ignored (RFC 8252 §7.3). */
export function isSameRedirect(known: string, asked: string): boolean {
  if (known === asked) return true;
  if (!URL.canParse(known) || !URL.canParse(asked)) return false;
  const [one, other] = [new URL(known), new URL(asked)];
  const isLoopback = [one, other].every(
    ({ protocol, hostname }) => protocol === "http:" && LOOPBACK.test(hostname),
  );
  one.port = "";
  other.port = "";
  return isLoopback && one.href === other.href;
}

export function placeOf(redirect: string): RedirectPlace {
  const { protocol, hostname, host } = new URL(redirect);
  if (protocol === "http:") return { place: "loopback", host, known: undefined };
  if (protocol !== "https:") return { place: "app", host: `${protocol}//${host}`, known: undefined };
  return { place: "web", host, known: host === hostname ? KNOWN_HOSTS[host] : undefined };
}

/** What a policy names so that a browser follows the redirect after the form: it applies `form-action` to that, too. */
export function formActionOf(redirect: string): string {
  const { protocol, hostname, origin } = new URL(redirect);
  // A policy cannot name an IPv6 address.
  return protocol === "https:" || (protocol === "http:" && !hostname.startsWith("[")) ? origin : protocol;
}
