/** The flat names that a home's methods had up to 0.3, where they are not the method's own name. */
export const FLAT_NAMES: Readonly<Record<string, string>> = {};
