/** `edgecall pair` makes a code for one device, and prints the command to run there. */
import { setTimeout as sleep } from "node:timers/promises";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { readConnection } from "./connection.ts";
import { Gateway, GatewayError } from "./gateway.ts";
import { printableLine } from "./printable.ts";

/** The time that a code is valid, if the gateway does not say. */
const CODE_LASTS_MS = 10 * 60_000;
/** A person has to go to the device and type, and each request wakes the home. */
const LOOK_EVERY_MS = 1_500;

const ON_ANOTHER_MACHINE =
  "This address works only on the gateway's machine. For another machine, `edgecall start` prints the ssh command that makes the address available there.\n";

const Pairing = z.looseObject({
  /** The code becomes a part of a shell command, so it has no special characters. */
  code: z.string().check(z.regex(/^[A-Za-z0-9-]{6,100}$/)),
  command: z.optional(z.string()),
  /** Epoch ms. */
  expires_at: z.optional(z.number()),
});

const CodeState = z.looseObject({
  state: z.enum(["open", "used", "expired"]),
  agent: z.optional(z.nullable(z.string())),
  online: z.optional(z.boolean()),
});

/** Exit code 0: there is a code; with --wait: a device was paired with it, and is online. */
export async function pair({ text, flag, env, io }: CommandCall): Promise<number> {
  const gateway = new Gateway(readConnection(env));
  const isBridge = flag("with-bridge");
  const named = text("agent");
  if (isBridge && named !== undefined) throw new UsageError("--with-bridge: cannot be combined with --agent");
  const agent = isBridge ? BRIDGE : named;
  const broker = text("broker");
  const body = {
    ...(agent !== undefined && { agent }),
    ...(broker !== undefined && { broker: { url: broker } }),
  };
  const pairing = await gateway.json(Pairing, "POST /v1/device-codes", { body }).catch(tooOld);
  const { code, command, expires_at = Date.now() + CODE_LASTS_MS } = pairing;
  if (flag("json")) io.out(`${JSON.stringify(pairing)}\n`);
  else {
    const minutes = Math.max(1, Math.round((expires_at - Date.now()) / 60_000));
    io.err(`On the device, within ${minutes} minutes (the code works for one device):\n\n`);
    // The command is alone on stdout, so that it can be piped: `edgecall pair | ssh pi@device sh`.
    const line =
      command ??
      `curl -fsS ${gateway.url}/install.sh | sudo sh -s -- ${code}${isBridge ? " --with-bridge" : ""}`;
    io.out(`${printableLine(line)}\n`);
    io.err(
      `\n${agent === BRIDGE ? "It becomes the home's bridge and replaces an existing one." : "For the home's first machine, use edgecall pair --with-bridge."} \`edgecall agents\` shows it when it is online.\n`,
    );
    if (isLoopback(/https?:\S+/.exec(line)?.[0] ?? "")) io.err(ON_ANOTHER_MACHINE);
  }
  return flag("wait") ? await waitUntilOnline(gateway, code, expires_at, io.err) : EXIT.ok;
}

async function waitUntilOnline(
  gateway: Gateway,
  code: string,
  until: number,
  err: (text: string) => void,
): Promise<number> {
  let isPaired = false;
  for (;;) {
    const { state, agent, online } = await gateway.json(CodeState, "GET /v1/device-codes/{code}", {
      path: { code },
    });
    const name = printableLine(agent ?? "the device", 64);
    if (state === "used" && !isPaired) err(`${name} has its keys; waiting until it is online…\n`);
    isPaired ||= state === "used";
    if (online) {
      err(`${name} is online\n`);
      return EXIT.ok;
    }
    // A paired device gets the same time again to come online.
    if (state === "expired" || Date.now() > until + (isPaired ? CODE_LASTS_MS : 0)) {
      err(
        isPaired
          ? `${name} did not come online. On the device, run: sudo edgecall agent doctor\n`
          : "The code has expired. Make a new one.\n",
      );
      return EXIT.failed;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

function tooOld(error: unknown): never {
  if (error instanceof GatewayError && ["not_found", "foreign"].includes(error.kind)) {
    throw new Error("this gateway cannot pair by code yet: update it, or see docs/guides/first-pi.md");
  }
  throw error;
}
