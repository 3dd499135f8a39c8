/**
 * Files and programs of another machine, through the edgecall agent there ([serve] in its agent.toml). Nothing here falls back
 * to this machine: without a connection, every operation fails with an error. The client is loaded on first use, so agents
 * without such machines do not have it in memory.
 */
import type { Environment } from "../environment.ts";
import type { HttpOptions } from "./http-client.ts";
import { httpPlace } from "./http-place.ts";

/** @throws ExecError `blocked` for an address that is not accepted */
export function http(options: HttpOptions): Environment {
  httpPlace(options.url, options.name);
  let loading: Promise<Pick<Environment, "files" | "exec" | "close">> | undefined;
  const there = async () => {
    loading ??= load(options);
    return await loading;
  };
  const files = async () => (await there()).files;
  return {
    name: options.name,
    kind: "http",
    cwd: options.cwd,
    files: {
      stat: async (...args) => await (await files()).stat(...args),
      readFile: async (...args) => await (await files()).readFile(...args),
      writeFile: async (...args) => await (await files()).writeFile(...args),
      readDir: async (...args) => await (await files()).readDir(...args),
      mkdirAll: async (...args) => await (await files()).mkdirAll(...args),
      remove: async (...args) => await (await files()).remove(...args),
      target: async (...args) => await (await files()).target(...args),
      canonical: async (...args) => await (await files()).canonical(...args),
    },
    exec: { run: async (...args) => await (await there()).exec.run(...args) },
    close: async () => await (await loading)?.close(),
  };
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
