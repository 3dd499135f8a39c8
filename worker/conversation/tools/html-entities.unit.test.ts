/** The Worker's names of characters, beside all of them. */
import { EntityDecoder as All, DecodingMode, decodeHTML, htmlDecodeTree } from "entities/decode";
import { expect, test } from "vitest";
import { EntityDecoder as Usual } from "./html-entities.ts";

/** As htmlparser2 uses the decoder: in pieces, within a text or an attribute. */
function decoded(Decoder: typeof All, text: string, mode: DecodingMode, pieces: number): string {
  let said = "";
  let used = 0;
  const decoder = new Decoder(htmlDecodeTree, (code, consumed) => {
    said += String.fromCodePoint(code);
    used = consumed;
  });
  decoder.startEntity(mode);
  let done = -1;
  for (let at = 1; at < text.length && done < 0; at += pieces)
    done = decoder.write(text.slice(at, at + pieces), 0);
  if (done < 0) decoder.end();
  return `${said}|${text.slice(used)}`;
}

const NAMES_HTML_4 =
  "nbsp amp lt gt quot copy reg trade euro hellip mdash ndash lsquo rsquo ldquo rdquo bull middot laquo raquo times divide plusmn frac12 deg sup2 eacute Eacute egrave uuml Uuml ouml auml szlig ntilde ccedil oslash aring AElig thorn alpha Omega infin ne le ge larr rarr harr crarr forall isin notin sum radic thinsp zwj shy sect para dagger permil prime lang rang hearts spades loz sigmaf thetasym piv";
/** Without their own entries they would begin with another character: `<hree;`. */
const NAMES_LIKE_OTHERS =
  "divideontimes gtcc gtcir gtdot gtlPar gtquest gtrapprox gtrarr gtrdot gtreqless gtreqqless gtrless gtrsim ltcc ltcir ltdot lthree ltimes ltlarr ltquest ltrPar ltrie notinva notinvb notinvc notni notniva notnivb notnivc parallel timesb timesbar timesd";
const NAMES_LATER =
  "apos Tab NewLine lpar rpar lbrace rcub lowbar num commat dollar percnt ast plus equals quest colon semi period comma sol bsol verbar grave hyphen check cross starf phone scaron Zcaron ccaron lstrok Lstrok aogon eogon zdot odblac gbreve scedil imath Idot inodot amacr ZeroWidthSpace NonBreakingSpace AMP COPY QUOT";

test.each([DecodingMode.Legacy, DecodingMode.Attribute])(
  "the usual names mean what they mean to everybody (mode %s)",
  (mode) => {
    for (const name of `${NAMES_HTML_4} ${NAMES_LATER} ${NAMES_LIKE_OTHERS}`.split(" ")) {
      expect(decodeHTML(`&${name};`), name).not.toBe(`&${name};`);
      for (const after of [";", "", " ", "=", "x", "1", ";;", "&"])
        for (const pieces of [1, 3, 100])
          expect(decoded(Usual, `&${name}${after}`, mode, pieces), `&${name}${after}`).toBe(
            decoded(All, `&${name}${after}`, mode, pieces),
          );
    }
  },
);

test("numbers, and what is none", () => {
  for (const text of [
    "&#65;",
    "&#x41;",
    "&#X41",
    "&#150;",
    "&#0;",
    "&#xD800;",
    "&#1114112;",
    "&#;",
    "&#x;",
    "&;",
    "& ",
    "&zzz;",
  ])
    for (const mode of [DecodingMode.Legacy, DecodingMode.Attribute])
      expect(decoded(Usual, text, mode, 100), text).toBe(decoded(All, text, mode, 100));
});

test("a rare name stays as it is written", () => {
  expect(decoded(Usual, "&nleqslant;", DecodingMode.Legacy, 100)).toBe("|&nleqslant;");
});
