/** The page's client of the gateway. It sends the session's cookie, and the header that a request which changes something needs. */
import { Client, type ClientOptions, NoAnswerError } from "@edgecall/client/client.ts";

type Confirm = NonNullable<ClientOptions["confirm"]>;
let confirm: Confirm | undefined;

/** Sets what a person is asked when the gateway wants more than a press. */
export function confirmBy(asked: Confirm): void {
  confirm = asked;
}

export const client = new Client({
  url: "",
  headers: { "x-edgecall-console": "1" },
  confirm: async (...refused) => await confirm?.(...refused),
});

export function errorText(error: unknown): string {
  if (error instanceof NoAnswerError) return "The gateway cannot be reached; is this machine online?";
  return error instanceof Error ? error.message : String(error);
}
