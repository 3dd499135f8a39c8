/** A person on each platform. They write and press buttons as the platform passes it on, and see what it shows. */
import { onDiscord } from "./on-discord.ts";
import { onGeneric } from "./on-generic.ts";
import { onSlack } from "./on-slack.ts";
import { onTelegram } from "./on-telegram.ts";
import { onWhatsApp } from "./on-whatsapp.ts";
import type { Post } from "./person.ts";

export * from "./person.ts";
export { onTelegram };

export async function everybody(post: Post) {
  return {
    telegram: await onTelegram(post),
    slack: await onSlack(post),
    discord: await onDiscord(post),
    whatsapp: await onWhatsApp(post),
    generic: await onGeneric(post),
  };
}
