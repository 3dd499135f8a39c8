/** The present screen, from the page's address. */
import { useEffect, useState } from "preact/hooks";
import { type Place, placeOf } from "./address.ts";

/** Names that screens had before 0.4, in bookmarks and messages. */
const EARLIER: Readonly<Record<string, string>> = {
  fleet: "#/devices",
  audit: "#/record",
  metrics: "#/setup/usage",
};

/** Leads from an earlier name to today's. */
function redirect(): void {
  const [, name = "", item] = location.hash.split("/");
  const now = Object.hasOwn(EARLIER, name) ? EARLIER[name] : undefined;
  if (now !== undefined) location.replace(item ? `${now}/${item}` : now);
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const change = () => {
      redirect();
      setHash(location.hash);
    };
    change();
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return placeOf(hash);
}

export function openConversation(id: string): void {
  location.hash = `#/chat/${id}`;
}

/**
 * Shows a conversation in place of another one, unless the person has gone elsewhere meanwhile: the browser reports a new
 * address late, and an answer may arrive before.
 * @param shown undefined: the chat screen without a conversation
 */
export function replaceConversation(shown: string | undefined, id: string): void {
  const { screen, item } = placeOf(location.hash);
  if (screen === "chat" && item === shown) location.replace(`#/chat/${id}`);
}

export function newConversationId(): string {
  return `console-${crypto.randomUUID()}`;
}
