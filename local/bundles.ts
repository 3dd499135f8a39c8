/** How each program becomes one file. The one-machine stack, `npm run build` and the bench share this. */
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";

const ROOT_URL = new URL("..", import.meta.url);
const ROOT = fileURLToPath(ROOT_URL);
/** Builtin modules that a bundled CommonJS dependency still asks for with `require`. */
const REQUIRE_IN_ESM =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Parts of mqtt.js that only browsers and proxies use: 369 KB become 133 KB (measured with esbuild). */
const MQTT_SLIM: Record<string, string> = {
  "readable-stream": "node:stream",
  socks: fileURLToPath(new URL("./empty-module.cjs", import.meta.url)),
  "worker-timers": fileURLToPath(new URL("./empty-module.cjs", import.meta.url)),
};

/** What stands in the Worker for a module of a package: wrangler.toml's `[alias]`, and a test holds the two together. */
export const WORKER_ALIAS: Record<string, string> = {
  "@modelcontextprotocol/server/_shims": "./worker/frontends/mcp/sdk-shims.ts",
};

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  logLevel: "silent",
  legalComments: "none",
} as const satisfies BuildOptions;

/**
 * What the Worker says of the program that it serves to devices, its SHA-256 and its bytes: `EDGECALL_PROGRAM` in the
 * Worker's code. One text, since esbuild would put an object into every module.
 */
export type ServedProgram = `${string} ${number}`;

/**
 * The Worker as one ES module; `minify` for what is uploaded, without it for readable stack traces.
 * @param options.program absent: it offers devices no update
 */
export function bundleWorker(
  options: { entry?: string; minify?: boolean; program?: ServedProgram; plugins?: Plugin[] } = {},
): Promise<string> {
  return bundle({
    ...COMMON,
    entryPoints: [options.entry ?? "worker/index.ts"],
    format: "esm",
    target: "es2024",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    alias: Object.fromEntries(
      Object.entries(WORKER_ALIAS).map(([name, file]) => [name, fileURLToPath(new URL(file, ROOT_URL))]),
    ),
    define: { EDGECALL_PROGRAM: JSON.stringify(options.program) ?? "undefined" },
    // What wrangler's default rules import as text.
    loader: { ".html": "text", ".txt": "text", ".sql": "text" },
    minify: options.minify ?? false,
    plugins: options.plugins ?? [],
  });
}

/** The console's script: Preact and the page, for browsers of the last two years. */
export function bundleConsole(): Promise<string> {
  return bundle({
    ...COMMON,
    entryPoints: ["worker/frontends/console/page/main.tsx"],
    format: "esm",
    target: "es2022",
    platform: "browser",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
  });
}

/** The console's stylesheet, for the same browsers: nothing is written otherwise for older ones. */
export function bundleConsoleStyle(): Promise<string> {
  return bundle({ ...COMMON, entryPoints: ["worker/frontends/console/style/console.css"], minify: true });
}

/** The bridge as one file for Node 20 and later. */
export function bundleBridge(): Promise<string> {
  return bundle({
    ...COMMON,
    entryPoints: ["bridge/main.ts"],
    format: "esm",
    target: "node20",
    platform: "node",
    banner: { js: REQUIRE_IN_ESM },
    // Native speed-ups of ws that need a compiler on the machine; it runs without them.
    external: ["bufferutil", "utf-8-validate"],
    alias: MQTT_SLIM,
    minify: true,
  });
}

/**
 * The agent as one CommonJS file for Node 20 and later: what the bench measures, and who needs no more runs.
 * @param options.testTools what only tests have is in it; never in what is shipped
 */
export function bundleAgent(options: { testTools?: boolean } = {}): Promise<string> {
  return bundleForDevice("pi-agent/main.ts", options);
}

/** `edgecall`, with agent and bridge in it: what is installed on a device, and what becomes a single executable. */
export function bundleCommand(): Promise<string> {
  return bundleForDevice("cli/main.ts");
}

function bundleForDevice(entry: string, { testTools = false } = {}): Promise<string> {
  return bundle({
    ...COMMON,
    entryPoints: [entry],
    format: "cjs",
    target: "node20",
    platform: "node",
    // CommonJS has no import.meta; esbuild would make it an empty object.
    define: { "import.meta.url": "__moduleUrl" },
    banner: { js: "const __moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
    alias: { ...MQTT_SLIM, ws: fileURLToPath(new URL("./lazy-ws.cjs", import.meta.url)) },
    // Six times the size of all else, and of use only where there is a Chromium: installed beside the bundle.
    // Native speed-ups of ws need a compiler on the machine; it runs without them.
    // What only tests have is not shipped: run.ts loads it when their environment says so.
    external: ["playwright-core", "bufferutil", "utf-8-validate", ...(testTools ? [] : ["./testing/*"])],
    minify: true,
  });
}

async function bundle(options: BuildOptions & { write: false }): Promise<string> {
  const result = await build(options);
  const [file, ...more] = result.outputFiles;
  if (!file || more.length > 0) throw new Error(`expected one file, got ${1 + more.length}`);
  return file.text;
}
