/** The present screen, from the address's hash: `#/screen` or `#/chat/{conversation}`. */
import { useEffect, useState } from "preact/hooks";

const SCREENS = ["chat", "devices", "fleet", "rules", "audit", "metrics", "setup", "waiting"] as const;
export type ScreenName = (typeof SCREENS)[number];
export type Place = { screen: ScreenName; item: string | undefined };

const CONVERSATION = /^[A-Za-z0-9._:@-]{1,128}$/;

function placeOf(hash: string): Place {
  const [, name, item = ""] = hash.split("/");
  const screen = SCREENS.find((one) => one === name) ?? "chat";
  return { screen, item: CONVERSATION.test(item) ? item : undefined };
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const change = () => setHash(location.hash);
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
