/** `GET /v1/models`: first the gateway's own names, which clients choose by default, then the configured models. */
import { modelsAt } from "../../kernel/api/models-at.ts";
import type { Env } from "../../kernel/env.ts";

export const OWN_NAME = "edgecall";
/** For voice: its answers are spoken, and come within VOICE_WAIT_S. */
export const VOICE_NAME = "edgecall-voice";
/** Clients show a model's age, which the gateway does not know. This is the day of the first version. */
const CREATED = 1_793_491_200;

export async function listedModels(env: Env, home: string) {
  const names = (await modelsAt(env, home)).map(({ name }) => name);
  return [...new Set([OWN_NAME, VOICE_NAME, ...names])].map((id) => ({
    id,
    object: "model" as const,
    created: CREATED,
    owned_by: OWN_NAME,
  }));
}

/** @returns the configured model of this name; undefined for any other name, which means the first model */
export async function chosenModel(
  env: Env,
  home: string,
  asked: string | null | undefined,
): Promise<string | undefined> {
  // Most clients name the gateway's own.
  if (!asked || asked === OWN_NAME || asked === VOICE_NAME) return undefined;
  return (await modelsAt(env, home)).find(({ name }) => name === asked)?.name;
}
