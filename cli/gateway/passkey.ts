/** `edgecall passkey` makes a code by which its person adds or removes a passkey in the console: being signed in there is not enough. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { type CommandCall, EXIT } from "../command.ts";
import { readConnection } from "./connection.ts";
import { Gateway } from "./gateway.ts";
import { printableLine } from "./printable.ts";

const Code = z.looseObject({
  code: z.string(),
  /** Epoch ms. */
  expires_at: z.number(),
});

export async function passkey({ flag, env, io }: CommandCall): Promise<number> {
  const gateway = new Gateway(readConnection(env));
  const made = await gateway.json(Code, "POST /v1/passkeys/codes");
  if (flag("json")) io.out(`${JSON.stringify(made)}\n`);
  else {
    const minutes = Math.max(1, Math.round((made.expires_at - Date.now()) / 60_000));
    io.err(`In the console, Setup, Passkeys, within ${minutes} minutes (the code works once):\n\n`);
    io.out(`${printableLine(made.code)}\n`);
  }
  return EXIT.ok;
}
