/** The seed's table of time-outs, for a tool whose skill.toml names none. */
const FILES = ["read", "write", "edit", "glob", "grep"];
const NETWORK = ["bash", "websearch", "webfetch", "codesearch"];

/** Returns ms. */
export function defaultTimeoutMs(name: string): number {
  if (FILES.includes(name)) return 5_000;
  if (NETWORK.includes(name)) return 30_000;
  return name.startsWith("git_") ? 60_000 : 10_000;
}
