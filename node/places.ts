/**
 * Finds programs, files and state: in a checkout, or where they lie beside each other as bundles (npm's package, an installed gateway).
 * A device has `edgecall` alone.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const IS_CHECKOUT = import.meta.url.endsWith("/node/places.ts");
/** The folder of the checkout, or of the bundles. */
export const ROOT = fileURLToPath(new URL(IS_CHECKOUT ? ".." : ".", import.meta.url));

const at = (path: string) => join(ROOT, path);
const url = (path: string) => pathToFileURL(at(path)).href;

/** The arguments with which `node` runs each of them. */
export const PROGRAMS: Readonly<Record<"worker" | "bridge" | "agent" | "edgecall", readonly string[]>> =
  IS_CHECKOUT
    ? {
        worker: [at("local/worker.ts")],
        bridge: [at("bridge/main.ts")],
        agent: [at("pi-agent/main.ts")],
        edgecall: [at("cli/main.ts")],
      }
    : {
        worker: [at("worker.mjs")],
        // One file for three programs is 1.7 MB less.
        bridge: [at("edgecall.cjs"), "bridge", "run"],
        agent: [at("edgecall.cjs"), "agent", "run"],
        edgecall: [at("edgecall.cjs")],
      };

/**
 * Addresses of modules that are imported when they are needed. The Worker's settings are compiled with Cloudflare's types, and `edgecall`
 * of a device comes without the commands of the gateway's side.
 */
export const MODULES = {
  start: url(IS_CHECKOUT ? "local/start.ts" : "start.mjs"),
  deploy: url(IS_CHECKOUT ? "local/deploy/command.ts" : "deploy.mjs"),
  workerSettings: url(IS_CHECKOUT ? "worker/kernel/settings/settings.ts" : "worker-settings.mjs"),
} as const;

export const WRANGLER_TOML = at("wrangler.toml");

/** The folder of the built Worker and its files; undefined: they are built from the sources. */
export function builtGatewayFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return env.EDGECALL_BUILT || (IS_CHECKOUT ? undefined : ROOT);
}

/** The commands as texts name them to a person. */
export const COMMAND_LINES: Readonly<Record<"start" | "deploy" | "bridge", string>> = IS_CHECKOUT
  ? { start: "npm start", deploy: "npm run deploy", bridge: "npm run bridge" }
  : { start: "edgecall start", deploy: "edgecall deploy", bridge: "edgecall bridge run" };

/** `edgecall` as a person can type it here; undefined: npx, or a checkout, which put it on no PATH. */
export function commandOnPath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return IS_CHECKOUT || env.npm_command === "exec" ? undefined : "edgecall";
}

/** A package lies below node_modules, and a bundle has no sources. */
function isCheckout(root: string): boolean {
  return !/[\\/]node_modules[\\/]/.test(root) && existsSync(join(root, "worker/index.ts"));
}

/**
 * The state folder: EDGECALL_DIR, of which a relative path starts at the person's working directory. A checkout keeps its state in
 * itself. The folder of a package goes with its next version, so its state is where the XDG Base Directory Specification puts it.
 */
export function stateFolder(
  env: Readonly<Record<string, string | undefined>>,
  root = ROOT,
  home = homedir(),
): string {
  if (env.EDGECALL_DIR) return resolve(env.EDGECALL_DIR);
  if (isCheckout(root)) return resolve(root, ".edgecall");
  return join(xdgFolder(env.XDG_STATE_HOME, join(home, ".local/state")), "edgecall");
}

/** The folder of files that can be fetched again, such as wrangler. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>, home = homedir()): string {
  return join(xdgFolder(env.XDG_CACHE_HOME, join(home, ".cache")), "edgecall");
}

/** The specification has a relative one ignored. */
function xdgFolder(given: string | undefined, fallback: string): string {
  return given && isAbsolute(given) ? given : fallback;
}
