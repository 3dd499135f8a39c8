/** The agent loads this only with `[serve]`: the secrets first, and the server once the agent has its tools. */
import type { ServeSettings } from "../config/serve-settings.ts";
import type { Settings } from "../config/settings.ts";
import { type Served, type ServeOptions, serve } from "./serve.ts";
import { readServeKeys } from "./serve-keys.ts";

/** @throws AgentSettingsError when a file of tokens or keys is not as it should be */
export async function prepareServing(
  { agentId, tools: { grants } }: Settings,
  settings: ServeSettings,
): Promise<(place: Pick<ServeOptions, "environment" | "record" | "log">) => Promise<Served>> {
  const keys = await readServeKeys(settings);
  return async (place) => await serve({ ...place, settings, keys, agentId, grants });
}
