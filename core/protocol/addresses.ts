/** Addresses, of any scheme: whose they are, and how they are shown. */

/** Names that each machine has for itself. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;

/** Whether an address names the machine that uses it: what is there, no other one reaches by it. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

/** For logs and people: user and password stay where they are. */
export function withoutLogin(url: string): string {
  return url.replace(/\/\/[^/]*@/, "//");
}
