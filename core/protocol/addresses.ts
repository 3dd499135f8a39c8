/** Helpers for addresses of any scheme: whether one is local, and how to show one. */

/** Names by which every machine reaches itself. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;

/** Whether an address names the machine that uses it. Another machine cannot use the same address. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}

/** Returns the address without user and password, for logs and people. */
export function withoutLogin(url: string): string {
  return url.replace(/\/\/[^/]*@/, "//");
}
