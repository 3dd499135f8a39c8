/** The words of rules that act in a language: of what is told, which the gateway has too, and those that are the bridge's alone. */
import type { CARD_WORDS } from "./card-words.ts";
import type { HOME_WORDS } from "./home-words.ts";
import type { NEWS_WORDS, WHY_WORDS } from "./news-words.ts";

export type CardWords = Readonly<Record<keyof typeof CARD_WORDS, string>>;
export type HomeWords = Readonly<Record<keyof typeof HOME_WORDS, string>>;
export type NewsWords = Readonly<Record<keyof typeof NEWS_WORDS | keyof typeof WHY_WORDS, string>>;
