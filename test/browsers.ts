/** Turns on notifications in a browser that no test opens: its keys are those of RFC 8291's example. */
import { ask } from "./workerd.ts";

export const BROWSER_KEYS = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};

/** @param token the owner's, if it is left out */
export function turnOnBrowser(endpoint: string, token?: string) {
  const body = JSON.stringify({ endpoint, keys: BROWSER_KEYS });
  return ask("/v1/push/browsers", { method: "POST", ...(token !== undefined && { token }), body });
}
