/** The present screen, from the address's hash: `#/screen` or `#/chat/{conversation}`. */
import { useEffect, useState } from "preact/hooks";

export type Place = { screen: string; item: string | undefined };

const CONVERSATION = /^[A-Za-z0-9._:@-]{1,128}$/;

function placeOf(hash: string): Place {
  const [, screen = "", item = ""] = hash.split("/");
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

export function newConversationId(): string {
  return `console-${crypto.randomUUID()}`;
}
