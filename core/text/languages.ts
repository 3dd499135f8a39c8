/** The languages in which a person is understood and answered, by their codes. */
export const LANGUAGES = ["en", "de", "fr", "es", "it", "nl", "pl", "pt", "cs", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];
