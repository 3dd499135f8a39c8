/**
 * The network of the trial: a home behind its router, and the internet outside. Both are bridges in this program's own
 * network namespace (main.ts), which acts as the router: all connections from the home outwards are allowed, and
 * inwards only their answers.
 */
import { execFileSync } from "node:child_process";

export type Place = { net: "home" | "internet"; address: string; router: string };

/** Outside, addresses of TEST-NET-3 (RFC 5737); inside, addresses that home routers assign. */
const ROUTERS = { home: "192.168.77.1", internet: "203.0.113.1" } as const;
/** The address outside the home of programs of the trial itself, such as the model. */
export const OUTSIDE = ROUTERS.internet;

export function placeIn(net: Place["net"], host: number): Place {
  const router = ROUTERS[net];
  return { net, router, address: router.replace(/\d+$/, String(host)) };
}

export function layWires(): void {
  ip("link", "set", "lo", "up");
  for (const [net, address] of Object.entries(ROUTERS)) {
    ip("link", "add", net, "type", "bridge");
    ip("address", "add", `${address}/24`, "dev", net);
    ip("link", "set", net, "up");
  }
  run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
  iptables("--policy", "FORWARD", "DROP");
  // Some kernels also filter traffic that stays within one bridge.
  for (const net of Object.keys(ROUTERS))
    iptables("--append", "FORWARD", "-i", net, "-o", net, "--jump", "ACCEPT");
  iptables("--append", "FORWARD", "-i", "home", "-o", "internet", "--jump", "ACCEPT");
  iptables("--append", "FORWARD", "-m", "conntrack", "--ctstate", "ESTABLISHED", "--jump", "ACCEPT");
  iptables("--table", "nat", "--append", "POSTROUTING", "-o", "internet", "--jump", "MASQUERADE");
}

function ip(...args: string[]): void {
  run("ip", ...args);
}

function iptables(...args: string[]): void {
  run("iptables", "--wait", ...args);
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });
}
