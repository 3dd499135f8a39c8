/**
 * zod/mini without its 50 languages. A namespace that is passed on as a value (`export { z }`) is bundled
 * whole, and zod/mini's has them all: 258 KiB of the Worker and of the agent's memory. A name exported here
 * hides the one of `export *`.
 */
export * from "zod/mini";
export const locales = undefined;
/** zod/mini's own namespace, which would bring them back. */
export const z = undefined;
