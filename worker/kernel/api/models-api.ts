/** Methods of a home about its models: what they used, which are well, and what their endpoints take. */
import type { Api } from "@edgecall/core/loop/api.ts";
import type { BudgetKey } from "@edgecall/core/loop/budget.ts";
import type { NamedModel } from "@edgecall/core/loop/models.ts";
import type { Person } from "./devices.ts";
import type { DayUsage, ModelUsage } from "./usage.ts";

/** The endpoint of a model, for a request. @property model the endpoint's name of it */
export type ModelEndpoint = { baseUrl: string; api?: Api; model: string; apiKey?: string };

/** The model that an owner set, for people. @property api null: by the address @property set_at epoch ms */
export type OwnModel = {
  base_url: string;
  api: string | null;
  model: string;
  has_key: boolean;
  set_by: string;
  set_at: number;
};

export interface ModelsApi {
  /** The models in effect, with their keys: never for a client. @returns undefined: the home has no rows yet */
  list(): Promise<NamedModel[] | undefined>;
  /** The model that an owner set. @returns undefined: none */
  own(): Promise<(OwnModel & { problem?: string }) | undefined>;
  /** The same with its key, for a request to it. */
  endpoint(): Promise<ModelEndpoint | undefined>;
  /**
   * @param keepsKey the key that is stored for the same address stays, also one that cannot be opened now
   * @throws SettingsError: its key cannot be stored
   */
  setOwn(endpoint: ModelEndpoint, by: Person, keepsKey: boolean): Promise<void>;
  removeOwn(by: Person): Promise<void>;
  /** A model call took so much more (or less) than was reserved for it. */
  correctSpending(difference: number, priced?: ModelUsage): Promise<void>;
  /** What the last days used, the oldest first. */
  usage(days: number): Promise<DayUsage[]>;
  /** Turns since the home was set up, and how many of them were answered without a model. */
  answered(): Promise<{ turns: number; withoutModel: number }>;
  setBudgetTold(keys: BudgetKey[]): Promise<void>;
  modelFailed(name: string, times: number): Promise<void>;
  modelAnswered(name: string): Promise<void>;
  /** A model's endpoint refused something, and took another form. @param source address and model @param dropped forms that it takes no more */
  modelLearned(source: string, habits: string[], dropped: string[]): Promise<void>;
}
