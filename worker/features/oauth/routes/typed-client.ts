/** Ids of clients that a person entered by hand. The id names the home, which stores the client. */
import { toBase64Url } from "@edgecall/core/encoding.ts";
import { TYPED_ID } from "../contract.ts";

export function newTypedId(home: string): string {
  return `typed.${home}.${toBase64Url(crypto.getRandomValues(new Uint8Array(12)))}`;
}

/** @returns undefined: it is no such id */
export function homeOfTypedId(id: string): string | undefined {
  return TYPED_ID.exec(id)?.[1];
}
