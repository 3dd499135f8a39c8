/** Bundles each program into one file, for the one-machine stack, `npm run build` and the bench. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
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
  tls: fileURLToPath(new URL("./lazy-tls.cjs", import.meta.url)),
  socks: fileURLToPath(new URL("./empty-module.cjs", import.meta.url)),
  "worker-timers": fileURLToPath(new URL("./empty-module.cjs", import.meta.url)),
};

/** Makes `windowMs` of core/test-clock.ts short. */
const TEST_CLOCK = { EDGECALL_TEST_CLOCK: "true" };

/** Leaves the comments and the blanks that align the tables' SQL out of the upload: 4 KiB of gzip, and the Worker may have 512. */
const PLAIN_SQL: Plugin = {
  name: "plain-sql",
  setup({ onLoad }) {
    onLoad({ filter: /\/schema\.ts$/ }, async ({ path }) => ({
      contents: plainSql(await readFile(path, "utf8")),
      loader: "ts",
    }));
  },
};

/** @param code a module whose template literals are SQL: there `--` begins a comment, and in the code it does not occur */
function plainSql(code: string): string {
  return code
    .replace(/(?:^|[ \t]+)--[ \t].*$/gm, "")
    .replace(/^\s+/gm, "")
    .replace(/ {2,}/g, " ");
}

/** The table of HTML's names of characters becomes a file beside the console: 15 KiB of gzip, which every start unpacked. */
const CHARACTER_NAMES: Plugin = {
  name: "character-names",
  setup({ onResolve }) {
    const path = fileURLToPath(new URL("core/web/character-names.ts", ROOT_URL));
    onResolve({ filter: /^\.\/generated\/decode-data-html\.js$/ }, () => ({ path }));
  },
};

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  logLevel: "silent",
  legalComments: "none",
} as const satisfies BuildOptions;

/**
 * SHA-256 and size of the program that the Worker serves to devices: `EDGECALL_PROGRAM` in the Worker's code. It is a text,
 * because esbuild would insert an object into every module.
 */
export type ServedProgram = `${string} ${number}`;

/**
 * Bundles the Worker into one ES module: minified for the upload, otherwise with readable stack traces.
 * @param options.program absent = devices are offered no update
 * @param options.testClock tests wait for less (core/test-clock.ts); never shipped
 */
export function bundleWorker(
  options: { entry?: string; minify?: boolean; program?: ServedProgram; testClock?: boolean } = {},
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
    define: {
      EDGECALL_PROGRAM: JSON.stringify(options.program) ?? "undefined",
      ...(options.testClock && TEST_CLOCK),
    },
    // Wrangler's default rules import these as text.
    loader: { ".html": "text", ".txt": "text", ".sql": "text" },
    minify: options.minify ?? false,
    plugins: [CHARACTER_NAMES, ...(options.minify ? [PLAIN_SQL] : [])],
  });
}

/** @property first the names of the scripts that are loaded before the page shows anything; console.js is one of them */
export type ConsoleScripts = { code: Record<string, string>; first: string[] };

/**
 * The console's scripts: Preact and the page, for browsers of the last two years. A screen that main.tsx loads by `import()` is a
 * script of its own, which is loaded when it is opened.
 */
export async function bundleConsole(): Promise<ConsoleScripts> {
  const { outputFiles, metafile } = await build({
    ...COMMON,
    entryPoints: ["worker/features/console/page/main.tsx"],
    splitting: true,
    metafile: true,
    outdir: ROOT,
    entryNames: "console",
    // What two screens share is a script too, and several of them have the same name.
    chunkNames: "console-[name]-[hash]",
    format: "esm",
    target: "es2022",
    platform: "browser",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
  });
  const first = new Set(["console.js"]);
  for (const name of first)
    for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
      if (kind === "import-statement") first.add(path);
  return {
    code: Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text])),
    first: [...first],
  };
}

