/** Asks a model server at home for what it tells of itself. It never throws: most servers know one of several addresses. */
import { isObject } from "../protocol/is-object.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { Fetch } from "./model.ts";

/** llama.cpp's answer has the model's chat template in it. */
const ANSWER_MAX_BYTES = 1024 * 1024;

/**
 * @param key goes to no other origin, since redirects are not followed
 * @param ms it gets so long
 * @returns the answer's JSON; undefined: there was none
 */
export async function askServer(
  url: string,
  { key, ms, fetch }: { key?: string | undefined; ms: number; fetch: Fetch },
): Promise<unknown> {
  try {
    return await withTimeLimit(ms, async (signal) => {
      const headers = { accept: "application/json", ...(key && { authorization: `Bearer ${key.trim()}` }) };
      const response = await fetch(url, { headers, redirect: "manual", signal });
      if (response.ok) return JSON.parse(await textUpTo(response, ANSWER_MAX_BYTES));
      await response.body?.cancel();
      return undefined;
    });
  } catch {
    return undefined;
  }
}

/** @returns the objects of a list in such an answer; undefined: it has no such list */
export function listIn(answer: unknown, key: string): Array<Record<string, unknown>> | undefined {
  const list = isObject(answer) ? answer[key] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : undefined;
}

async function textUpTo(response: Response, most: number): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length > most) {
      await reader?.cancel();
      return "";
    }
  }
  return text + decoder.decode();
}
