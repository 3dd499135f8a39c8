/** The languages in which edgecall speaks to a person, by their codes. */
export const LANGUAGES = ["en", "de", "fr", "es", "it", "nl", "pl", "pt", "cs", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];
