/** Tells a person why a sentence was not understood. Pure. */
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { Reason } from "@edgecall/core/sentences/frame.ts";

export function reasonText(reason: Reason, phrases: Phrases): string {
  switch (reason.because) {
    case "unknown_word": {
      const [near] = reason.near;
      return phrases.sentences(
        phrases.say("unknownWord", { word: reason.word }),
        near ? phrases.say("didYouMean", { text: near.whole.replace(/\s*[?？]$/, "") }) : "",
      );
    }
    case "negation":
    case "exception":
      return phrases.say("saysNot", { word: reason.word });
    case "condition":
      return phrases.say("noConditions", { word: reason.word });
    case "delay":
      return phrases.say("notLater");
    case "quotation":
      return phrases.say("noQuotations");
    case "question":
      return reason.word === undefined
        ? phrases.say("noGeneralAnswer")
        : phrases.say("noAnswerTo", { word: reason.word });
    case "general":
      return phrases.say("noGeneralAnswer");
    case "no_target":
      return phrases.say("whichDevice");
    case "too_long":
      return phrases.say("tooLong");
    case "empty":
      return phrases.say("empty");
    default:
      return phrases.say("notUnderstood");
  }
}
