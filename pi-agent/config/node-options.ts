/**
 * Node's options for the agent, so that its memory does not grow over a thousand calls. After 2,000 calls of all kinds the
 * agent takes 84 MiB with both, 89 without the variable, 102 with a small young generation alone, and 139 with neither
 * (docs/decisions/081-small-pools.md). Both are read when a process starts, so the agent cannot set them for itself. package.json has
 * them in its command, and node-options.test.ts compares the two. The service's unit and the launcher of a bundle
 * (cli/service) take them from here.
 */

/**
 * V8 keeps its heap close to what is in use, with a young generation of 1 MiB. It optimizes no code and compiles functions when they are
 * called, which takes 6 MiB less (docs/measured/install.md).
 */
export const NODE_FLAGS: readonly string[] = ["--optimize-for-size", "--no-opt", "--max-lazy"];

/**
 * Of glibc: two memory pools, where by default it makes one or more for each of Node's threads, and frees little of them; and its own
 * first thresholds, kept as they are. By default they grow with the largest block that was freed, and then less is given back: an idle
 * agent keeps 5 MiB more (docs/measured/install.md).
 */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
};