/** The page of all parts of the console, for people who work on it: it is never deployed. */
export function bundleGallery(): Promise<string> {
  return bundle({
    ...COMMON,
    entryPoints: ["worker/features/console/page/gallery/gallery.tsx"],
    format: "esm",
    target: "es2022",
    platform: "browser",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
}

/** The stylesheet of that page alone. */
export function bundleGalleryStyle(): Promise<string> {
  return bundle({ ...COMMON, entryPoints: ["worker/features/console/style/gallery.css"] });
}

/** The console's stylesheet for the same browsers, without prefixes for older ones. */
export function bundleConsoleStyle(): Promise<string> {
  return bundle({ ...COMMON, entryPoints: ["worker/features/console/style/console.css"], minify: true });
}

/**
 * The bridge as one file for Node 20 and later.
 * @param options.testClock tests wait for less; never shipped
 */
export function bundleBridge({ testClock = false } = {}): Promise<string> {
  return bundle({
    ...COMMON,
    entryPoints: ["bridge/main.ts"],
    format: "esm",
    target: "node20",
    platform: "node",
    ...(testClock && { define: TEST_CLOCK }),
    banner: { js: REQUIRE_IN_ESM },
    // Optional native parts of ws, which need a compiler on the machine.
    external: ["bufferutil", "utf-8-validate"],
    alias: MQTT_SLIM,
    minify: true,
  });
}

/**
 * Bundles the agent into one CommonJS file for Node 20 and later, for the bench and for use without the command.
 * @param options.testTools includes tools that only tests use; never shipped
 * @param options.testClock tests wait for less; never shipped
 */
export function bundleAgent(
  options: { testTools?: boolean; testClock?: boolean; plugins?: Plugin[] } = {},
): Promise<string> {
  return bundleForDevice("pi-agent/main.ts", options);
}

/** The program of an installed gateway. Miniflare stays beside it, since it looks for files of its own. */
export function bundleHomeGateway(): Promise<string> {
  return bundle({
    ...COMMON,
    entryPoints: ["local/home-gateway/main.ts"],
    format: "esm",
    target: "node20",
    platform: "node",
    banner: { js: REQUIRE_IN_ESM },
    // Tools that build are not needed where everything is built.
    external: ["miniflare", "./build-gateway.ts"],
    minify: true,
  });
}

/** The other programs of npm's package, each in a file of this name (node/places.ts). */
const STACK_PROGRAMS: Record<string, string> = {
  "start.mjs": "local/start.ts",
  "worker.mjs": "local/worker.ts",
  "gateway.mjs": "local/home-gateway/main.ts",
  "deploy.mjs": "local/deploy/command.ts",
  "worker-settings.mjs": "worker/kernel/settings/settings.ts",
};

/** The programs of npm's package that start a gateway, by the names of their files. */
export async function bundleStack(): Promise<Record<string, string>> {
  const bundles = Object.entries(STACK_PROGRAMS).map(
    async ([name, entry]): Promise<[string, string]> => [
      name,
      await bundle({
        ...COMMON,
        entryPoints: [entry],
        format: "esm",
        target: "node22",
        platform: "node",
        banner: { js: REQUIRE_IN_ESM },
        // The package has everything built, so it has no builder.
        external: ["miniflare", "*/build-gateway.ts", "bufferutil", "utf-8-validate"],
        alias: MQTT_SLIM,
        minify: true,
      }),
    ],
  );
  return Object.fromEntries(await Promise.all(bundles));
}

/** Bundles `edgecall` with agent and bridge, which is installed on devices and becomes the single executables. */
export function bundleCommand(): Promise<string> {
  return bundleForDevice("cli/main.ts");
}

function bundleForDevice(
  entry: string,
  {
    testTools = false,
    testClock = false,
    plugins = [],
  }: { testTools?: boolean; testClock?: boolean; plugins?: Plugin[] } = {},
): Promise<string> {
  return bundle({
    ...COMMON,
    entryPoints: [entry],
    format: "cjs",
    target: "node20",
    platform: "node",
    // CommonJS has no import.meta, and esbuild would replace it by an empty object.
    define: { "import.meta.url": "__moduleUrl", ...(testClock && TEST_CLOCK) },
    banner: { js: "const __moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
    alias: { ...MQTT_SLIM, ws: fileURLToPath(new URL("./lazy-ws.cjs", import.meta.url)) },
    // Six times the size of everything else and useful only with Chromium, so it is installed beside the bundle.
    // Optional native parts of ws need a compiler on the machine.
    // Test tools are not shipped; run.ts loads them only in the tests' environment.
    external: ["playwright-core", "bufferutil", "utf-8-validate", ...(testTools ? [] : ["./testing/*"])],
    minify: true,
    plugins,
  });
}

async function bundle(options: BuildOptions & { write: false }): Promise<string> {
  const result = await build(options);
  const [file, ...more] = result.outputFiles;
  if (!file || more.length > 0) throw new Error(`expected one file, got ${1 + more.length}`);
  return toAscii(file.text);
}

/**
 * V8 keeps a source with any other character in two bytes a character: 2 MB more of an agent's memory. esbuild escapes these
 * everywhere but in regular expressions, where the escape means the same.
 */
function toAscii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
