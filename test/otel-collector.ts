/** A real collector of OpenTelemetry's traces (Rotel, .ci/peers/requirements.txt), which prints each span that it takes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { freePort } from "../local/port.ts";
import { OTEL_COLLECTOR } from "./needs.ts";
import { until } from "./wait.ts";

export type CollectedSpan = {
  service: string;
  scope: string;
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  kind: string;
  startNs: bigint;
  endNs: bigint;
  isError: boolean;
  message: string;
  attributes: Record<string, string>;
};

export class OtelCollector {
  /** Where it listens once it is started. */
  readonly url: string;
  readonly #grpcPort: number;
  readonly #lines: string[] = [];
  #stop = async (): Promise<void> => {};

  private constructor(httpPort: number, grpcPort: number) {
    this.url = `http://127.0.0.1:${httpPort}`;
    this.#grpcPort = grpcPort;
  }

  /** @returns one that is not started: at the top of a file, where a missing program cannot leave a test out yet */
  static async make(): Promise<OtelCollector> {
    return new OtelCollector(await freePort(), await freePort());
  }

  /** @throws when its program is missing, or does not listen within 10 s */
  async start(program = OTEL_COLLECTOR ?? "rotel-agent"): Promise<void> {
    const args = ["start", "--exporter", "blackhole", "--debug-log", "traces"];
    const more = ["--debug-log-verbosity", "detailed", "--batch-timeout", "50ms"];
    const { host } = new URL(this.url);
    const ports = ["--otlp-http-endpoint", host, "--otlp-grpc-endpoint", `127.0.0.1:${this.#grpcPort}`];
    const child = spawn(program, [...args, ...more, ...ports], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child, "spawn");
    const gone = once(child, "close");
    createInterface({ input: child.stdout }).on("line", (line) => this.#lines.push(line));
    this.#stop = async () => {
      child.kill();
      await gone;
    };
    const isUp = async () => (await fetch(this.url).catch(() => undefined)) !== undefined;
    await until(isUp, { within: 10_000, what: "the collector listens" });
  }

  /** All that it printed of spans: what any reader of it could see. */
  text(): string {
    return this.#lines.join("\n");
  }

  spans(): CollectedSpan[] {
    const spans: CollectedSpan[] = [];
    let service = "";
    let scope = "";
    for (const line of this.#lines) {
      const value = line.slice(line.indexOf(":") + 1).trim();
      const [, key = "", attribute = ""] = /^\s*-> ([\w.]+): \w+\((.*)\)$/.exec(line) ?? [];
      const span = spans.at(-1);
      if (key === "service.name") service = attribute;
      else if (line.startsWith("InstrumentationScope")) scope = line.split(" ")[1] ?? "";
      else if (/^\s*Trace ID\b/.test(line))
        spans.push({ ...EMPTY, service, scope, traceId: value, attributes: {} });
      else if (!span) continue;
      else if (/^\s*Parent ID\b/.test(line)) span.parentId = value;
      else if (/^\s*ID\b/.test(line)) span.spanId = value;
      else if (/^\s*Name\b/.test(line)) span.name = value;
      else if (/^\s*Kind\b/.test(line)) span.kind = value;
      else if (/^\s*Start time/.test(line)) span.startNs = BigInt(value);
      else if (/^\s*End time/.test(line)) span.endNs = BigInt(value);
      else if (/^\s*Status code/.test(line)) span.isError = value === "STATUS_CODE_ERROR";
      else if (/^\s*Status message/.test(line)) span.message = value;
      else if (key !== "") span.attributes[key] = attribute;
    }
    return spans;
  }

  /** Also of one that could not be started. */
  async stop(): Promise<void> {
    await this.#stop();
  }
}

const EMPTY = {
  spanId: "",
  parentId: "",
  name: "",
  kind: "",
  startNs: 0n,
  endNs: 0n,
  isError: false,
  message: "",
};
