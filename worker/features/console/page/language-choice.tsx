/** The language of this browser's page, as far as there are texts in it. */
import { LANGUAGES, type Language } from "@edgecall/core/text/languages.ts";
import { Panel, Select } from "./controls.tsx";
import { chooseLanguage, chosenLanguage } from "./texts/load-language.ts";

export function LanguageChoice() {
  return (
    <Panel id="language" title="Language">
      <p class="quiet">
        Home, Devices and the screens' names have texts in ten languages. The other screens are in English.
      </p>
      <div class="row">
        <Select
          label="Language"
          value={chosenLanguage() ?? ""}
          onChoose={(code) => chooseLanguage(code === "" ? undefined : (code as Language))}
        >
          <option value="">as the browser is set</option>
          {LANGUAGES.map((code) => (
            <option value={code} lang={code}>
              {new Intl.DisplayNames(code, { type: "language" }).of(code)}
            </option>
          ))}
        </Select>
      </div>
    </Panel>
  );
}
