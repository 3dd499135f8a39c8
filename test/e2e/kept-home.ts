/** A kept home (test/kept/README.md) with today's programs, without a manual step. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { startBroker } from "../../local/broker.ts";
import { startWorker } from "../../local/gateway.ts";
import { freePort } from "../../local/port.ts";
import { type Tokens, tokenRecords } from "../../local/tokens.ts";
import { type KeptVersion, keptWorker, openPrograms } from "../kept/programs.ts";
import { type RunningCommand, startEdgecall } from "./command.ts";
import { GatewayClient } from "./gateway-client.ts";
import { interrupt, killAll, npmStart, running, type Started } from "./npm-start.ts";
import { Program } from "./program.ts";
import { changeRows } from "./stored-rows.ts";

/** What the home depends on outside of its folder: that folder's former path, and ports. */
type Kept = {
  folder: string;
  broker: string;
  /** The address of the Telegram that make-home.ts played. */
  telegram?: string;
  /** A token that a person made. */
  tablet?: string;
};

/** Homes are kept longer than programs: rows of any version come to be of today's. */
type HomeVersion = KeptVersion | "0.2.0";

const KEPT_OF_0_2: Kept = { folder: "/tmp/h020", broker: "39075" };
/** A person had this time for the question when the home was kept, and has it again. */
const TO_ANSWER_MS = 10 * 60_000;

export class KeptHome {
  readonly folder = mkdtempSync(join(tmpdir(), "edgecall-upgrade-"));
  /** The key of the device eye, before today's program has run. */
  readonly keyOfEye: string;
  readonly kept: Kept;
  readonly broker: string;
  #gateway: GatewayClient | undefined;
  #stack: Started | undefined;
  #eye: RunningCommand | undefined;

  readonly #version: HomeVersion;

  private constructor(version: HomeVersion, broker: number) {
    this.#version = version;
    const archive = fileURLToPath(new URL(`../kept/${version}/home.tar.gz`, import.meta.url));
    execFileSync("tar", ["-C", this.folder, "-xzf", archive]);
    this.kept = version === "0.2.0" ? KEPT_OF_0_2 : (JSON.parse(this.read("kept.json")) as Kept);
    this.broker = `mqtt://127.0.0.1:${broker}`;
    this.keyOfEye = this.read("eye/state/key.json");
    this.#replace("eye/agent.toml", this.kept.folder, this.folder);
    this.#replace("eye/agent.toml", this.kept.broker, String(broker));
    this.#replace("home/broker-port", this.kept.broker, String(broker));
  }

  static async unpack(version: HomeVersion): Promise<KeptHome> {
    return new KeptHome(version, await freePort());
  }

  get gateway(): GatewayClient {
    if (!this.#gateway) throw new Error("the home does not run");
    return this.#gateway;
  }

  /** What `npm start` printed. */
  get out(): string {
    return this.#stack?.out() ?? "";
  }

  /** The rest of its output. */
  get err(): string {
    return this.#stack?.err() ?? "";
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  #replace(path: string, from: string, to: string): void {
    writeFileSync(join(this.folder, path), this.read(path).replaceAll(from, to));
  }

  /** The played Telegram has another port in each run. */
  movesTelegram(url: string): void {
    this.#changeRows(
      "connection",
      `UPDATE connection SET settings = json_set(settings, '$.base_url', '${url}')`,
    );
  }

  /** As if the home was kept a moment ago: its questions wait for ten minutes from now. */
  postponesQuestions(): void {
    const until = Date.now() + TO_ANSWER_MS;
    this.#changeRows("question", `UPDATE question SET expires_at = ${until} WHERE answer IS NULL`);
    this.#changeRows(
      "question",
      `UPDATE call SET deadline = ${until}, ends_at = ${until} WHERE state = 'asking'`,
    );
    this.#changeRows(
      "entry",
      `UPDATE entry SET body = json_set(body, '$.expires_at', ${until}) WHERE kind = 'question'`,
    );
  }

  #changeRows(table: string, sql: string): void {
    changeRows(join(this.folder, "home/worker"), table, (rows) => rows.exec(sql));
  }

  /**
   * Something happens in it before the update, or after the way back: gateway and bridge of its version, and its broker, run for that
   * time.
   * @param happens its second argument starts the device eye with the program of that version
   */
  async asOfThen(happens: (gateway: GatewayClient, startEye: () => void) => Promise<void>): Promise<void> {
    const version = this.#version;
    if (version === "0.2.0") throw new Error("its programs are not kept");
    const programs = openPrograms();
    const tokens = JSON.parse(this.read("home/tokens.json")) as Tokens & { connections?: string };
    // 0.4.0 has the key in a file of its own.
    const CONNECTIONS_KEY = tokens.connections ?? this.read("home/connections.key").trim();
    const broker = await startBroker({ port: Number(new URL(this.broker).port) });
    const worker = await startWorker({
      ...keptWorker(version),
      port: 0,
      dir: join(this.folder, "home/worker"),
      vars: { ...tokenRecords(tokens), CONNECTIONS_KEY, LLM_MODEL: "none" },
    });
    const bridge = new Program({
      name: "bridge",
      script: programs.kept("bridge", version),
      env: {
        GATEWAY_URL: worker.url,
        BRIDGE_TOKEN: tokens.bridge,
        MQTT_URL: this.broker,
        HEALTH_PORT: "0",
      },
    });
    let eye: Program | undefined;
    try {
      await bridge.ready;
      await happens(new GatewayClient(worker.url, tokens.api), () => {
        const args = ["--config", join(this.folder, "eye/agent.toml")];
        eye = new Program({ name: "eye", script: programs.kept("agent", version), args });
      });
    } finally {
      await eye?.stop();
      await bridge.stop();
      await worker.stop();
      await broker.stop();
      rmSync(programs.folder, { recursive: true });
    }
  }

  async start(env: Record<string, string> = {}): Promise<void> {
    const port = String(await freePort());
    this.#stack = npmStart(join(this.folder, "home"), [], { PORT: port, ...env });
    this.#eye = startEdgecall(["agent", "run", "--config", join(this.folder, "eye/agent.toml")], {});
    this.#gateway = await running(this.#stack);
  }

  /** Its programs end; it can be started again. */
  async pause(): Promise<void> {
    this.#eye?.signal("SIGTERM");
    await this.#eye?.ended;
    if (!this.#stack || this.#stack.child.exitCode !== null) return;
    interrupt(this.#stack);
    await this.#stack.code;
    await killAll(join(this.folder, "home"));
  }

  async stop(): Promise<void> {
    await this.pause();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Ends the home after the file's or group's tests. @param start starts it */
export function useKeptHome(version: HomeVersion, start: (home: KeptHome) => Promise<void>): () => KeptHome {
  let home: KeptHome | undefined;
  beforeAll(async () => {
    home = await KeptHome.unpack(version);
    await start(home);
  });
  afterAll(() => home?.stop());
  return () => {
    if (!home) throw new Error("no test has begun");
    return home;
  };
}
