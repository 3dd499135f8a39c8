/** The gateway's own files, beside the console. */
import type { Env } from "./env.ts";
import { logError } from "./log.ts";

/** The binding for files takes any address, and looks at the path alone. */
const FILES = "https://files.invalid";

/** @returns JSON; null: there is no such file; undefined: it cannot be read now */
export async function readFile(env: Pick<Env, "ASSETS">, name: string): Promise<unknown> {
  try {
    const file = await env.ASSETS?.fetch(new Request(`${FILES}/${name}`));
    if (file?.ok) return await file.json();
    return file === undefined || file.status === 404 ? null : undefined;
  } catch (error) {
    logError("file.not_read", error, { file: name });
    return undefined;
  }
}
