import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { htmlToMarkdown } from "./html-markdown.ts";
import { pageText, partOf } from "./page-text.ts";

const url = new URL("https://example.com/docs/page");
const markdown = (html: string) => htmlToMarkdown(html, url, 1_000_000).text;

function page(body: string | Uint8Array, contentType = "text/html") {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const read = pageText({ body: bytes, contentType, url });
  return read.ok ? read.text : `not text: ${read.mediaType}`;
}

const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

describe("HTML becomes Markdown", () => {
  test.each([
    ["<h2>One</h2>two<br>three", "## One\n\ntwo\nthree"],
    ["<p>a <b>b</b>  c\n d&amp;e&nbsp;f</p>", "a b c d&e f"],
    ["<ul><li>a<li><p>b</p></li><ul><li>c</ul></ul>", "- a\n- b\n  - c"],
    ["<ol start=3><li>a</li><li>b</li></ol>", "3. a\n4. b"],
    [
      "see <a href='../x?a=1&amp;b=2#y'>the <i>page</i></a>.",
      "see [the page](https://example.com/x?a=1&b=2#y).",
    ],
    ["<a href='javascript:alert(1)'>x</a> <a href=#top>y</a> <a href='mailto:a@b.c'>z</a>", "x y z"],
    ["<a href='https://example.com/'>https://example.com/</a>", "https://example.com/"],
    ["<a href=/big><h2>A</h2><p>B</p></a>", "## A\n\nB"],
    ["<pre>  if x:\n\n\n    y</pre>", "```\n  if x:\n\n    y\n```"],
    ["use <code>a  b</code> now", "use `a b` now"],
    ["<blockquote>said <p>twice</p></blockquote>after", "> said\n\n> twice\n\nafter"],
    ["<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p><td>2</tr></table>", "a | b\n1 | 2"],
    ["<img src=x alt='a cat'><img src=y>", "[image: a cat]"],
    ["a<hr>b", "a\n\n---\n\nb"],
    ["1 &lt; 2 &#x1F600;", "1 < 2 😀"],
    ["", ""],
  ])("%s", (html, text) => expect(markdown(html)).toBe(text));

  test("without hidden parts", () => {
    const unseen = [
      "<script>evil()</script>",
      "<style>p{}</style>",
      "<noscript>evil</noscript>",
      "<template><p>evil</p></template>",
      "<svg><title>evil</title><text>evil</text></svg>",
      "<p hidden>evil</p>",
      "<div style='DISPLAY : none'><p>evil</p></div>",
      "<span style='font-size:0px'>evil</span>",
      "<div aria-hidden=true>evil</div>",
      "<select><option>evil</select><button>evil</button>",
      "<!-- evil -->",
      "<nav>evil</nav>",
    ].join("");
    expect(markdown(`<p>a</p>${unseen}<p>b</p>`)).toBe("a\n\nb");
    expect(markdown("<p style='font-size:0.9em'>small</p>")).toBe("small");
  });

  test("only the main part, if it has a text", () => {
    const long = "word ".repeat(60).trim();
    expect(markdown(`<header>Menu</header><main><p>${long}</p></main><div>Ad</div>`)).toBe(long);
    expect(markdown("<p>Outside</p><main>short</main>")).toBe("Outside\n\nshort");
  });

  test("a page with nothing but navigation is still read", () => {
    expect(markdown("<nav><a href=/a>A</a></nav>")).toBe("[A](https://example.com/a)");
  });

  test("the title", () => {
    const html = "<head><title>\n The &amp; title </title></head><body>x<svg><title>no</title></svg></body>";
    expect(htmlToMarkdown(html, url, 100)).toEqual({ title: "The & title", text: "x" });
  });

  test("a page that tries to be slow or huge is not", { timeout: 60_000 }, () => {
    const hostile = {
      deep: "<b>".repeat(1_000_000),
      "deep and closed": `${"<div>".repeat(300_000)}x${"</div>".repeat(300_000)}`,
      lists: "<ul><li>".repeat(300_000),
      attributes: `<a ${"x".repeat(10)}${Array.from({ length: 300_000 }, (_, n) => ` a${n}=1`).join("")}>`,
      links: "<a href=/x>y</a> ".repeat(100_000),
      blanks: `<pre>${" ".repeat(1_000_000)}x</pre>`,
      unclosed: "<".repeat(1_000_000),
      entities: "&amp".repeat(300_000),
      comment: `<!--${"-".repeat(1_000_000)}`,
    };
    for (const [name, html] of Object.entries(hostile)) {
      const start = performance.now();
      expect(htmlToMarkdown(html, url, 100_000).text.length, name).toBeLessThan(1_100_000);
      expect(performance.now() - start, name).toBeLessThan(5_000);
    }
  });

  test("any input gives a text", () => {
    const tags = fc.constantFrom(
      "<p>",
      "</p>",
      "<ul>",
      "<li>",
      "</ul>",
      "<table>",
      "<td>",
      "</table>",
      "<a href=/x>",
      "</a>",
      "<pre>",
      "</pre>",
      "<main>",
      "</main>",
      "<title>",
      "<blockquote>",
      "</div>",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(tags, fc.string())), (parts) => {
        const { text } = htmlToMarkdown(parts.join(""), url, 10_000);
        expect(text).not.toMatch(/\n{3}/);
        expect(text).toBe(text.trim());
      }),
    );
  });
});

