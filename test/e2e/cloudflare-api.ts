/**
 * The part of Cloudflare's API that wrangler needs to deploy a Worker, over real HTTP; and at the same address the
 * answers of the deployed gateway. It does not check anything else: if the real API accepts what wrangler sends is
 * wrangler's responsibility.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { VERSION } from "@edgecall/core/protocol/names.ts";

type DeployedWorker = {
  /** The metadata of the upload: bindings, migrations and the rest. */
  metadata: Record<string, unknown>;
  secrets: Map<string, string>;
  deploys: number;
};

export type CloudflareApi = {
  /** The value for CLOUDFLARE_API_BASE_URL. */
  apiUrl: string;
  /** The address of the deployed gateway. */
  gatewayUrl: string;
  workers: Map<string, DeployedWorker>;
  /** `METHOD /path` of each request to the API. */
  asked: string[];
  stop(): Promise<void>;
};

type Answer = { status: number; body: unknown };

const PREFIX = "/client/v4";

/** @param token the accepted token @param accounts names of its accounts */
export async function startCloudflareApi(token: string, accounts = ["Anna"]): Promise<CloudflareApi> {
  const workers = new Map<string, DeployedWorker>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { status, body } = answered(request, Buffer.concat(chunks).toString("latin1"));
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  function answered(request: IncomingMessage, body: string): Answer {
    const path = new URL(request.url ?? "/", "http://api").pathname;
    if (!path.startsWith(PREFIX)) return gateway(path, request, workers);
    const line = `${request.method} ${path.slice(PREFIX.length)}`;
    asked.push(line);
    if (request.headers.authorization !== `Bearer ${token}`)
      return failed(401, 10_000, "Authentication error");
    return api(line, body, workers, accounts);
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    apiUrl: origin + PREFIX,
    gatewayUrl: origin,
    workers,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function api(line: string, body: string, workers: Map<string, DeployedWorker>, accounts: string[]): Answer {
  const name = /\/workers\/(?:services|scripts|workers)\/([a-z0-9-]+)/.exec(line)?.[1] ?? "";
  const worker = workers.get(name);
  const is = (pattern: RegExp) => pattern.test(line);
  const listed = accounts.map((account, index) => ({ id: `account-${index + 1}`, name: account }));
  if (is(/^GET \/user\/tokens\/verify$/)) return done({ id: "token", status: "active" });
  if (is(/^GET \/user$/)) return done({ id: "user", email: "anna@home.test" });
  if (is(/^GET \/accounts$/)) return done(listed);
  if (is(/^GET \/memberships$/)) return done(listed.map((account) => ({ id: account.id, account })));
  if (is(/^GET .*\/workers\/subdomain$/)) return done({ subdomain: "anna" });
  if (is(/^POST .*\/assets-upload-session$/)) return done({ jwt: "assets", buckets: [] });
  if (is(/^PUT .*\/scripts\/[a-z0-9-]+$/)) {
    const metadata = JSON.parse(/name="metadata"\r\n\r\n(.*)\r\n/.exec(body)?.[1] ?? "{}");
    const secrets = worker?.secrets ?? new Map<string, string>();
    workers.set(name, { metadata, secrets, deploys: (worker?.deploys ?? 0) + 1 });
    return done({ id: name, etag: "etag", deployment_id: "deployment", startup_time_ms: 5 });
  }
  if (!worker) return failed(404, 10_007, "This Worker does not exist on your account.");
  if (is(/^GET .*\/services\//))
    return done({ default_environment: { script: { id: name, last_deployed_from: "wrangler" } } });
  if (is(/^GET .*\/secrets$/))
    return done([...worker.secrets.keys()].map((secret) => ({ name: secret, type: "secret_text" })));
  if (is(/^PATCH .*\/secrets-bulk$/)) {
    const { secrets } = JSON.parse(body) as { secrets: Record<string, { text: string } | null> };
    for (const [secret, value] of Object.entries(secrets)) {
      if (value) worker.secrets.set(secret, value.text);
      else worker.secrets.delete(secret);
    }
    return done({});
  }
  if (is(/^GET .*\/deployments$/)) return done({ deployments: [] });
  if (is(/^GET .*\/settings$/)) return done({ bindings: [], migration_tag: "v1" });
  const subdomain = { enabled: true, previews_enabled: false };
  if (is(/\/subdomain$/)) return done(subdomain);
  if (is(/^(GET|PATCH|PUT) .*\/workers\/workers\//)) return done({ id: name, name, subdomain });
  return done({});
}

/** A gateway that checks tokens as the real one does, and otherwise only reports that it runs. */
function gateway(path: string, request: IncomingMessage, workers: Map<string, DeployedWorker>): Answer {
  if (path === "/healthz") return answer(200, { ok: true, version: VERSION });
  const records = [...workers.values()].map(({ secrets }) => secrets.get("API_TOKENS")).find(Boolean);
  if (!records) return answer(500, { error: { code: "not_configured" } });
  const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const hash = createHash("sha256").update(token).digest("hex");
  const isKnown = (JSON.parse(records) as Array<{ hash: string }>).some((record) => record.hash === hash);
  return answer(isKnown ? 200 : 401, {});
}

function done(result: unknown): Answer {
  return answer(200, { success: true, errors: [], messages: [], result });
}

function failed(status: number, code: number, message: string): Answer {
  return answer(status, { success: false, errors: [{ code, message }], messages: [], result: null });
}

const answer = (status: number, body: unknown): Answer => ({ status, body });
