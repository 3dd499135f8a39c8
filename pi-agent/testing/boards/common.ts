/**
 * The files that every board has in /proc. Boards are put together after the kernels' documentation and published
 * listings of such boards; none was recorded by us yet (docs/decisions/072-boards-are-emulated.md says what that leaves open).
 */

export type Board = Readonly<Record<string, string>>;

/** Counters that stand still, as a recording's do: a fifth of the time busy. */
export function procStat(cores: number): string {
  const each = Array.from({ length: cores }, (_, core) => `cpu${core} 250 0 150 1600 0 0 0 0 0 0`);
  return [`cpu  ${250 * cores} 0 ${150 * cores} ${1_600 * cores} 0 0 0 0 0 0`, ...each, "intr 1 0", ""].join(
    "\n",
  );
}

export function osRelease(version: 12 | 13): string {
  const name = version === 12 ? "bookworm" : "trixie";
  return `PRETTY_NAME="Debian GNU/Linux ${version} (${name})"\nNAME="Debian GNU/Linux"\nVERSION_ID="${version}"\n`;
}

/** @param links received and sent bytes by interface */
export function netDev(links: Readonly<Record<string, readonly [number, number]>>): string {
  const head = [
    "Inter-|   Receive                                                |  Transmit",
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
  ];
  const rows = Object.entries(links).map(
    ([name, [received, sent]]) => `${name.padStart(6)}: ${received} 10 0 0 0 0 0 0 ${sent} 10 0 0 0 0 0 0`,
  );
  return [...head, ...rows, ""].join("\n");
}

/** @param levels signal in dBm by interface */
export function netWireless(levels: Readonly<Record<string, number>>): string {
  const head = [
    "Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE",
    " face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22",
  ];
  const rows = Object.entries(levels).map(
    ([name, level]) =>
      `${name.padStart(6)}: 0000   58.  ${level}.  -256        0      0      0      0     12        0`,
  );
  return [...head, ...rows, ""].join("\n");
}

export function memInfo(kilobytes: { total: number; available: number; swap?: number }): string {
  const { total, available, swap = 0 } = kilobytes;
  return [
    `MemTotal:       ${total} kB`,
    `MemFree:        ${Math.round(available / 2)} kB`,
    `MemAvailable:   ${available} kB`,
    `SwapTotal:      ${swap} kB`,
    `SwapFree:       ${swap} kB`,
    "",
  ].join("\n");
}

/** One process: init. */
export const INIT: Board = {
  "/proc/1/stat": "1 (systemd) S 0 1 1 0 -1 4194560 1 1 1 1 120 80 0 0 20 0 1 0 5 1 2000 1\n",
  "/proc/1/status": "Name:\tsystemd\nVmRSS:\t   11264 kB\n",
  "/proc/1/cmdline": "/sbin/init\0",
};
