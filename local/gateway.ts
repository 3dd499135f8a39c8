/**
 * The Worker on this machine: workerd through Miniflare, from wrangler.toml and a bundle of ours.
 *
 * Why not wrangler: measured here (2 cores, warm), bundle + Miniflare + workerd ready takes 0.7 s, of which
 * 0.4 s is Miniflare's import; importing wrangler alone takes 0.9 s more, and `wrangler dev` is ready after
 * 3.0–3.5 s. `wrangler dev` puts a second workerd in front, which adds about 5 ms to a request and, when it
 * is the one that dies, leaves requests hanging for good. Miniflare brings a killed workerd back on the same
 * port in 120 ms, rows and alarms included. What Miniflare does not do is end workerd when its own process
 * is killed (SIGKILL): workerd goes on, with the port and the database; workerd-guard.ts sees to that.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { SteadyTime } from "@edgecall/node/clock.ts";
import { WRANGLER_TOML } from "@edgecall/node/places.ts";
import { parse as parseToml } from "smol-toml";
import type { ServedFile } from "./built-gateway.ts";
import { isFree } from "./port.ts";
import { RowsState } from "./rows-state.ts";
import { makeStateFolder } from "./state-folder.ts";
import { guardWorkerd } from "./workerd-guard.ts";

/** Killed within this time of a start, workerd may be left behind. */
const LOOK_FOR_WORKERD_MS = 20;

/** Before workerd is started once more. */
const START_AGAIN_MS = 500;

/** The answer with a new token leaves first. */
const ROTATED_AFTER_MS = 250;

/**
 * The machine's clock is looked at so often, and one that was set by more than this starts workerd anew: its alarms wait for a span that was
 * counted by the clock of before, so a reminder would come hours late, and what it remembers of times is wrong. Rows stay.
 */
const CLOCK_EVERY_MS = 1_000;
const CLOCK_SET_MS = 10_000;

/** It takes half a second; a slow machine gets more, within the 90 s of systemd's unit. */
const READY_WITHIN_MS = 60_000;

export type GatewayOptions = {
  /** 0 = any free one. Always 127.0.0.1. */
  port: number;
  /** Where the objects' databases are kept. */
  dir: string;
  /** Variables and secrets; they win over those of wrangler.toml. */
  vars?: Record<string, string>;
  /** The Worker's code; built from wrangler.toml's `main` when absent. */
  bundle?: string;
  /** The console's and devices' files by path, which go with a bundle; built when absent. */
  files?: ReadonlyMap<string, ServedFile>;
  /** Another wrangler.toml, for tests. */
  config?: string;
  /** Replaces the owner's token, if this program keeps it. @returns the new one, and the secrets that change with it */
  rotateOwner?: (() => { token: string; vars: Record<string, string> }) | undefined;
  /** Told after workerd died and was started anew. */
  onRestart?: () => void;
  /** Opens V8's inspector, for measurements. */
  inspector?: boolean;
  /** A line that the Worker wrote, or that the runtime said about it. */
  onLog?: (line: string) => void;
};

export type Gateway = {
  /** Without a slash at its end. */
  url: string;
  /** The address of the inspector that measures the Worker's isolate; undefined unless it was asked for. */
  inspectorUrl: string | undefined;
  stop(): Promise<void>;
};

