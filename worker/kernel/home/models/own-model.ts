/** The model that an owner set in Setup. Its key is stored as stored-secrets.ts says. */
import { readApi } from "@edgecall/core/loop/api.ts";
import type { ModelEndpoint, OwnModel } from "../../api/models-api.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";
import { OTHER_KEY, StoredSecrets } from "../stored-secrets.ts";

type Row = Omit<OwnModel, "has_key"> & { key: string | null };

/** The key belongs to this row. */
const PLACE = "own_model";

class OwnModelStore extends SqlStore {
  readonly #secrets: StoredSecrets;
  /** The row as it was read last, until it is written: every plan asks for it. */
  #known: { endpoint: ModelEndpoint | undefined } | undefined;
  #changes = 0;

  constructor(storage: DurableObjectStorage, home: string, secret: string | undefined) {
    super(storage);
    this.#secrets = new StoredSecrets(home, secret);
  }

  /** For people. */
  get(): OwnModel | undefined {
    const row = this.#row();
    if (!row) return undefined;
    const { key, ...shown } = row;
    return { ...shown, has_key: key !== null };
  }

  /** @returns what is wrong with the stored key; undefined: nothing */
  async problem(): Promise<string | undefined> {
    const hasKey = this.get()?.has_key === true;
    return hasKey && (await this.endpoint())?.apiKey === undefined
      ? `the model's key ${OTHER_KEY}; set it anew in Setup`
      : undefined;
  }

  /** For a request to it. A key that cannot be opened is left out: the endpoint asks for it, and `get` says why. */
  async endpoint(): Promise<ModelEndpoint | undefined> {
    if (this.#known) return this.#known.endpoint;
    const changes = this.#changes;
    const endpoint = await this.#open();
    // While the key was opened, the model may have been replaced or removed.
    if (changes !== this.#changes) return await this.endpoint();
    this.#known = { endpoint };
    return endpoint;
  }

  /**
   * @param keepsKey the stored key stays if the address does, as it is stored: it may be one that cannot be opened now
   * @throws SettingsError
   */
  async set(
    { baseUrl, api, model, apiKey }: ModelEndpoint,
    by: string,
    now: number,
    keepsKey: boolean,
  ): Promise<void> {
    const sealed = apiKey === undefined ? null : await this.#secrets.seal(apiKey, PLACE);
    const stored = keepsKey ? this.#row() : undefined;
    const key = stored?.base_url === baseUrl ? stored.key : sealed;
    this.sql.insert("OR REPLACE INTO own_model", {
      one: 1,
      base_url: baseUrl,
      api: api ?? null,
      model,
      key,
      set_by: by,
      set_at: now,
    });
    this.#forget();
  }

  remove(): void {
    this.sql.exec("DELETE FROM own_model");
    this.#forget();
  }

  #forget(): void {
    this.#known = undefined;
    this.#changes += 1;
  }

  async #open(): Promise<ModelEndpoint | undefined> {
    const row = this.#row();
    if (!row) return undefined;
    const api = readApi(row.api ?? "");
    const apiKey = row.key === null ? undefined : await this.#secrets.open(row.key, PLACE);
    return {
      baseUrl: row.base_url,
      model: row.model,
      ...(api && { api }),
      ...(apiKey !== undefined && { apiKey }),
    };
  }

  #row(): Row | undefined {
    return this.sql.first<Row>`SELECT base_url, api, model, key, set_by, set_at FROM own_model`;
  }
}

export const ownModelOf = slot(
  ({ ctx, env, name }) => new OwnModelStore(ctx.storage, name, env.CONNECTIONS_KEY),
);
