/** Addresses of screens, in the hash: `#/screen`, `#/chat/{conversation}`, `#/devices/{device}`, `#/setup/{task}`. Pure. */

const SCREENS = ["home", "devices", "chat", "rules", "record", "setup", "more", "waiting"] as const;
export type ScreenName = (typeof SCREENS)[number];
export type Place = { screen: ScreenName; item: string | undefined };

const CONVERSATION = /^[A-Za-z0-9._:@-]{1,128}$/;

export function placeOf(hash: string): Place {
  const [, name = "", ...rest] = hash.split("/");
  const screen = SCREENS.find((one) => one === name) ?? "home";
  const item = decoded(rest.join("/"));
  const isOne = screen === "chat" || screen === "waiting" ? CONVERSATION.test(item) : item !== "";
  return { screen, item: isOne ? item : undefined };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export function addressOfPlace(screen: ScreenName, item?: string): string {
  return item === undefined ? `#/${screen}` : `#/${screen}/${encodeURIComponent(item)}`;
}
