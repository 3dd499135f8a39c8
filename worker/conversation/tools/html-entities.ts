/**
 * Replaces `entities/decode`, from which htmlparser2 takes the names of HTML's characters (an alias in wrangler.toml and
 * local/bundles.ts). All 2,125 names are 12 KiB of the upload's gzip. These are the names of HTML 4, those without a semicolon, Latin
 * letters, common signs, and what begins like a name without a semicolon (`&lthree;`). In the Worker any other name stays as it is
 * written: `&nleqslant;`. Names of two characters are left out too.
 */
import { EntityDecoder as Decoder } from "entities";

export { DecodingMode } from "entities";

/** Characters by their names. A number is the code of the next name's character; then the codes follow one another. */
const WITHOUT_SEMICOLON = [
  "34 QUOT 34 quot 38 AMP 38 amp 60 LT 60 lt 62 GT 62 gt 160 nbsp iexcl cent pound curren yen brvbar sect",
  "uml COPY 169 copy ordf laquo not shy REG 174 reg macr deg plusmn sup2 sup3 acute micro para middot cedil",
  "sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave",
  "Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash",
  "Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave",
  "eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash",
  "ugrave uacute ucirc uuml yacute thorn yuml",
].join(" ");
const WITH_SEMICOLON = [
  "9 Tab NewLine 33 excl 35 num dollar percnt 39 apos lpar rpar ast plus comma 46 period sol 58 colon semi",
  "61 equals 63 quest commat 91 lbrack 91 lsqb bsol rbrack 93 rsqb 95 lowbar grave 123 lbrace 123 lcub",
  "verbar 124 vert rbrace 125 rcub 160 NonBreakingSpace 183 centerdot 189 half 256 Amacr amacr Abreve",
  "abreve Aogon aogon Cacute cacute Ccirc ccirc Cdot cdot Ccaron ccaron Dcaron dcaron Dstrok dstrok Emacr",
  "emacr 278 Edot edot Eogon eogon Ecaron ecaron Gcirc gcirc Gbreve gbreve Gdot gdot Gcedil 292 Hcirc hcirc",
  "Hstrok hstrok Itilde itilde Imacr imacr 302 Iogon iogon Idot imath 305 inodot IJlig ijlig Jcirc jcirc",
  "Kcedil kcedil kgreen Lacute lacute Lcedil lcedil Lcaron lcaron Lmidot lmidot Lstrok lstrok Nacute nacute",
  "Ncedil ncedil Ncaron ncaron napos ENG eng Omacr omacr 336 Odblac odblac OElig oelig Racute racute Rcedil",
  "rcedil Rcaron rcaron Sacute sacute Scirc scirc Scedil scedil Scaron scaron Tcedil tcedil Tcaron tcaron",
  "Tstrok tstrok Utilde utilde Umacr umacr Ubreve ubreve Uring uring Udblac udblac Uogon uogon Wcirc wcirc",
  "Ycirc ycirc Yuml Zacute zacute Zdot zdot Zcaron zcaron 402 fnof 710 circ 732 tilde 913 Alpha Beta Gamma",
  "Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho 931 Sigma Tau Upsilon Phi Chi Psi",
  "Omega 937 ohm 945 alpha beta gamma delta epsi 949 epsilon zeta eta theta iota kappa lambda mu nu xi",
  "omicron pi rho sigmaf sigma tau upsilon phi chi psi omega 977 thetasym upsih 981 straightphi piv 8194",
  "ensp emsp emsp13 emsp14 8199 numsp puncsp ThinSpace 8201 thinsp VeryThinSpace 8202 hairsp ZeroWidthSpace",
  "zwnj zwj lrm rlm dash 8208 hyphen 8211 ndash mdash horbar Vert 8216 lsquo rsquo sbquo 8220 ldquo rdquo",
  "bdquo 8224 dagger Dagger bull 8226 bullet 8229 nldr hellip 8230 mldr 8240 permil 8242 prime Prime 8249",
  "lsaquo rsaquo 8254 oline 8257 caret 8260 frasl 8287 MediumSpace NoBreak 8364 euro 8453 incare 8465 image",
  "8470 numero copysr weierp 8476 real 8482 trade 8501 alefsym 8531 frac13 frac23 frac15 8539 frac18 frac38",
  "frac58 frac78 8592 larr 8592 leftarrow uarr 8593 uparrow rarr 8594 rightarrow darr 8595 downarrow harr",
  "8605 rarrw 8617 larrhk 8629 crarr 8656 lArr uArr Rightarrow 8658 rArr dArr hArr 8704 forall 8706 part",
  "exist 8709 empty 8711 nabla isin notin 8713 notinva 8715 ni notni 8716 notniva 8719 prod 8721 sum minus",
  "8727 lowast 8730 radic 8733 prop infin 8736 ang 8741 parallel 8743 and or cap cup int 8756 there4 8764",
  "sim 8773 cong 8776 asymp 8800 ne equiv 8804 le ge 8819 gtrsim 8823 gtrless 8834 sub sup nsub 8838 sube",
  "supe 8853 oplus 8855 otimes 8864 timesb 8869 perp 8884 ltrie 8901 sdot 8903 divideontimes 8905 ltimes",
  "8907 lthree 8918 ltdot gtdot 8919 gtrdot 8923 gtreqless 8950 notinvc notinvb 8957 notnivc notnivb 8968",
  "lceil rceil lfloor rfloor 8981 telrec target 9251 blank 9608 block 9633 squ 9633 square 9642 squf 9646",
  "marker 9652 utrif utri 9656 rtrif rtri 9662 dtrif dtri 9666 ltrif ltri 9674 loz cir 9711 bigcirc 9711",
  "xcirc 9733 bigstar 9733 starf star 9742 phone 9792 female 9794 male 9824 spades 9827 clubs 9829 hearts",
  "diams 9834 sung 9837 flat natural sharp 10003 check 10003 checkmark 10007 cross 10016 malt 10216 lang",
  "rang 10614 ltlarr 10616 gtrarr 10645 gtlPar ltrPar 10731 lozf 10800 timesd timesbar 10873 ltcir gtcir",
  "ltquest gtquest 10886 gtrapprox 10892 gtreqqless 10918 ltcc gtcc",
].join(" ");

