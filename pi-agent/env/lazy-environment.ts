/** An environment that is loaded at its first use, so an agent without such a place does not have it in memory. */
import type { Environment } from "./environment.ts";

/** @param load is called at the first use */
export function lazyEnvironment(
  place: Pick<Environment, "name" | "kind" | "cwd">,
  load: () => Promise<Pick<Environment, "files" | "exec" | "close">>,
): Environment {
  let loading: ReturnType<typeof load> | undefined;
  const there = async () => {
    loading ??= load();
    return await loading;
  };
  const files = async () => (await there()).files;
  return {
    ...place,
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
