/** npm's package `edgecall` as a person has it: packed, and installed in a folder that nothing else is in. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { packPackage, writePackage } from "../release/package.ts";

export type Ran = { code: number | null; out: string; err: string };

/** Builds the tarball. @returns its file */
export async function packedEdgecall(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-package-"));
  await writePackage(join(dir, "package"));
  return await packPackage(join(dir, "package"), dir);
}

export class InstalledPackage {
  readonly folder: string;
  readonly home: string;

  private constructor(folder: string, home: string) {
    this.folder = folder;
    this.home = home;
  }

  /** Installs the tarball in an empty folder, for a person with an empty home. @returns it, and what npm said */
  static async install(tarball: string): Promise<{ installed: InstalledPackage; npm: Ran }> {
    const dir = mkdtempSync(join(tmpdir(), "edgecall-installed-"));
    const [folder, home] = [join(dir, "folder"), join(dir, "home")];
    for (const path of [folder, home]) mkdirSync(path);
    const installed = new InstalledPackage(folder, home);
    // Beside the registry's answers, npm's cache is this machine's.
    const words = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--no-update-notifier", tarball];
    return { installed, npm: await run("npm", words, { cwd: folder, env: process.env }) };
  }

  /** Runs `edgecall` with this Node. @param node Node's own options */
  edgecall(
    words: readonly string[],
    options: { env?: Record<string, string>; node?: string[] } = {},
  ): Promise<Ran> {
    const { env = {}, node = [] } = options;
    const program = join(this.folder, "node_modules/.bin/edgecall");
    return run(process.execPath, [...node, program, ...words], {
      cwd: this.folder,
      env: { PATH: pathWithNode(), HOME: this.home, TMPDIR: tmpdir(), ...env },
    });
  }
}

/** A person's PATH has the Node that runs the test, and neither this repository's programs. */
function pathWithNode(): string {
  return [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
}

function run(
  program: string,
  words: readonly string[],
  options: { cwd: string; env: Record<string, string | undefined> },
): Promise<Ran> {
  const child = spawn(program, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const ran: Ran = { code: null, out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (ran.out += chunk));
  child.stderr.on("data", (chunk: Buffer) => (ran.err += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...ran, code }));
  });
}
