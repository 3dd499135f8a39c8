/** Chooses the page's language, and loads it before the page shows anything. English is in the first script; each other one is a script. */
import { LANGUAGES, type Language } from "@edgecall/core/text/languages.ts";
import { language, type Spoken, setSpoken } from "./say.ts";

const LOADERS: Partial<Record<Language, () => Promise<{ spoken: Spoken }>>> = {
  de: () => import("./de.ts"),
  fr: () => import("./fr.ts"),
  es: () => import("./es.ts"),
  it: () => import("./it.ts"),
  nl: () => import("./nl.ts"),
  pl: () => import("./pl.ts"),
  pt: () => import("./pt.ts"),
  cs: () => import("./cs.ts"),
  zh: () => import("./zh.ts"),
};
/** In the browser's storage. */
const CHOSEN = "edgecall.language";

/** The language that was chosen in this browser, or the first of the browser's that there is. */
export async function loadLanguage(): Promise<void> {
  const wanted = [localStorage.getItem(CHOSEN), ...navigator.languages].map((tag) => tag?.slice(0, 2));
  const found = wanted.flatMap((code) => LANGUAGES.find((one) => one === code) ?? [])[0] ?? "en";
  // Without it the page is shown in English.
  await LOADERS[found]?.().then(
    (loaded) => setSpoken(loaded.spoken),
    () => {},
  );
  document.documentElement.lang = language();
}

export function chosenLanguage(): Language | undefined {
  return LANGUAGES.find((one) => one === localStorage.getItem(CHOSEN));
}

/** @param chosen undefined: as the browser is set */
export function chooseLanguage(chosen: Language | undefined): void {
  if (chosen === undefined) localStorage.removeItem(CHOSEN);
  else localStorage.setItem(CHOSEN, chosen);
  location.reload();
}
