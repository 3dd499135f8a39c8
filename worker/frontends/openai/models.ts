/** `GET /v1/models`: the gateway's own name first, which is what clients fill in, then the configured models. */
import type { Env } from "../../env.ts";
import { readSettings } from "../../settings/settings.ts";

export const OWN_NAME = "edgecall";
/** Clients show an age; a model list has none. The day of the first version. */
const CREATED = 1_793_491_200;

export function listedModels(env: Env) {
  const names = readSettings(env).models.map(({ name }) => name);
  return [...new Set([OWN_NAME, ...names])].map((id) => ({
    id,
    object: "model" as const,
    created: CREATED,
    owned_by: OWN_NAME,
  }));
}

/** The configured model that is meant. Hard-coded clients send names of others; they get the first one. */
export function chosenModel(env: Env, asked: string | null | undefined): string | undefined {
  return readSettings(env).models.find(({ name }) => name === asked)?.name;
}
