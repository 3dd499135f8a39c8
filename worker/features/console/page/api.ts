/** The page's client of the gateway. It sends the session's cookie, and the header that a request which changes something needs. */
import {
  Client,
  type ClientOptions,
  NoAnswerError,
  type RequestOf,
  type Route,
} from "@edgecall/client/client.ts";
import { noteAnswer } from "./connection.ts";

type Confirm = NonNullable<ClientOptions["confirm"]>;
let confirm: Confirm | undefined;

/** Sets what a person is asked when the gateway wants more than a press. */
export function confirmBy(asked: Confirm): void {
  confirm = asked;
}

/** It also notes whether the gateway answers. */
class PageClient extends Client {
  override async open<R extends Route>(
    route: R,
    request: RequestOf<R> | undefined,
    accept?: string,
  ): Promise<Response> {
    try {
      const response = await super.open(route, request, accept);
      noteAnswer();
      return response;
    } catch (error) {
      noteAnswer(error);
      throw error;
    }
  }
}

export const client = new PageClient({
  url: "",
  headers: { "x-edgecall-console": "1" },
  confirm: async (...refused) => await confirm?.(...refused),
});

export function errorText(error: unknown): string {
  if (error instanceof NoAnswerError) return "The gateway cannot be reached; is this machine online?";
  return error instanceof Error ? error.message : String(error);
}
