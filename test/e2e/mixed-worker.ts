/**
 * The moments after a deploy: today's Worker, with objects of 0.4.0 that have not been replaced yet. OLD_OBJECTS names their
 * bindings (`HOME,CONVERSATION`). Each object finds the other one, of either version, by name.
 */
import { existsSync } from "node:fs";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { bundleWorker } from "../../local/bundles.ts";
import { keptWorker } from "../kept/programs.ts";

const { PORT = "0", EDGECALL_DIR = "", OLD_OBJECTS = "", ...vars } = process.env;
const old = OLD_OBJECTS.split(",");
const objects = (own: string) =>
  Object.fromEntries(
    [
      ["HOME", "Home"],
      ["CONVERSATION", "Conversation"],
    ].map(([binding = "", className = ""]) => {
      const scriptName = old.includes(binding) ? "of-0-4" : "of-today";
      return [binding, { className, useSQLite: true, ...(scriptName !== own && { scriptName }) }];
    }),
  );
const worker = (name: string, script: string) => ({
  name,
  modules: true as const,
  script,
  compatibilityDate: "2026-10-01",
  compatibilityFlags: ["no_nodejs_compat", "enable_request_signal"],
  durableObjects: objects(name),
  bindings: {
    RATE_LIMITS: "off",
    ...Object.fromEntries(Object.entries(vars).filter(([key]) => /^[A-Z_]+$/.test(key))),
  },
});
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: Number(PORT),
    cf: false,
    ...(existsSync(EDGECALL_DIR) && { resourcePersistencePath: EDGECALL_DIR }),
    log: new Log(LogLevel.ERROR),
    workers: [worker("of-today", await bundleWorker()), worker("of-0-4", keptWorker("0.4.0").bundle)],
  }),
);
const url = await miniflare.ready;
for (const event of ["SIGTERM", "SIGINT", "disconnect"])
  process.once(event, () => void miniflare.dispose().finally(() => process.exit(0)));
process.send?.({ ready: true, url: url.origin });
