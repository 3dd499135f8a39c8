/** The operating systems that a tool supports. */

/** For tools that use /proc, /sys, systemd, gpiod or V4L2. */
export const LINUX_ONLY = ["linux"] as const satisfies readonly NodeJS.Platform[];

/** @returns why a tool for `platforms` cannot be offered here; undefined when it can */
export function platformMissing(
  platforms: readonly NodeJS.Platform[],
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platforms.includes(platform)) return undefined;
  return `it is made for ${platforms.join(" and ")}, and this is ${platform}`;
}
