/** Finds the address by which other devices of the home reach this machine. */
import { readFileSync } from "node:fs";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

/**
 * @returns the IPv4 address of the interface with the default route, else any that is not loopback; undefined: this machine
 *   is in no network
 */
export function ownAddress(
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
  outwards = defaultInterface(),
): string | undefined {
  const [out, others] = [
    outwards === undefined ? [] : (interfaces[outwards] ?? []),
    Object.values(interfaces),
  ];
  return [...out, ...others.flatMap((each) => each ?? [])].find(
    ({ family, internal }) => family === "IPv4" && !internal,
  )?.address;
}

/** The interface of the default route: destination 00000000 in the kernel's table. */
function defaultInterface(): string | undefined {
  try {
    const lines = readFileSync("/proc/net/route", "utf8").split("\n").slice(1);
    return lines.map((line) => line.split("\t")).find(([, destination]) => destination === "00000000")?.[0];
  } catch {
    return undefined;
  }
}
