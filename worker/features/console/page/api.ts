/** The page's client of the gateway. It sends the session's cookie, and the header that a request which changes something needs. */
import { Client, NoAnswerError } from "@edgecall/client/client.ts";

export const client = new Client({ url: "", headers: { "x-edgecall-console": "1" } });

export function errorText(error: unknown): string {
  if (error instanceof NoAnswerError) return "The gateway cannot be reached; is this machine online?";
  return error instanceof Error ? error.message : String(error);
}
