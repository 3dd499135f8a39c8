/** The models of a home, for routes. */
import type { NamedModel } from "@edgecall/core/loop/models.ts";
import type { Env } from "../env.ts";
import { namesModel, readSettings } from "../settings/settings.ts";
import { homeOf } from "./stubs.ts";

/** The models in effect in a home, the first one first. Its object is asked only where the variables name none. */
export async function modelsAt(env: Env, home: string): Promise<readonly NamedModel[]> {
  const own = namesModel(env) ? undefined : await homeOf(env, home).models.list();
  return own ?? readSettings(env).models;
}
