/** The languages in which a person is understood and answered, by their codes. */
export const LANGUAGES = ["en", "de", "fr", "es", "it", "nl", "pl", "pt", "cs", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];

/** A native speaker has read their words. The others are called "beta". */
const REVIEWED: readonly Language[] = ["en"];

/** The languages' names in English. */
export function languageNames(): { reviewed: string[]; beta: string[] } {
  const names = new Intl.DisplayNames("en", { type: "language" });
  const named = (isReviewed: boolean) =>
    LANGUAGES.filter((one) => REVIEWED.includes(one) === isReviewed).map((one) => names.of(one) ?? one);
  return { reviewed: named(true), beta: named(false) };
}
