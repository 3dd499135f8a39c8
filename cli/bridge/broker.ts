/** `edgecall bridge broker` makes this machine the home's broker, and prints the address for devices. */

import { ownAddress } from "@edgecall/node/own-address.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { needRoot, systemdVersion } from "../service/root-only.ts";
import { BRIDGE } from "../service/services.ts";
import { BROKER_PORT, installBroker } from "./own-broker.ts";

/** A host: a name or an IPv4 address. */
const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

export async function broker({ text, io }: CommandCall): Promise<number> {
  const given = text("address");
  if (given !== undefined && !HOST.test(given)) {
    throw new UsageError("--address: expected this machine's name or IPv4 address, without mqtt:// and port");
  }
  needRoot(BRIDGE, "broker");
  await systemdVersion(BRIDGE);
  const isNew = await installBroker(io.err);
  const found = given ?? ownAddress();
  const url = `mqtt://${found ?? "127.0.0.1"}:${BROKER_PORT}`;
  if (isNew) io.err(aboutAddress(url, given, found));
  io.out(`${url}\n`);
  return EXIT.ok;
}

function aboutAddress(url: string, given: string | undefined, found: string | undefined): string {
  if (found === undefined)
    return "the broker is there; no other device can reach it, for this machine is in no network (--address HOST)\n";
  const keep =
    given === undefined ? ": it should keep this address (set in the router; or give --address NAME)" : "";
  return `the broker is there; other devices reach it at ${url}${keep}\n`;
}
