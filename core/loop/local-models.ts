/**
 * Finds the model servers that run on this machine: Ollama, LM Studio and llama.cpp at their usual ports. Only 127.0.0.1 is asked, and
 * nothing but what there is: no question, no key.
 */

import { askServer, listIn } from "./local-server.ts";
import type { Fetch } from "./model.ts";
import type { LocalServer } from "./window.ts";

/** @property baseUrl as a setting has it @property models names of those that can talk, the loaded ones first; at least one */
export type FoundServer = { server: LocalServer; baseUrl: string; models: string[] };

/** A server of this machine answers within milliseconds. */
const ASK_MS = 400;
/** A person chooses among them. */
const MODELS_MAX = 50;
const NAME_MAX_CHARS = 200;

export const LOCAL_PORTS = { ollama: 11_434, lmStudio: 1_234, llamaCpp: 8_080 };

/** @param ports others, for tests @returns an empty list: none runs here; never throws */
export async function findLocalModels(
  fetch: Fetch = (url, init) => globalThis.fetch(url, init),
  ports = LOCAL_PORTS,
): Promise<FoundServer[]> {
  const at = (port: number) => `http://127.0.0.1:${port}`;
  const ask = (port: number, path: string) => askServer(`${at(port)}${path}`, { ms: ASK_MS, fetch });
  const { ollama, lmStudio, llamaCpp } = ports;
  const [tags, running, studio, list] = await Promise.all([
    ask(ollama, "/api/tags"),
    ask(ollama, "/api/ps"),
    ask(lmStudio, "/api/v0/models"),
    ask(llamaCpp, "/v1/models"),
  ]);
  const found = (server: LocalServer, port: number, models: readonly string[]): FoundServer => ({
    server,
    baseUrl: `${at(port)}/v1`,
    models: [...new Set(models)].slice(0, MODELS_MAX),
  });
  return [
    found("Ollama", ollama, ofOllama(tags, running)),
    found("LM Studio", lmStudio, ofLmStudio(studio)),
    found("llama.cpp", llamaCpp, ofLlamaCpp(list)),
  ].filter(({ models }) => models.length > 0);
}

/** A model of embeddings, which cannot talk, is of the family `bert`, or is called so. */
function ofOllama(tags: unknown, running: unknown): string[] {
  const namesIn = (answer: unknown) =>
    (listIn(answer, "models") ?? []).flatMap(({ name, details }) => {
      const { family } = (details ?? {}) as { family?: unknown };
      return isName(name) && !/embed/i.test(name) && !/bert/i.test(String(family)) ? [name] : [];
    });
  const all = namesIn(tags);
  return [...namesIn(running).filter((name) => all.includes(name)), ...all];
}

function ofLmStudio(answer: unknown): string[] {
  const able = (listIn(answer, "data") ?? []).filter(({ type }) => type === "llm" || type === "vlm");
  const isLoaded = ({ state }: Record<string, unknown>) => state === "loaded";
  return [...able.filter(isLoaded), ...able].map(({ id }) => id).filter(isName);
}

/** Many programs listen at this port; this one names itself. */
function ofLlamaCpp(answer: unknown): string[] {
  return (listIn(answer, "data") ?? []).flatMap(({ id, owned_by }) =>
    owned_by === "llamacpp" && isName(id) ? [id] : [],
  );
}

function isName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= NAME_MAX_CHARS;
}
