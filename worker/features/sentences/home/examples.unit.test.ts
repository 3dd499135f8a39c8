/** Sentences that are offered where one was not understood: each works here, is another one, and is of the kind that was said. */
import { hintsOf } from "@edgecall/core/sentences/hints.ts";
import type { LanguageData } from "@edgecall/core/sentences/language.ts";
import { cs } from "@edgecall/core/sentences/languages/cs.ts";
import { de } from "@edgecall/core/sentences/languages/de.ts";
import { en } from "@edgecall/core/sentences/languages/en.ts";
import { es } from "@edgecall/core/sentences/languages/es.ts";
import { fr } from "@edgecall/core/sentences/languages/fr.ts";
import { it as italian } from "@edgecall/core/sentences/languages/it.ts";
import { nl } from "@edgecall/core/sentences/languages/nl.ts";
import { pl } from "@edgecall/core/sentences/languages/pl.ts";
import { pt } from "@edgecall/core/sentences/languages/pt.ts";
import { zh } from "@edgecall/core/sentences/languages/zh.ts";
import { makeLexicon } from "@edgecall/core/sentences/lexicon.ts";
import { readSentence } from "@edgecall/core/sentences/read.ts";
import { keyOf } from "@edgecall/core/sentences/words.ts";
import { describe, expect, test } from "vitest";
import { all, contextOf, table } from "../../../../test/home-of-configs.ts";
import { calledIn } from "./called.ts";
import { examplesFor } from "./examples.ts";
import { resolveFrames } from "./resolve.ts";

/** A question about windows, an act and a watch, each with a word that no language knows. */
const SAID: ReadonlyArray<readonly [LanguageData, ask: string, act: string, watch: string]> = [
  [en, "which windows are flumped?", "turn on the flumbox", "tell me when the window is flumped"],
  [de, "welche Fenster sind flumpig?", "schalte die Flumbox ein", "sag mir, wenn das Fenster flumpig ist"],
  [fr, "quelles fenêtres sont flumpées ?", "allume la flumboxe", "préviens-moi quand la fenêtre est flumpée"],
  [es, "¿qué ventanas están flumpadas?", "enciende el flumbox", "avísame cuando la ventana esté flumpada"],
  [italian, "quali finestre sono flumpate?", "accendi il flumbox", "avvisami quando la finestra è flumpata"],
  [nl, "welke ramen zijn flumpig?", "zet de flumbox aan", "zeg het me als het raam flumpig is"],
  [pl, "które okna są flumpowe?", "włącz flumboks", "powiedz mi, kiedy okno jest flumpowe"],
  [pt, "que janelas estão flumpadas?", "liga o flumbox", "avisa-me quando a janela estiver flumpada"],
  [cs, "která okna jsou flumpová?", "zapni flumbox", "řekni mi, až bude okno flumpové"],
  [zh, "哪些窗户蹩蹩？", "打开蹩蹩", "窗户蹩蹩时告诉我"],
];
const KINDS = {
  ask: ["ask", "devices"],
  act: ["act"],
  watch: ["watch", "remind"],
} as const;

describe.each(SAID)("$code", (data, ...sentences) => {
  const lexicon = makeLexicon(data);
  const framesOf = (text: string) => {
    const read = readSentence(text, table, [lexicon]);
    return read.result === "one" ? read.frames : [];
  };
  const works = async (text: string): Promise<boolean> => {
    const frames = framesOf(text);
    if (frames.length === 0) return false;
    const resolved = await resolveFrames(frames, contextOf(text));
    return "answer" in resolved || "steps" in resolved;
  };
  const offered = (text: string) => {
    const hints = hintsOf(text, lexicon, table);
    return examplesFor(all, lexicon.examples, { text, hints, called: calledIn([lexicon]) }, works);
  };

  test.each(["ask", "act", "watch"] as const)("%s", async (kind) => {
    const said = sentences[(["ask", "act", "watch"] as const).indexOf(kind)] ?? "";
    expect(framesOf(said)).toEqual([]);
    const examples = await offered(said);
    expect(new Set(examples.map(keyOf)).size).toBe(3);
    for (const example of examples) {
      expect(await works(example), example).toBe(true);
      expect(KINDS[kind], example).toContain(framesOf(example)[0]?.kind);
    }
  });

  test("a question about windows is offered one about a window", async () => {
    const [first = ""] = await offered(sentences[0]);
    expect(framesOf(first)).toMatchObject([
      { kind: "ask", target: { ids: [expect.stringContaining("window")] } },
    ]);
  });

  test("what was said is not offered, also where it works", async () => {
    for (const sentence of await offered(sentences[0]))
      expect((await offered(sentence)).map(keyOf)).not.toContain(keyOf(sentence));
  });

  test("one of each kind is offered where its words tell none", async () => {
    const kinds = (await offered("xyzzy")).map((example) => framesOf(example)[0]?.kind);
    expect(kinds).toEqual([
      expect.stringMatching(/ask|devices/),
      "act",
      expect.stringMatching(/watch|remind/),
    ]);
  });
});
