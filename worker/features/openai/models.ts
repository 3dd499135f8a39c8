/** `GET /v1/models`: first the gateway's own names, which clients choose by default, then the configured models. */
import type { Env } from "../../kernel/env.ts";
import { readSettings } from "../../kernel/settings/settings.ts";

export const OWN_NAME = "edgecall";
/** For voice: its answers are spoken, and come within VOICE_WAIT_S. */
export const VOICE_NAME = "edgecall-voice";
/** Clients show a model's age, which the gateway does not know. This is the day of the first version. */
const CREATED = 1_793_491_200;

export function listedModels(env: Env) {
  const names = readSettings(env).models.map(({ name }) => name);
  return [...new Set([OWN_NAME, VOICE_NAME, ...names])].map((id) => ({
    id,
    object: "model" as const,
    created: CREATED,
    owned_by: OWN_NAME,
  }));
}

/** @returns the configured model of this name; undefined for any other name, which means the first model */
export function chosenModel(env: Env, asked: string | null | undefined): string | undefined {
  return readSettings(env).models.find(({ name }) => name === asked)?.name;
}
