/**
 * Node's options for the bridge, which keep its memory close to what is in use: with 2,000 entities of Home Assistant in 600 devices it
 * takes 108 MB with them, and 165 without. They are read when a process starts. package.json and the image have them in their commands,
 * and node-options.test.ts compares these.
 */
export const BRIDGE_NODE_FLAGS: readonly string[] = ["--optimize-for-size"];

/** Of glibc: fewer of its pools. */
export const BRIDGE_NODE_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "2" };
