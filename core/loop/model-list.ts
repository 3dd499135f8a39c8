/** Reads `LLM_MODELS`, the setting that names several models. Pure. */
import { checkJson, type Parsed, z } from "../protocol/parse.ts";
import { APIS } from "./api.ts";
import type { NamedModel } from "./models.ts";
import type { ModelSettings } from "./request.ts";

const NAME = /^[A-Za-z0-9@][A-Za-z0-9@._:/-]{0,127}$/;

const ModelList = z
  .array(
    z.strictObject({
      /** The name by which a caller chooses the model. */
      name: z.string().check(z.regex(NAME, "expected 1 to 128 letters, digits or . _ : / @ -")),
      base_url: z
        .string()
        .check(z.regex(/^https?:\/\/[^\s/]+/, "expected an http(s) address up to and with /v1")),
      /** The form of its requests; absent: by the address. */
      api: z.optional(z.enum(APIS)),
      /** The endpoint's name of the model. */
      model: z.string().check(z.minLength(1), z.maxLength(200)),
      /** The variable that holds the key: this setting is shown to people, so it must not contain a key. */
      api_key_name: z.optional(
        z.string().check(z.regex(/^[A-Z][A-Z0-9_]*$/, "expected the name of a variable")),
      ),
      max_tokens: z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000))),
      temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
    }),
  )
  .check(z.maxLength(20));

export type ModelListSource = {
  /** The value of `LLM_MODELS`. */
  text: string | undefined;
  /** The model of LLM_BASE_URL, LLM_MODEL and LLM_API_KEY. It is the first in the list; LLM_MODEL is its name. */
  single: ModelSettings | undefined;
  /** Returns a variable's value. */
  variable(name: string): string | undefined;
  /** Values for the fields that an entry leaves out. */
  defaults: Pick<ModelSettings, "maxTokens" | "temperature" | "timeouts">;
};

/** Returns the models in the order in which they replace one another. An error names the field. */
export function readModelList({ text, single, variable, defaults }: ModelListSource): Parsed<NamedModel[]> {
  const models: NamedModel[] = single ? [{ ...single, name: single.model }] : [];
  if (text === undefined || text.trim() === "") return { ok: true, value: models };
  const list = checkJson(ModelList, text);
  if (!list.ok) return { ok: false, error: `LLM_MODELS: ${list.error}` };
  for (const [index, entry] of list.value.entries()) {
    const wrong = (field: string, words: string): Parsed<NamedModel[]> => ({
      ok: false,
      error: `LLM_MODELS: ${index}.${field}: ${words}`,
    });
    if (!URL.canParse(entry.base_url)) return wrong("base_url", `'${entry.base_url}' is not an address`);
    if (models.some(({ name }) => name === entry.name))
      return wrong("name", `'${entry.name}' is there twice; LLM_MODEL counts too`);
    const apiKey = entry.api_key_name === undefined ? undefined : variable(entry.api_key_name);
    if (entry.api_key_name !== undefined && !apiKey)
      return wrong("api_key_name", `the variable ${entry.api_key_name} is not set`);
    models.push({
      ...defaults,
      name: entry.name,
      baseUrl: entry.base_url,
      ...(entry.api && { api: entry.api }),
      model: entry.model,
      ...(apiKey && { apiKey }),
      ...(entry.max_tokens !== undefined && { maxTokens: entry.max_tokens }),
      ...(entry.temperature !== undefined && { temperature: entry.temperature }),
    });
  }
  return { ok: true, value: models };
}
