/**
 * Files and programs of another machine, through the edgecall agent there ([serve] in its agent.toml). Nothing here falls back
 * to this machine: without a connection, every operation fails with an error. The client is loaded on first use, so agents
 * without such machines do not have it in memory.
 */
import type { Environment } from "../environment.ts";
import { lazyEnvironment } from "../lazy-environment.ts";
import type { HttpOptions } from "./http-client.ts";
import { httpPlace } from "./http-place.ts";

/** @throws ExecError `blocked` for an address that is not accepted */
export function http(options: HttpOptions): Environment {
  const { url, name, cwd } = options;
  httpPlace(url, name);
  return lazyEnvironment({ name, kind: "http", cwd }, () => load(options));
}

async function load(options: HttpOptions): Promise<Pick<Environment, "files" | "exec" | "close">> {
  const [{ HttpClient }, { httpFiles }, { httpExec }] = await Promise.all([
    import("./http-client.ts"),
    import("./http-files.ts"),
    import("./http-exec.ts"),
  ]);
  const client = new HttpClient(options);
  return { files: httpFiles(client), exec: httpExec(client), close: async () => client.close() };
}
