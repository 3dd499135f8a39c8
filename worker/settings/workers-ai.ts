/** How the settings name Cloudflare's own models. */

/** Stands where an endpoint's address does. */
export const WORKERS_AI_URL = "workers-ai://binding/v1";

/** Calls tools over several steps, and is what Cloudflare recommends in place of its older models (May 2026). */
export const DEFAULT_MODEL = "@cf/zai-org/glm-4.7-flash";

/** How the names of its models begin. */
export const IS_WORKERS_AI_MODEL = /^@(cf|hf)\//;
