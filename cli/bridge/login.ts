/** `edgecall bridge login NAME` adds a login at the home's own broker, for a program that is not paired. */
import { writeLocalLogin } from "@edgecall/bridge/ops/broker-files.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { asUser } from "../service/as-user.ts";
import { needRoot } from "../service/root-only.ts";
import { BRIDGE } from "../service/services.ts";
import { BROKER_FILES_DIR } from "./broker-unit.ts";
import { hasOwnBroker } from "./own-broker.ts";

export async function login({ positionals, flag, io }: CommandCall): Promise<number> {
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError("takes one NAME");
  needRoot(BRIDGE, "login");
  if (!hasOwnBroker()) throw new Error("this machine has no broker of ours: sudo edgecall bridge broker");
  const remove = flag("remove");
  const password = await asUser(BRIDGE.user, () => writeLocalLogin(BROKER_FILES_DIR, name, { remove }));
  if (password === undefined) io.err(`${name} may no longer log in, unless it joined by a code\n`);
  else {
    io.err(`${name} may log in, with this password, which is shown once:\n`);
    io.out(`${password}\n`);
  }
  return EXIT.ok;
}
