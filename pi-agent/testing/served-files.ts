/** A workspace that is served over HTTP, as an agent with `[serve]` does it, for tests. */
import { localFiles } from "../env/local-files.ts";
import { sandbox } from "../env/sandbox/sandbox.ts";
import { type ServeOptions, serve } from "../serve/serve.ts";
import { ServeTokens } from "../serve/serve-keys.ts";

export type ServedFiles = {
  url: string;
  token: string;
  /** The lines of the serving agent's record. */
  lines: Array<Parameters<ServeOptions["record"]>[0]>;
  close(): Promise<void>;
};

/** @param more replaces options, such as its settings */
export async function startServed(
  { cwd, readable }: { cwd: string; readable?: readonly string[] },
  more: Partial<Omit<ServeOptions, "keys">> & { tls?: ServeOptions["keys"]["tls"] } = {},
): Promise<ServedFiles> {
  const token = "test-token-of-the-http-backend-0123456789";
  const lines: ServedFiles["lines"] = [];
  const { tls, ...options } = more;
  const place = sandbox({ workspace: cwd, ...(readable && { readable }) });
  const files = localFiles({ cwd: place.cwd, ...(readable && { readable }) });
  const served = await serve({
    settings: { host: "127.0.0.1", port: 0, exec: true, readOnly: false },
    keys: { tokens: ServeTokens.parse(`test ${token}`, "tokens"), tls },
    agentId: "far",
    environment: { ...place, files },
    record: (line) => void lines.push(line),
    log: () => {},
    ...options,
  });
  const url = `${tls ? "https" : "http"}://127.0.0.1:${served.port()}`;
  return { url, token, lines, close: () => served.close() };
}