/** Starts the Worker. @throws when the port is taken, wrangler.toml is wrong or the code does not build */
export async function startWorker(options: GatewayOptions): Promise<Gateway> {
  // Miniflare's `ready` never settles when workerd cannot have the port.
  if (options.port !== 0 && !(await isFree(options.port))) {
    throw new Error(`port ${options.port} on 127.0.0.1 is taken by another program; set PORT to another one`);
  }
  const configFile = options.config ?? WRANGLER_TOML;
  const config = readWranglerToml(configFile);
  const own = bindingsOf(config);
  makeStateFolder(options.dir);
  const [{ Miniflare, convertV4MiniflareOptions, Log, LogLevel, Response }, { script, page }] =
    await Promise.all([import("miniflare"), build(options, configFile, config)]);

  const write = options.onLog ?? ((line) => console.error(line));
  const rows = new RowsState(options.dir);
  const say = (line: string) => {
    rows.onLine(line);
    write(line);
  };
  const guard = guardWorkerd();
  // Miniflare tells nothing of its workerd before it answers.
  const looking = setInterval(() => guard.watch(), LOOK_FOR_WORKERD_MS);
  let stopping = false;
  /** A workerd that is killed while it starts is given up by Miniflare; it gets another chance here. */
  class MendingLog extends Log {
    override error(error: Error): void {
      super.error(error);
      if (!stopping && (error as { code?: unknown }).code === "ERR_RUNTIME_FAILURE")
        setTimeout(() => void restart().catch(() => {}), START_AGAIN_MS);
    }
  }
  let { port, vars } = options;
  const { rotateOwner } = options;
  const made = () =>
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port,
      // Else Miniflare asks Cloudflare for a sample of `request.cf`, and complains when it cannot.
      cf: false,
      resourcePersistencePath: options.dir,
      ...(options.inspector && { inspectorPort: 0 }),
      // Its own words about a crash come through `unsafeHandleRuntimeRestart`; the rest is for developers of it.
      log: new MendingLog(LogLevel.ERROR),
      handleStructuredLogs: ({ message }) => say(message),
      unsafeHandleRuntimeRestart: () => {
        if (stopping) return;
        guard.watch();
        options.onRestart?.();
      },
      workers: [
        {
          name: config.name,
          modules: true,
          script,
          compatibilityDate: config.compatibility_date,
          compatibilityFlags: config.compatibility_flags,
          durableObjects: own.durableObjects,
          // Only its owner, a test or the bench reaches this machine's own address, and may ask as fast as they like.
          bindings: { RATE_LIMITS: "off", ...own.vars, ...vars },
          ratelimits: own.rateLimits,
          serviceBindings: {
            // Miniflare's own assets put two more Workers in front of every request; three files need none.
            ...(config.assets &&
              page && {
                [config.assets.binding]: async (request: { url: string }) => {
                  const file = page.get(new URL(request.url).pathname);
                  return file
                    ? new Response(await file.body(), { headers: { "content-type": file.type } })
                    : new Response("not found", { status: 404 });
                },
              }),
            ROWS: async () => new Response(JSON.stringify(await rows.conditions())),
            ...(rotateOwner && {
              OWNER: async () => {
                const rotated = rotateOwner();
                vars = { ...vars, ...rotated.vars };
                setTimeout(() => void restart().catch((error) => say(String(error))), ROTATED_AFTER_MS);
                return new Response(rotated.token);
              },
            }),
            // Here, other than on Cloudflare, there is a LAN: whatever a page's name leads to, it is not reached.
            WEB: { network: { allow: ["public"], deny: [], tlsOptions: { trustBrowserCas: true } } },
          },
        },
      ],
    });
  const miniflare = new Miniflare(made());
  const restart = async () => {
    if (stopping) return;
    const watching = setInterval(() => guard.watch(), LOOK_FOR_WORKERD_MS);
    await miniflare.setOptions(made()).finally(() => clearInterval(watching));
    guard.watch();
  };
  try {
    const url = await readyInTime(miniflare.ready);
    port = Number(url.port);
    clearInterval(looking);
    guard.watch();
    const time = new SteadyTime();
    const clock = setInterval(() => {
      const { setBy } = time.read();
      if (Math.abs(setBy) < CLOCK_SET_MS) return;
      say(`the clock was set by ${Math.round(setBy / 1_000)} s: the Workers runtime is started again`);
      void restart().catch((error) => say(String(error)));
    }, CLOCK_EVERY_MS).unref();
    const inspector = options.inspector ? await miniflare.getInspectorURL() : undefined;
    return {
      url: url.origin,
      inspectorUrl: inspector && `${inspector.origin}/core:user:${config.name}`,
      async stop() {
        stopping = true;
        clearInterval(clock);
        await miniflare.dispose();
        await guard.end();
      },
    };
  } catch (error) {
    stopping = true;
    clearInterval(looking);
    await miniflare.dispose().catch(() => {});
    await guard.end();
    throw error;
  }
}

