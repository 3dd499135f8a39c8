/** Finds programs, files and state of the local stack: in a checkout, or beside an installed package. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The folder of the checkout or of the package. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

const at = (path: string) => join(ROOT, path);
export const PROGRAMS = {
  worker: at("local/worker.ts"),
  bridge: at("bridge/main.ts"),
  agent: at("pi-agent/main.ts"),
  cli: at("cli/main.ts"),
};
export const WRANGLER_TOML = at("wrangler.toml");
/** Imported by address, because the Worker is compiled with Cloudflare's types and the local stack with Node's. */
export const WORKER_SETTINGS = pathToFileURL(at("worker/kernel/settings/settings.ts")).href;

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
  const { XDG_STATE_HOME: xdg } = env;
  // The specification has a relative one ignored.
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, ".local/state"), "edgecall");
}
