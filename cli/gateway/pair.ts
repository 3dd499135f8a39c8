/** `edgecall pair`: a code that lets one device join, and the command that it takes there. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { type CommandCall, EXIT } from "../command.ts";
import { readConnection } from "./connection.ts";
import { Gateway, GatewayError } from "./gateway.ts";
import { printableLine } from "./printable.ts";

const Pairing = z.looseObject({
  code: z.string().check(z.regex(/^[A-Za-z0-9-]{6,64}$/)),
  command: z.optional(z.string()),
  /** Epoch ms. */
  expires_at: z.optional(z.number()),
});

export async function pair({ flag, env, io }: CommandCall): Promise<number> {
  const gateway = new Gateway(readConnection(env));
  const pairing = await gateway.json(Pairing, "/v1/pairings", { method: "POST", body: {} }).catch(tooOld);
  if (flag("json")) {
    io.out(`${JSON.stringify(pairing)}\n`);
    return EXIT.ok;
  }
  const { code, command, expires_at } = pairing;
  const minutes = expires_at === undefined ? 10 : Math.max(1, Math.round((expires_at - Date.now()) / 60_000));
  io.err(`On the device, within ${minutes} min (the code is good for one):\n\n`);
  // Alone on stdout, so that it can be passed on: `edgecall pair | ssh pi@device sh`.
  io.out(`${printableLine(command ?? `curl -fsS ${gateway.url}/install.sh | sudo sh -s -- ${code}`)}\n`);
  io.err("\n`edgecall agents` shows it when it is online.\n");
  return EXIT.ok;
}

function tooOld(error: unknown): never {
  if (error instanceof GatewayError && ["not_found", "foreign"].includes(error.kind)) {
    throw new Error("this gateway cannot pair by code yet: update it, or see docs/install.md");
  }
  throw error;
}