describe("the text of a page", () => {
  test.each([
    ["header", latin1("gr\xf6\xdfe"), "text/plain; charset=ISO-8859-1"],
    ["header in quotes", latin1("gr\xf6\xdfe"), 'text/plain;charset="windows-1252"'],
    ["meta", latin1("<meta charset=latin1><p>gr\xf6\xdfe"), "text/html"],
    [
      "meta http-equiv",
      latin1("<meta http-equiv=x content='text/html; charset=iso-8859-1'><p>gr\xf6\xdfe"),
      "text/html",
    ],
    [
      "byte order mark",
      new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode("größe")]),
      "text/plain; charset=latin1",
    ],
    ["UTF-16", new Uint8Array([0xff, 0xfe, ...Buffer.from("größe", "utf16le")]), "text/plain"],
    ["none", "größe", "text/plain"],
    ["a name that nobody knows", "größe", "text/plain; charset=klingon"],
    ["no type at all", "größe", ""],
  ])("charset by %s", (_, body, type) => expect(page(body, type)).toBe("größe"));

  test("JSON is indented; invalid JSON is unchanged", () => {
    expect(page('{"a":[1]}', "application/ld+json; charset=utf-8")).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(page('{"a":', "application/json")).toBe('{"a":');
  });

  test("plain text is unchanged", () => {
    expect(page("a  <b>\r\n\n\nb", "text/plain")).toBe("a  <b>\n\n\nb");
    expect(page("<!DOCTYPE html><p>a", "")).toBe("a");
  });

  test.each([
    ["image/png", "x"],
    ["application/pdf", "%PDF"],
    ["application/octet-stream", "x"],
    ["text/plain", "a\0b"],
    ["", "\0\x01"],
  ])("%s is not text: %j", (type, body) => expect(page(body, type)).toMatch(/^not text/));

  test("characters that hide or reverse a text are dropped; letters of other scripts stay", () => {
    expect(page("a\u202eb\u0007c\u200bd\u{e0041}\u{e0042}e", "text/plain")).toBe("abcde");
    expect(page("می\u200cخواهم 👩\u200d🔬 नमस्ते", "text/plain")).toBe("می\u200cخواهم 👩\u200d🔬 नमस्ते");
  });
});

describe("a part of a text", () => {
  test("names the start of the next part", () => {
    expect(partOf("abcdef", 0, 4, 100)).toEqual({ text: "abcd", next: 4, total: 6 });
    expect(partOf("abcdef", 4, 4, 100)).toEqual({ text: "ef", total: 6 });
    expect(partOf("abc", 5, 4, 100)).toEqual({ text: "", total: 3 });
  });

  test("never splits a character, and all parts together are the whole", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 4, max: 30 }), (text, bytes) => {
        let whole = "";
        for (let at: number | undefined = 0; at !== undefined; ) {
          const part = partOf(text, at, 20, bytes);
          expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(bytes);
          expect(part.text).toBe(part.text.toWellFormed());
          whole += part.text;
          at = part.next;
        }
        expect(whole).toBe(text);
      }),
    );
  });
});
