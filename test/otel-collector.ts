/** A real collector of OpenTelemetry's traces (Rotel, .ci/peers/requirements.txt), which prints each span that it takes. */
import { spawn } from "node:child_process";
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
  readonly url: string;
  readonly #lines: string[] = [];
  readonly #stop: () => Promise<unknown>;

  private constructor(url: string, lines: string[], stop: () => Promise<unknown>) {
    this.url = url;
    this.#lines = lines;
    this.#stop = stop;
  }

  static async start(): Promise<OtelCollector> {
    const [http, grpc] = [await freePort(), await freePort()];
    const args = ["start", "--exporter", "blackhole", "--debug-log", "traces"];
    const more = ["--debug-log-verbosity", "detailed", "--batch-timeout", "50ms"];
    const ports = ["--otlp-http-endpoint", `127.0.0.1:${http}`, "--otlp-grpc-endpoint", `127.0.0.1:${grpc}`];
    const child = spawn(OTEL_COLLECTOR ?? "rotel-agent", [...args, ...more, ...ports], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const gone = new Promise((resolve) => child.once("close", resolve));
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
    const url = `http://127.0.0.1:${http}`;
    const isUp = async () => (await fetch(url).catch(() => undefined)) !== undefined;
    const stop = async () => {
      child.kill();
      await gone;
    };
    try {
      await until(isUp, { within: 10_000, what: "the collector listens" });
    } catch (error) {
      await stop();
      throw error;
    }
    return new OtelCollector(url, lines, stop);
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
