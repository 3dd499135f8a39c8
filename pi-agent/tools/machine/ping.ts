import { isIP } from "node:net";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import type { ExecOps } from "../../env/environment.ts";
import { LINUX_ONLY, platformMissing } from "./platforms.ts";
import { complaint, type Ended, programThere, runProgram } from "./run-program.ts";

const DEFAULT_COUNT = 3;
const MAX_COUNT = 10;
/** Ordinary users may use 0.2 s or more. */
const INTERVAL_SECONDS = 0.5;
const REPLY_SECONDS = 2;
/** RFC 1123: labels of letters, digits and hyphens; and the underscore, which homes use although the RFC has none. */
const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*\.?$/;

export function ping({ exec }: { exec: ExecOps }): Tool {
  return defineTool({
    name: "ping",
    description: `Ping a host from this device: whether a machine on the network (router, NAS, printer, a website) answers and how long the round trip takes. ${DEFAULT_COUNT} times, at most ${MAX_COUNT}.`,
    input: z.strictObject({
      host: z
        .string()
        .check(
          z.minLength(1),
          z.maxLength(253),
          z.describe("Host name or IP address: nas.local, 192.168.1.1"),
        ),
      count: z
        ._default(z.int().check(z.minimum(1), z.maximum(MAX_COUNT)), DEFAULT_COUNT)
        .check(z.describe("How often")),
    }),
    effect: "network",
    permission: "device",
    idempotent: true,
    timeoutMs: 10_000,
    maxTimeoutMs: 60_000,
    async execute({ host, count }, { signal }) {
      if (!isHost(host)) {
        return faultResult("invalid_params", {
          text: `Error: '${host}' is neither a host name nor an IP address.`,
          advice: 'Use host="192.168.1.1" or host="nas.local", without http:// and port.',
        });
      }
      const deadline = Math.ceil(count * INTERVAL_SECONDS) + REPLY_SECONDS;
      const ended = await runProgram(
        exec,
        [
          "ping",
          ...["-n", "-c", `${count}`, "-i", `${INTERVAL_SECONDS}`],
          ...["-W", `${REPLY_SECONDS}`, "-w", `${deadline}`, "--", host],
        ],
        { signal },
      );
      return answerOf(host, ended);
    },
  });
}

export async function pingMissing(
  exec: ExecOps,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const elsewhere = platformMissing(LINUX_ONLY, platform);
  if (elsewhere) return elsewhere;
  return (await programThere(exec, ["ping", "-V"])) ? undefined : "no program 'ping': install iputils-ping";
}

/** True if this is a host and neither an option nor a URL. IPv6 may have a zone: `fe80::1%wlan0`. */
export function isHost(host: string): boolean {
  return isIP(host) !== 0 || HOST_NAME.test(host);
}

export type PingFigures = { sent: number; received: number; minMs?: number; avgMs?: number; maxMs?: number };

/** Reads the last lines of the output of iputils or busybox. */
export function pingFigures(text: string): PingFigures | undefined {
  const counts = /(\d+) packets transmitted, (\d+)(?: packets)? received/.exec(text);
  if (!counts) return undefined;
  const trip = /min\/avg\/max(?:\/mdev)? = ([\d.]+)\/([\d.]+)\/([\d.]+)/.exec(text);
  return {
    sent: Number(counts[1]),
    received: Number(counts[2]),
    ...(trip && { minMs: Number(trip[1]), avgMs: Number(trip[2]), maxMs: Number(trip[3]) }),
  };
}

function answerOf(host: string, ended: Ended) {
  const figures = pingFigures(ended.stdout);
  if (!figures) return refusal(host, ended);
  const { sent, received, minMs, avgMs, maxMs } = figures;
  const details = { host, ...figures };
  if (received === 0) {
    const why = /^From \S+ icmp_seq=\d+ (.+)$/m.exec(ended.stdout)?.[1];
    return textResult(
      `${host} does not answer: none of ${sent} pings came back${why ? ` (${why.trim()})` : ""}. It may be off, or not answer pings.`,
      details,
    );
  }
  const trip = avgMs === undefined ? "" : `, round trip ${avgMs} ms on average (${minMs} to ${maxMs} ms)`;
  return textResult(`${host} answers: ${received} of ${sent} pings came back${trip}.`, details);
}

function refusal(host: string, ended: Ended) {
  if (/not known|not found|bad address|No address associated/i.test(ended.stderr)) {
    return faultResult("not_found", `Error: There is no host '${host}' that this device can find by name.`);
  }
  if (/Temporary failure in name resolution/i.test(ended.stderr)) {
    return faultResult("unavailable", {
      text: `Error: The name '${host}' cannot be looked up: this device reaches no name server.`,
      advice: "Try an IP address.",
    });
  }
  if (/Operation not permitted|missing cap_net_raw/i.test(ended.stderr)) {
    return faultResult("access_denied", {
      text: "Error: This agent's user may not ping (no cap_net_raw, and net.ipv4.ping_group_range leaves it out).",
      advice: "Tell the user.",
    });
  }
  return faultResult("io", `Error: '${host}' could not be pinged: ${complaint(ended)}.`);
}
