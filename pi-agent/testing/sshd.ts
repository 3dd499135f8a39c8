/** A real sshd on a loopback port, with its own keys, for tests. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "../../local/port.ts";
import { until } from "../../test/wait.ts";

export type Sshd = {
  port: number;
  user: string;
  key: string;
  knownHosts: string;
  /** The server's own pid. */
  pid: number;
  close(): Promise<void>;
};

export async function startSshd(): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-sshd-"));
  const at = (name: string) => join(folder, name);
  for (const key of ["host", "user"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
  writeFileSync(at("authorized_keys"), readFileSync(at("user.pub")), { mode: 0o600 });
  const port = await freePort();
  writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${readFileSync(at("host.pub"), "utf8")}`);
  const user = userInfo().username;
  // Debian's sshd needs this folder to drop its privileges; normally its service makes it.
  if (process.getuid?.() === 0 && !existsSync("/run/sshd")) mkdirSync("/run/sshd", { mode: 0o755 });
  writeFileSync(
    at("config"),
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey "${at("host")}"`,
      `AuthorizedKeysFile "${at("authorized_keys")}"`,
      `PidFile "${at("pid")}"`,
      "StrictModes no",
      "UsePAM no",
      "PermitRootLogin prohibit-password",
      "PasswordAuthentication no",
    ].join("\n"),
  );
  const child = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", at("config")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  await until(() => answers(port) || (child.exitCode !== null && Promise.reject(new Error(output))), {
    what: "sshd listens",
  });
  return {
    port,
    user,
    key: at("user"),
    knownHosts: at("known_hosts"),
    pid: child.pid ?? 0,
    async close() {
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
