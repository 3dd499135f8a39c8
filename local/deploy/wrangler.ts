/** Runs wrangler in the folder that it deploys. Secrets go through its stdin, because every process can see argv. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";

export type Account = { id: string; name: string };

/** A step that failed in wrangler; wrangler's own output was shown. */
class WranglerError extends Error {
  override readonly name = "WranglerError";
}

export class Wrangler {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #program: string;
  readonly #folder: string;
  #account: string | undefined;

  /** @param options.program wrangler's own file, for Node @param options.folder what is deployed, with its wrangler.toml */
  constructor(options: {
    env: Readonly<Record<string, string | undefined>>;
    program: string;
    folder: string;
    account: string | undefined;
  }) {
    this.#env = options.env;
    this.#program = options.program;
    this.#folder = options.folder;
    this.#account = options.account;
  }

  useAccount(id: string): void {
    this.#account = id;
  }

  /** @returns the accounts of the signed-in person; undefined when nobody is signed in */
  async whoami(): Promise<Account[] | undefined> {
    const { code, stdout, said } = await this.#run(["whoami", "--json"], { show: false });
    const read = checkJson(Whoami, stdout);
    if (!read.ok) throw new WranglerError(`wrangler whoami failed (${code}): ${said.trim().slice(-500)}`);
    return read.value.loggedIn ? (read.value.accounts ?? []) : undefined;
  }

  async login(): Promise<void> {
    await this.#orThrow("sign in", ["login"], { show: true, terminal: true });
  }

  /** @returns the names of a Worker's secrets; undefined when there is no such Worker */
  async secrets(name: string): Promise<string[] | undefined> {
    const { code, stdout, said, failure } = await this.#run(
      ["secret", "list", "--name", name, "--format", "json"],
      { show: false },
    );
    const read = checkJson(SecretList, stdout);
    if (code === 0 && read.ok) return read.value.map((secret) => secret.name);
    if (/not found|does not exist/i.test(failure ?? said)) return undefined;
    throw new WranglerError(
      `the Worker's secrets could not be listed: ${(failure ?? said).trim().slice(-500)}`,
    );
  }

  /** @returns its addresses, the main one first */
  async deploy(name: string, options: { dryRun: boolean; terminal: boolean }): Promise<string[]> {
    const args = ["deploy", "--name", name, ...(options.dryRun ? ["--dry-run"] : [])];
    const { lines } = await this.#orThrow("deploy", args, { show: true, terminal: options.terminal });
    const targets = lines.flatMap((line) => {
      const read = checkJson(Deployed, line);
      return read.ok ? (read.value.targets ?? []) : [];
    });
    return targets.map((target) => (target.startsWith("http") ? target : `https://${target}`));
  }

  /** @param values null removes a secret */
  async setSecrets(name: string, values: Record<string, string | null>): Promise<void> {
    await this.#orThrow("set the secrets", ["secret", "bulk", "--name", name], {
      show: false,
      input: JSON.stringify(values),
    });
  }

  async #orThrow(what: string, args: string[], options: RunOptions): Promise<Ran> {
    const ran = await this.#run(args, options);
    if (ran.code === 0) return ran;
    const why = ran.failure ?? (options.show ? "see above" : ran.said.trim().slice(-1_000));
    throw new WranglerError(`wrangler could not ${what}: ${why}`);
  }

  async #run(args: string[], { show, input, terminal = false }: RunOptions): Promise<Ran> {
    const dir = mkdtempSync(join(tmpdir(), "edgecall-deploy-"));
    const output = join(dir, "output.ndjson");
    try {
      const child = spawn(process.execPath, [this.#program, ...args], {
        cwd: this.#folder,
        env: {
          ...this.#env,
          WRANGLER_OUTPUT_FILE_PATH: output,
          WRANGLER_SEND_METRICS: "false",
          ...(this.#account !== undefined && { CLOUDFLARE_ACCOUNT_ID: this.#account }),
        },
        // wrangler's output goes to stderr, since stdout holds only the result.
        stdio: [terminal ? "inherit" : "pipe", show ? 2 : "pipe", show ? 2 : "pipe"],
      });
      let stdout = "";
      let said = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
      });
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      // A wrangler that ended before it read everything says so by its code.
      child.stdin?.on("error", () => {}).end(input ?? "");
      const code = await new Promise<number>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", (status) => resolve(status ?? 1));
      });
      const lines = linesOf(output);
      return { code, stdout, said: `${stdout}\n${said}`, lines, failure: failureIn(lines) };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

type RunOptions = { show: boolean; input?: string; terminal?: boolean };
type Ran = { code: number; stdout: string; said: string; lines: string[]; failure: string | undefined };

const Whoami = z.looseObject({
  loggedIn: z.boolean(),
  accounts: z.optional(z.array(z.looseObject({ id: z.string(), name: z.string() }))),
});
const SecretList = z.array(z.looseObject({ name: z.string() }));
const Deployed = z.looseObject({ type: z.literal("deploy"), targets: z.optional(z.array(z.string())) });
const Failed = z.looseObject({ type: z.literal("command-failed"), message: z.string() });

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

function failureIn(lines: string[]): string | undefined {
  const read = lines.map((line) => checkJson(Failed, line)).findLast((one) => one.ok);
  return read?.ok ? read.value.message : undefined;
}