/** An installed gateway has everything built, and no esbuild. */
async function build({ bundle, files }: GatewayOptions, configFile: string, { main, assets }: WranglerToml) {
  if (bundle !== undefined && (files || !assets)) return { script: bundle, page: files };
  const { buildGateway } = await import("./build-gateway.ts");
  const at = (path: string) => join(dirname(configFile), path);
  return await buildGateway({ bundle, main: at(main), assets: assets && at(assets.directory) });
}

async function readyInTime(ready: Promise<URL>): Promise<URL> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`workerd was not ready within ${READY_WITHIN_MS / 1000} s`)),
    READY_WITHIN_MS,
  );
  try {
    return await Promise.race([ready, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The parts of wrangler.toml that this stack needs. */
const WranglerToml = z.object({
  name: z.string().check(z.minLength(1)),
  main: z.string().check(z.minLength(1)),
  compatibility_date: z.string().check(z.minLength(1)),
  compatibility_flags: z._default(z.array(z.string()), []),
  durable_objects: z._default(
    z.object({ bindings: z.array(z.looseObject({ name: z.string(), class_name: z.string() })) }),
    { bindings: [] },
  ),
  migrations: z._default(
    z.array(z.looseObject({ new_sqlite_classes: z._default(z.array(z.string()), []) })),
    [],
  ),
  vars: z._default(z.record(z.string(), z.unknown()), {}),
  /** Static files that the Worker serves through a binding, with its headers. */
  assets: z.optional(
    z.looseObject({ directory: z.string(), binding: z.string(), run_worker_first: z.literal(true) }),
  ),
  ratelimits: z._default(
    z.array(
      z.looseObject({
        name: z.string(),
        namespace_id: z.string(),
        simple: z.object({ limit: z.int(), period: z.literal([10, 60]) }),
      }),
    ),
    [],
  ),
});
type WranglerToml = z.infer<typeof WranglerToml>;

const HARMLESS = [
  "observability",
  // Writes what consoleFiles() has in memory.
  "build",
  // bundleWorker() has the same.
  "alias",
  "workers_dev",
  "preview_urls",
  "placement",
  "limits",
  "send_metrics",
  "dev",
  "keep_vars",
  // Cloudflare's models need an account.
  "ai",
  "minify",
  "keep_names",
  "upload_source_maps",
  "account_id",
  "routes",
  "secrets",
];

/** @throws for what it does not know: else the local Worker would differ */
function readWranglerToml(file: string): WranglerToml {
  const toml = parseToml(readFileSync(file, "utf8"));
  const unknown = Object.keys(toml).find((key) => !(key in WranglerToml.shape) && !HARMLESS.includes(key));
  if (unknown !== undefined)
    throw new Error(
      `${file}: '${unknown}' is not known to local/gateway.ts; teach it, or the local Worker would differ`,
    );
  const read = check(WranglerToml, toml);
  if (!read.ok) throw new Error(`${file}: ${read.error}`);
  return read.value;
}

/** Miniflare's words for the objects, the limits and the variables of wrangler.toml. */
function bindingsOf({ durable_objects, migrations, ratelimits, vars }: WranglerToml) {
  const sqlite = new Set(migrations.flatMap(({ new_sqlite_classes }) => new_sqlite_classes));
  const objects = durable_objects.bindings.map(({ name, class_name: className }) => {
    return [name, { className, useSQLite: sqlite.has(className) }] as const;
  });
  const texts = Object.entries(vars).map(([name, value]) => {
    return [name, typeof value === "string" ? value : JSON.stringify(value)] as const;
  });
  return {
    durableObjects: Object.fromEntries(objects),
    rateLimits: Object.fromEntries(ratelimits.map(({ name, ...limit }) => [name, limit])),
    vars: Object.fromEntries(texts),
  };
}
