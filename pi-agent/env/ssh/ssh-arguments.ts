/** What OpenSSH's client is started with: only options by which nothing but the named machine is reached. */
import { homedir } from "node:os";
import { posix } from "node:path";
import { ExecError } from "../environment.ts";

export type SshOptions = {
  /** The machine's name in results. */
  name: string;
  host: string;
  user: string;
  /** Path of the private key; `~/` is this user's home folder. */
  key: string;
  port?: number;
  /** The file that must contain the host's key; absent = `~/.ssh/known_hosts`. */
  knownHosts?: string;
  /** Absolute path on that machine: the working folder, and the only one that may be written. */
  cwd: string;
  readable?: readonly string[];
  /** The OpenSSH client. */
  program?: string;
};

const CONNECT_SECONDS = 10;

/**
 * Returns the options before the host: no password, question, agent, forwarding or settings file, and only a host whose key is
 * known.
 */
export function sshArguments({ name, host, user, key, port = 22, knownHosts, cwd }: SshOptions): string[] {
  if (!/^[A-Za-z0-9_.:%[\]-]+$/.test(host) || host.startsWith("-"))
    throw new ExecError("blocked", `The host '${host}' of '${name}' is no host name or address.`);
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*\$?$/.test(user))
    throw new ExecError("blocked", `The user '${user}' of '${name}' is no user name.`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new ExecError("blocked", `The port ${port} of '${name}' is no port; use 1 to 65535.`);
  if (!posix.isAbsolute(cwd) || posix.normalize(cwd) !== cwd)
    throw new ExecError("blocked", `The folder '${cwd}' of '${name}' must be a plain absolute path there.`);
  const settings = [
    "BatchMode=yes",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    `IdentityFile=${pathSetting(key, name)}`,
    "StrictHostKeyChecking=yes",
    `UserKnownHostsFile=${pathSetting(knownHosts ?? "~/.ssh/known_hosts", name)}`,
    "UpdateHostKeys=no",
    "PasswordAuthentication=no",
    "KbdInteractiveAuthentication=no",
    "ForwardAgent=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RequestTTY=no",
    "EscapeChar=none",
    "LogLevel=ERROR",
    `ConnectTimeout=${CONNECT_SECONDS}`,
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    `User=${user}`,
    `Port=${port}`,
  ];
  return ["-F", "none", ...settings.flatMap((setting) => ["-o", setting])];
}

/** Quotes a path, because ssh splits such a value at blanks and expands `%`. */
function pathSetting(path: string, name: string): string {
  const whole = path.startsWith("~/") ? posix.join(homedir(), path.slice(2)) : path;
  if (!posix.isAbsolute(whole) || /["\\\n\0$]/.test(whole))
    throw new ExecError("blocked", `The path '${path}' of '${name}' must be absolute, without quotes.`);
  return `"${whole.replaceAll("%", "%%")}"`;
}
