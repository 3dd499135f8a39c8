/**
 * Files and programs of another machine, through the edgecall agent there ([serve] in its agent.toml). Nothing here falls back
 * to this machine: without a connection, every operation fails with an error.
 */
import type { Environment } from "../environment.ts";
import { HttpClient, type HttpOptions } from "./http-client.ts";
import { httpExec } from "./http-exec.ts";
import { httpFiles } from "./http-files.ts";

export type { HttpOptions } from "./http-client.ts";

/** @throws ExecError `blocked` for an address that is not accepted */
export function http(options: HttpOptions): Environment {
  const client = new HttpClient(options);
  return {
    name: options.name,
    kind: "http",
    cwd: options.cwd,
    files: httpFiles(client),
    exec: httpExec(client),
    close: async () => client.close(),
  };
}
