/** A Debian with only Node and npm: no git, Python, sshd, browser or other program that our tests could use. */
import { execFile, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AS_ROOT, asRoot, minimalDebian, ROOT_ENV } from "../debian.ts";

const SOURCES = fileURLToPath(new URL("../..", import.meta.url));
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
/** The folder where a command runs. */
const FOLDER = "/home/bare/edgecall";

/** Sets up what a login shell has: a terminal's devices, /proc, and a root that `df` finds. */
const ENTER = `set -e
mount --bind "$0" "$0"
mount -t proc proc "$0/proc"
mount -t tmpfs tmpfs "$0/dev/shm" 2>/dev/null || true
mount -t devpts -o newinstance,ptmxmode=666 devpts "$0/dev/pts"
mount --bind "$0/dev/pts/ptmx" "$0/dev/ptmx"
exec chroot "$0" "$@"`;

export type BareUser = "root" | "bare";
export type Ran = { code: number | null; out: string; err: string };

export class BareDebian {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Makes it with the project's present files, without those that git ignores; or with this file alone. */
  static async make(file?: string): Promise<BareDebian> {
    const made = new BareDebian(mkdtempSync(join(tmpdir(), "edgecall-bare-")));
    await made.#furnish(file);
    return made;
  }

  async #furnish(file: string | undefined): Promise<void> {
    const root = this.#root;
    const at = (path: string) => join(root, path);
    await asRoot("tar", "-C", root, "-xf", await minimalDebian());
    await asRoot("chmod", "755", root);
    await asRoot("cp", process.execPath, at("usr/local/bin/node"));
    const { stdout } = await promisify(execFile)("sh", ["-c", "command -v npm"]);
    // …/npm/bin/npm-cli.js
    const npm = dirname(dirname(realpathSync(stdout.trim())));
    await asRoot("mkdir", "-p", at("usr/local/lib/node_modules"), at("dev/shm"), at(FOLDER));
    await asRoot("cp", "-a", npm, at("usr/local/lib/node_modules/npm"));
    for (const name of ["npm", "npx"])
      await asRoot("ln", "-sf", `../lib/node_modules/npm/bin/${name}-cli.js`, at(`usr/local/bin/${name}`));
    // These settings give access to the registry.
    copyFileSync("/etc/resolv.conf", at("etc/resolv.conf"));
    writeFileSync(at("etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
    await asRoot("mkdir", "-p", dirname(at(CERTIFICATES)));
    if (existsSync(CERTIFICATES)) await asRoot("cp", CERTIFICATES, at(CERTIFICATES));
    if (file === undefined) await this.#copySources();
    else await asRoot("cp", file, at(FOLDER));
    await asRoot("chroot", root, "useradd", "--home-dir", dirname(FOLDER), "bare");
    await asRoot("chroot", root, "chown", "-R", "bare:bare", dirname(FOLDER));
  }

  async #copySources(): Promise<void> {
    const list = join(this.#root, "sources");
    const files = await promisify(execFile)("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
      cwd: SOURCES,
      maxBuffer: 2 ** 24,
    });
    writeFileSync(
      list,
      files.stdout
        .split("\0")
        .filter((name) => name !== "" && existsSync(join(SOURCES, name)))
        .join("\0"),
    );
    await asRoot(
      "sh",
      "-c",
      `tar -C "$0" --null -T "$1" -cf - | tar -C "$2" -xf -`,
      SOURCES,
      list,
      join(this.#root, FOLDER),
    );
  }

  /**
   * Runs a line of shell in the project's folder.
   * @param options.network false: there is this machine's loopback alone
   */
  async runs(user: BareUser, line: string, { network = true } = {}): Promise<Ran> {
    const env = [
      "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      `HOME=${user === "root" ? "/root" : dirname(FOLDER)}`,
      `USER=${user}`,
      "LC_ALL=C.UTF-8",
      ...(existsSync(CERTIFICATES) ? [`NODE_EXTRA_CA_CERTS=${CERTIFICATES}`] : []),
    ];
    const as = ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--init-groups"];
    const inside = [...as, "env", "-i", ...env, "sh", "-c", `cd ${FOLDER} && ${line}`];
    const apart = ["unshare", "--mount", "--pid", ...(network ? [] : ["--net"]), "--fork", "--kill-child"];
    const enter = [...apart, "sh", "-c", network ? ENTER : `ip link set lo up && ${ENTER}`, this.#root];
    const [program = "", ...args] = [...AS_ROOT, ...enter, ...inside];
    const child = spawn(program, args, { env: ROOT_ENV, stdio: ["ignore", "pipe", "pipe"] });
    const ran: Ran = { code: null, out: "", err: "" };
    child.stdout.on("data", (chunk: Buffer) => (ran.out += chunk));
    child.stderr.on("data", (chunk: Buffer) => (ran.err += chunk));
    ran.code = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return ran;
  }

  async remove(): Promise<void> {
    await asRoot("rm", "-rf", "--one-file-system", this.#root);
  }
}
