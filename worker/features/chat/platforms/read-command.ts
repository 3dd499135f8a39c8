/** Reads the commands that every chat understands. */
import { closest } from "@edgecall/core/text/closest.ts";
import { CHAT_COMMANDS, type ChatCommand } from "../contract.ts";

/** Takes `/stop`, `/stop@bot`, and `!stop` for platforms that use the slash themselves. Telegram's `/start` means help. */
export function readCommand(text: string): ChatCommand | undefined {
  const match = /^[/!]([a-z]{2,10})(?:@\w{1,64})?(?:\s+([\s\S]*))?$/i.exec(text.trim());
  const word = match?.[1]?.toLowerCase();
  const name = CHAT_COMMANDS.find((one) => one === (word === "start" ? "help" : word));
  return name && { name, argument: match?.[2]?.trim() ?? "" };
}

/** @returns words for a mistyped command; undefined for another text that begins with a slash */
export function mistypedCommand(text: string): string | undefined {
  const [, mark = "", word = ""] = /^([/!])([a-z]{2,12})(?:\s|$)/i.exec(text.trim()) ?? [];
  const similar = closest(word, CHAT_COMMANDS);
  return similar && `There is no command ${mark}${word}. Did you mean ${mark}${similar}?`;
}
