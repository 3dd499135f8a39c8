/**
 * The logins of a broker that is the home's own: each paired agent's, as Home tells them with the keys. What stands in
 * the broker's files follows from that list, the bridge's own login and what a person added beside it
 * (`passwords.local`, `acl.local`), and from nothing else: who is revoked is gone with the next writing.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BrokerLogin } from "@edgecall/core/broker/login.ts";
import {
  BRIDGE_USER,
  mosquittoAcl,
  passwordLine,
  refusedAgentUser,
} from "@edgecall/core/broker/mosquitto.ts";
import type { AgentKey } from "@edgecall/core/protocol/frames.ts";
import { writeAtomicSync } from "@edgecall/node/atomic-write.ts";
import type { Log } from "@edgecall/node/log.ts";
import { ACL_FILE, markChanged, PASSWORDS_FILE, readPasswords } from "./broker-files.ts";

export type Logins = {
  keys: readonly AgentKey[];
  /** The bridge's line. */
  own: string;
  /** Lines of a person's by user: as mosquitto_passwd writes them. */
  local: ReadonlyMap<string, string>;
};

/** The text of the password file. A person's line stands for that user, but the bridge's is the bridge's. */
export function passwordsText({ keys, own, local }: Logins): string {
  const lines = new Map<string, string>();
  for (const key of keys) if (hasLogin(key)) lines.set(key.id, `${key.id}:${key.login}`);
  for (const [user, line] of local) lines.set(user, line);
  lines.delete(BRIDGE_USER);
  return [own, ...[...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line), ""].join("\n");
}

/** Whether it stands in the file: whoever tells of it, nothing but a hash is written there. */
function hasLogin({ id, key, login }: AgentKey): boolean {
  return key !== null && BrokerLogin.safeParse(login).success && refusedAgentUser(id) === undefined;
}

/** Keeps the two files; who runs the broker has it read them again when they change. */
export class BrokerLogins {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #password: string;
  readonly #log: Log;
  #work: Promise<void> = Promise.resolve();

  /** @param password the bridge's own */
  constructor(folder: string, prefix: string, password: string, log: Log) {
    this.#folder = folder;
    this.#prefix = prefix;
    this.#password = password;
    this.#log = log;
  }

  /** All keys, as Home has them. One writing after the other; a fault is logged, and the next list tries again. */
  keep(keys: readonly AgentKey[]): void {
    this.#work = this.#work
      .then(() => this.#write(keys))
      .catch((error: unknown) =>
        this.#log("error", "broker_files_failed", { folder: this.#folder, error: String(error) }),
      );
  }

  async #write(keys: readonly AgentKey[]): Promise<void> {
    const file = (name: string) => join(this.#folder, name);
    // Its salt is random: made anew it would be another line each time. Half a line would lock the bridge out for good.
    const line = readPasswords(file(PASSWORDS_FILE)).get(BRIDGE_USER);
    const isWhole = BrokerLogin.safeParse(line?.slice(BRIDGE_USER.length + 1)).success;
    const own = line !== undefined && isWhole ? line : await passwordLine(BRIDGE_USER, this.#password);
    const local = readPasswords(file(`${PASSWORDS_FILE}.local`));
    const acl = mosquittoAcl(this.#prefix) + textOf(file(`${ACL_FILE}.local`));
    const passwords = passwordsText({ keys, own, local });
    if (textOf(file(ACL_FILE)) === acl && textOf(file(PASSWORDS_FILE)) === passwords) return;
    // The passwords last, and always: a broker that reads both anew when they change reads them once. (Mosquitto forgets
    // a SIGHUP that comes while it reads.)
    writeAtomicSync(file(ACL_FILE), acl, { makeFolder: false });
    writeAtomicSync(file(PASSWORDS_FILE), passwords, { makeFolder: false });
    const logins = keys.filter(hasLogin).length;
    markChanged(this.#folder);
    this.#log("info", "broker_files_written", { folder: this.#folder, logins });
  }
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