let tree: Uint16Array | undefined;

/** Takes the table below, which is made for the first page and not at the Worker's start. */
export class EntityDecoder extends Decoder {
  constructor(_: Uint16Array, emit: (code: number, consumed: number) => void) {
    tree ??= Uint16Array.from(decodeTree());
    super(tree, emit);
  }
}

/** htmlparser2 passes one of these to the decoder. */
export const htmlDecodeTree = new Uint16Array();
export const xmlDecodeTree = new Uint16Array();

type Named = { name: string; code: number; semicolon: boolean };

function* namesOf(words: string, semicolon: boolean): Generator<Named> {
  let code = 0;
  for (const name of words.split(" ")) {
    if (/^\d/.test(name)) code = Number(name);
    else {
      yield { name, code, semicolon };
      code += 1;
    }
  }
}

/**
 * Makes the table as the decoder reads it (`bin-trie-flags.ts` of entities 8). Each node has a header (the value's words + 1, whether the
 * semicolon is required, the number of branches), the value, the branches' sorted characters (two a word), and the branches' places,
 * counted from where the first begins.
 */
function decodeTree(): number[] {
  const names = [...namesOf(WITHOUT_SEMICOLON, false), ...namesOf(WITH_SEMICOLON, true)];
  names.sort((a, b) => (a.name < b.name ? -1 : 1));
  const words: number[] = [];
  addNode(words, names, 0);
  return words;
}

/** @param names sorted; all begin with the same `depth` characters */
function addNode(words: number[], names: readonly Named[], depth: number): void {
  const value = names[0]?.name.length === depth ? names[0] : undefined;
  const branches = Map.groupBy(value ? names.slice(1) : names, ({ name }) => name.charCodeAt(depth));
  words.push((value ? (2 << 14) | (Number(value.semicolon) << 13) : 0) | (branches.size << 7));
  if (value) words.push(value.code);
  const keys = [...branches.keys()];
  for (let at = 0; at < keys.length; at += 2) words.push((keys[at] ?? 0) | ((keys[at + 1] ?? 0) << 8));
  const places = words.length;
  const first = places + keys.length;
  words.length = first;
  for (const [index, branch] of [...branches.values()].entries()) {
    words[places + index] = words.length - first;
    addNode(words, branch, depth + 1);
  }
}
