/** The models in effect in a home: those of the variables, else the one that an owner set, else Cloudflare's default. */
import type { NamedModel } from "@edgecall/core/loop/models.ts";
import { namesModel, readSettings, withModelDefaults } from "../../settings/settings.ts";
import type { HomeContext } from "../context.ts";
import { ownModelOf } from "./own-model.ts";

/** @throws SettingsError */
export async function modelsOf(home: HomeContext): Promise<readonly NamedModel[]> {
  const { models } = readSettings(home.env);
  if (namesModel(home.env)) return models;
  const own = await ownModelOf(home).endpoint();
  return own ? [withModelDefaults(home.env, { ...own, name: own.model })] : models;
}
