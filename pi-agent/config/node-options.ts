/**
 * How Node is started for the agent, wherever it is: so that a thousand calls leave it as large as it was. After
 * 2,000 calls of all kinds it takes 84 MiB with both, 89 without the variable, 102 with a small young
 * generation alone, and 139 with neither (docs/tools/bench.md). Both are read when a process begins: it
 * cannot set them for itself. package.json names them in its command, which node-options.test.ts holds to
 * this; the service's unit and what starts a bundle (cli/service) take them from here.
 */

/** V8 keeps its heap close to what is in use, with a young generation of 1 MiB. */
export const NODE_FLAGS: readonly string[] = ["--optimize-for-size"];

/** glibc's memory pools: by itself it makes one or more for each of Node's threads, and gives back little of them. */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "2" };
