/** The names of Cloudflare's own models in the settings. */

/** Used in place of an endpoint's address. */
export const WORKERS_AI_URL = "workers-ai://binding/v1";

/** It calls tools over several steps, and Cloudflare recommends it in place of its older models (May 2026). */
export const DEFAULT_MODEL = "@cf/zai-org/glm-4.7-flash";

/** Matches the names of Cloudflare's models. */
export const IS_WORKERS_AI_MODEL = /^@(cf|hf)\//;
