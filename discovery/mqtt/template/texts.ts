/** The filters of texts. */
import { TemplateProblem } from "./budget.ts";
import { type Builtin, intOr, itemsOf, takes, textOr } from "./calls.ts";
import { Datetime, Timedelta } from "./dates.ts";
import { isOn } from "./lists.ts";
import { centered, joined, linesOf } from "./methods.ts";
import { toFloat } from "./numbers.ts";
import { Dict, Members, Missing, OMITTED, Tuple, textOf, type Value } from "./values.ts";

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "'": "&#39;",
  '"': "&#34;",
};

const escapeHtml = takes("s", (run, value) =>
  run.budget.text(textOf(value, run.budget).replace(/[&<>'"]/g, (letter) => HTML[letter] ?? letter)),
);

/** Letters that a web address has as they are, beside those of names. */
function quoted(text: string, safe: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]|%2F/g, (part) => {
    const letter = part === "%2F" ? "/" : part;
    if (safe.includes(letter)) return letter;
    return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

/** The function takes pairs, the filter also a text. */
const urlencodePairs = takes("value", (run, value) => {
  const pairs =
    value instanceof Dict ? value.entries() : itemsOf(run, value).map((pair) => itemsOf(run, pair));
  const part = (one: Value | undefined) => quoted(textOf(one ?? null, run.budget), "").replaceAll("%20", "+");
  return joined(
    run,
    pairs.map(([key, one]) => `${part(key)}=${part(one)}`),
    "&",
  );
});

const urlencode: Builtin = (run, positional, named) => {
  const [value = OMITTED] = positional;
  if (typeof value === "string") return run.budget.text(quoted(value, "/"));
  const isPairs = value instanceof Dict || Array.isArray(value);
  return isPairs ? urlencodePairs(run, positional, named) : quoted(textOf(value, run.budget), "/");
};

const UNITS = {
  decimal: "kB MB GB TB PB EB ZB YB".split(" "),
  binary: "KiB MiB GiB TiB PiB EiB ZiB YiB".split(" "),
};

const filesizeformat = takes("value binary?", (_, value, binary) => {
  const bytes = toFloat(value);
  if (bytes === undefined || !Number.isFinite(bytes))
    throw new TemplateProblem("has a size that is no number");
  const base = isOn(binary) ? 1024 : 1000;
  if (bytes === 1) return "1 Byte";
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const units = isOn(binary) ? UNITS.binary : UNITS.decimal;
  const at = Math.max(
    0,
    units.findIndex((_, place) => bytes < base ** (place + 2)),
  );
  const place = bytes < base ** (units.length + 1) ? at : units.length - 1;
  return `${((base * bytes) / base ** (place + 2)).toFixed(1)} ${units[place]}`;
});

const indent = takes("s width? first? blank?", (run, value, width, first, blank) => {
  const by = typeof width === "string" ? width : " ".repeat(Math.max(0, Math.min(intOr(width, 4), 1_000)));
  const lines = linesOf(`${textOf(value, run.budget)}\n`);
  const made = lines.map((line, at) => (at > 0 && (line !== "" || isOn(blank)) ? by + line : line));
  return joined(run, [isOn(first) ? by : "", joined(run, made, "\n")], "");
});

const ENDINGS = ["th", "st", "nd", "rd"];

const ordinal = takes("value", (run, value) => {
  const text = textOf(value, run.budget);
  const end = /(\d?)(\d)$/.exec(text.slice(-2));
  if (!end) throw new TemplateProblem("has an ordinal of what is no whole number");
  return text + (end[1] === "1" ? "th" : (ENDINGS[Number(end[2])] ?? "th"));
});

/** Letters that have no accent to take off. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  ø: "o",
  æ: "ae",
  œ: "oe",
  ł: "l",
  đ: "d",
  ð: "d",
  "°": "deg",
};

const slugify = takes("value separator?", (run, value, separator) => {
  if (value === null) return "none";
  const text = textOf(value, run.budget);
  if (text === "") return "";
  const folded = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[ßøæœłđð°]/g, (letter) => PLAIN[letter] ?? "")
    .replace(/\p{M}|[\u{1f000}-\u{1ffff}]|(?<=\d),(?=\d)/gu, "");
  const words = folded.match(/[a-z0-9]+/g) ?? [];
  return joined(run, words, textOr(separator, "_")) || "unknown";
});

function typeOf(value: Value): string {
  if (value === null) return "NoneType";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "float";
  if (typeof value === "string") return "str";
  if (typeof value === "boolean") return "bool";
  if (value instanceof Missing) return "LoggingUndefined";
  if (Array.isArray(value)) return value instanceof Tuple ? "tuple" : "list";
  if (value instanceof Dict) return "dict";
  if (value instanceof Datetime) return "datetime";
  if (value instanceof Timedelta) return "timedelta";
  return value instanceof Members ? "Namespace" : "Macro";
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export const TEXT_FUNCTIONS: Readonly<Record<string, Builtin>> = {
  slugify,
  typeof: takes("value", (_, value) => typeOf(value)),
};

export const TEXT_ONLY_FUNCTIONS: Readonly<Record<string, Builtin>> = { urlencode: urlencodePairs };

export const TEXT_FILTERS: Readonly<Record<string, Builtin>> = {
  ...TEXT_FUNCTIONS,
  base64_decode: takes("value encoding?", (_, value, encoding) => {
    const code = textOr(value, "").replace(/[^A-Za-z0-9+/=]/g, "");
    if (encoding !== OMITTED && !/^(?:utf-?8|ascii)$/i.test(textOr(encoding, "")))
      throw new TemplateProblem("has base64 of an encoding that is not UTF-8");
    if (!BASE64.test(code) || code.length % 4 !== 0) throw new TemplateProblem("has what is no base64");
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
        Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0)),
      );
    } catch {
      throw new TemplateProblem("has base64 that is no text");
    }
  }),
  base64_encode: takes("value", (run, value) => {
    const bytes = new TextEncoder().encode(textOr(value, ""));
    return run.budget.text(btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")));
  }),
  center: takes("value width?", (run, value, width) =>
    centered(run, textOf(value, run.budget), intOr(width, 80), " "),
  ),
  e: escapeHtml,
  escape: escapeHtml,
  filesizeformat,
  forceescape: escapeHtml,
  indent,
  ord: takes("value", (_, value) => {
    const letters = [...textOr(value, "")];
    const code = letters.length === 1 ? letters[0]?.codePointAt(0) : undefined;
    if (code === undefined) throw new TemplateProblem("has the number of what is not one character");
    return BigInt(code);
  }),
  ordinal,
  safe: takes("value", (run, value) => textOf(value, run.budget)),
  urlencode,
  wordcount: takes("s", (run, value) =>
    BigInt((textOf(value, run.budget).match(/[\p{L}\p{N}_]+/gu) ?? []).length),
  ),
};

function cased(is: (text: string) => boolean): Builtin {
  return takes("value", (run, value) => {
    const text = textOf(value, run.budget);
    return is(text) && text.toLowerCase() !== text.toUpperCase();
  });
}

export const TEXT_TESTS: Readonly<Record<string, Builtin>> = {
  lower: cased((text) => text === text.toLowerCase()),
  upper: cased((text) => text === text.toUpperCase()),
};
