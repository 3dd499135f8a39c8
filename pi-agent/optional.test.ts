/** The bundled agent evaluates the parts that its settings do not name only when they are used. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Plugin } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleAgent } from "../local/bundles.ts";
import { freePort } from "../local/port.ts";
import { until } from "../test/wait.ts";
import { genome } from "./testing/genome.ts";

/** Each part with one source of it that does the work. */
const OPTIONAL = {
  ssh: "env/ssh/ssh.ts",
  http: "env/http/http-client.ts",
  serve: "serve/serve.ts",
  metrics: "metrics/metrics-page.ts",
  evoclaw: "evoclaw/profile.ts",
  firejail: "env/sandbox/firejail-arguments.ts",
  podman: "env/sandbox/podman-arguments.ts",
} as const;
type Part = keyof typeof OPTIONAL;

/** Makes each source of the agent note that it was evaluated, and the program write the list at its end. */
const NOTE_LOADED: Plugin = {
  name: "note-loaded",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const name = relative(import.meta.dirname, path);
      if (name.startsWith("..")) return undefined;
      const atEnd = `process.on("exit", () => process.getBuiltinModule("node:fs").writeFileSync(process.env.LOADED, JSON.stringify([...globalThis.loaded])));`;
      return {
        contents: `${readFileSync(path, "utf8")}
(globalThis.loaded ??= new Set()).add(${JSON.stringify(name)});${name === "main.ts" ? atEnd : ""}`,
        loader: "ts",
      };
    });
  },
};

let program: string;
beforeAll(async () => {
  program = join(mkdtempSync(join(tmpdir(), "edgecall-optional-")), "agent.cjs");
  writeFileSync(program, await bundleAgent({ plugins: [NOTE_LOADED] }));
});

/** Runs the agent until it has looked for its tools. @returns the sources that it evaluated */
async function loadedBy(toml: string, prepare: (folder: string) => void = () => {}): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-optional-"));
  const config = join(folder, "agent.toml");
  // Nothing answers there: what a broker says has no part in this.
  writeFileSync(
    config,
    `agent_id = "part"\nstate_dir = "state"\n${toml}\n[mqtt]\nurl = "mqtt://127.0.0.1:1"\n`,
  );
  mkdirSync(join(folder, "state"));
  prepare(folder);
  const loaded = join(folder, "loaded.json");
  const child = spawn(process.execPath, [program, "--config", config], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: folder, LOADED: loaded },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  try {
    // It has looked for its tools by then, and listens to signals.
    await until(() => output.includes('"mqtt.offline"') || child.exitCode !== null);
    expect(output).toContain('"mqtt.offline"');
    child.kill("SIGTERM");
    await ended;
  } finally {
    child.kill("SIGKILL");
  }
  return JSON.parse(readFileSync(loaded, "utf8"));
}

const partsIn = (loaded: readonly string[]): Part[] =>
  (Object.keys(OPTIONAL) as Part[]).filter((part) => loaded.includes(OPTIONAL[part]));

test("an agent whose settings name none of them loads none of them", async () => {
  const loaded = await loadedBy("");
  expect(loaded).toContain("calls/inbox.ts");
  expect(partsIn(loaded)).toEqual([]);
});

describe("an agent loads what its settings name", () => {
  const node = (more: string) =>
    `[tools]\npreset = "remote"\nnode = "far"\n[[nodes]]\nname = "far"\ncwd = "/srv"\n${more}`;
  const withProfile = (folder: string) =>
    writeFileSync(
      join(folder, "state/profile.json"),
      JSON.stringify({ strategies: {}, genome: genome(), version: 1, at: "2026-01-01T00:00:00Z" }),
    );
  const withFiles = (folder: string) => {
    for (const name of ["key", "token", "tokens"])
      writeFileSync(
        join(folder, name),
        name === "tokens" ? `kitchen ${"t".repeat(43)}\n` : `${"t".repeat(43)}\n`,
        { mode: 0o600 },
      );
  };
  const cases: Array<[Part, string, ((folder: string) => void)?]> = [
    ["ssh", node('kind = "ssh"\nhost = "127.0.0.1"\nuser = "pat"\nkey = "key"\nport = 1'), withFiles],
    ["http", node('kind = "http"\nurl = "http://127.0.0.1:1"\ntoken_file = "token"'), withFiles],
    ["serve", '[serve]\nenabled = true\nport = PORT\ntoken_file = "tokens"', withFiles],
    ["metrics", "[metrics]\nport = PORT"],
    ["evoclaw", "", withProfile],
    ["firejail", '[tools]\nsandboxing = "firejail"'],
    ["podman", '[tools.engines]\nbash = "podman"'],
  ];
  test.each(cases)("%s", async (part, toml, prepare) => {
    const settings = toml.replace("PORT", String(await freePort()));
    expect(partsIn(await loadedBy(settings, prepare))).toEqual([part]);
  });
});
