import { networkInterfaces } from "node:os";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { DEVICE_READ } from "../reads.ts";
import { bytes } from "./figures.ts";
import { readKernel } from "./kernel-files.ts";

export function networkInfo({ root }: { root: string }): Tool {
  return defineTool({
    name: "network_info",
    description:
      "Read this device's network: interfaces and their IP addresses, whether the link is up, Wi-Fi (wireless) signal strength, bytes received and sent since the start.",
    input: z.strictObject({}),
    ...DEVICE_READ,
    async execute() {
      const counters = countersOf((await readKernel(root, "/proc/net/dev")) ?? "");
      if (counters.length === 0) {
        return faultResult(
          "unavailable",
          "Error: The network cannot be read: /proc/net/dev is not there or lists no interface.",
        );
      }
      const signals = signalsOf((await readKernel(root, "/proc/net/wireless")) ?? "");
      // These are this process's machine's, so they are used only when the call is about that machine.
      const addresses = root === "/" ? networkInterfaces() : {};
      const interfaces = await Promise.all(
        counters.map(async (counter) => ({
          ...counter,
          state: await readKernel(root, `/sys/class/net/${counter.name}/operstate`),
          addresses: (addresses[counter.name] ?? []).map(({ address }) => address),
          signal_dbm: signals.get(counter.name),
        })),
      );
      return textResult(interfaces.map(lineOf).join("\n"), { interfaces });
    },
  });
}

type Counter = { name: string; received_bytes: number; sent_bytes: number };
type Interface = Counter & {
  state: string | undefined;
  addresses: string[];
  signal_dbm: number | undefined;
};

function countersOf(text: string): Counter[] {
  return text.split("\n").flatMap((line) => {
    const [name, rest] = line.split(/:\s*/, 2);
    const columns = rest?.trim().split(/\s+/).map(Number) ?? [];
    const received = columns[0];
    const sent = columns[8];
    if (!name || received === undefined || sent === undefined) return [];
    return [{ name: name.trim(), received_bytes: received, sent_bytes: sent }];
  });
}

/** Returns the signal level in dBm for each interface. */
function signalsOf(text: string): Map<string, number> {
  const signals = new Map<string, number>();
  for (const line of text.split("\n")) {
    const match = /^\s*(\S+):\s+\S+\s+[\d.]+\.?\s+(-?[\d.]+)/.exec(line);
    const level = Number.parseFloat(match?.[2] ?? "");
    if (match?.[1] && Number.isFinite(level)) signals.set(match[1], level);
  }
  return signals;
}

function lineOf(link: Interface): string {
  return [
    `${link.name}:`,
    link.state && link.state !== "unknown" ? link.state : "",
    link.addresses.join(", "),
    link.signal_dbm === undefined ? "" : `Wi-Fi signal ${link.signal_dbm} dBm`,
    `received ${bytes(link.received_bytes)}, sent ${bytes(link.sent_bytes)}`,
  ]
    .filter(Boolean)
    .join(" ");
}
