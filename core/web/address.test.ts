import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkUrl, isAllowedAddress, readAllowedRanges } from "./address.ts";

describe("an address", () => {
  test.each([
    // of this host, its network, its provider
    "127.255.255.254",
    "10.0.0.1",
    "192.168.178.1",
    "100.64.0.1",
    "192.0.0.192",
    "203.0.113.5",
    "224.0.0.1",
    "240.0.0.1",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "3fff::1",
    "100::1",
    // an IPv4 address within
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "2002:c0a8:0101::1",
    "2001:0:7f00:1:8000:63bf:f7f6:fefe",
    "2a00:1450::5efe:10.0.0.1",
    "2a00:1450::200:5efe:10.0.0.1",
    // never assigned
    "4000::1",
    // not an address, or only for a lax parser
    "",
    "127.1",
    "0177.0.0.1",
    "8.8.8.8.",
    "2130706433",
    "example.com",
  ])("%s is refused", (address) => expect(isAllowedAddress(address)).toBe(false));

  test.each([
    "8.8.8.8",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:0808:0808::1",
    "2a00:1450:4001:80b::200e",
    "2606:4700:4700::1111",
    "2a00:1450::5efe:8.8.8.8",
  ])("%s is public", (address) => expect(isAllowedAddress(address)).toBe(true));

  test("an address in the owner's list is allowed, and its neighbours are not", () => {
    const ranges = readAllowedRanges(["198.18.0.0/15", " 127.0.0.1 ", "fd00::/8"]);
    if (!ranges.ok) throw new Error(ranges.error);
    const allowed = (address: string) => isAllowedAddress(address, ranges.value);
    expect(["198.19.255.255", "::ffff:198.18.0.1", "127.0.0.1", "fd00::1"].filter(allowed)).toHaveLength(4);
    expect(["198.20.0.1", "127.0.0.2", "fc00::1", "10.0.0.1"].filter(allowed)).toEqual(["198.20.0.1"]);
    expect(checkUrl("http://127.0.0.1:8080/", ranges.value).ok).toBe(true);
  });

  test.each(["not-an-ip", "10.0.0.0/33", "10.0.0.0/", "1/2/3", "fe80::1%eth0", ""])(
    "%j is not a range",
    (entry) => {
      const read = readAllowedRanges(["8.8.8.8", entry]);
      expect(read).toEqual({ ok: false, error: expect.stringContaining(`got '${entry}'`) });
    },
  );
});

describe("a URL", () => {
  test.each([
    ["http://2130706433/", "private_address"],
    ["http://①②⑦.0.0.1/", "private_address"],
    ["http://0x7f000001/", "private_address"],
    ["http://0177.0.0.1/", "private_address"],
    ["http://localhost./", "private_address"],
    ["http://localhost../", "private_address"],
    ["http://LOCALHOST/", "private_address"],
    ["http://127.0.0.1./", "private_address"],
    ["http://[::ffff:7f00:1]/", "private_address"],
    ["http://[::]/", "private_address"],
    ["http://router/", "private_address"],
    ["http://printer.local/", "private_address"],
    ["http://nas.home.arpa/", "private_address"],
    ["http://metadata.google.internal/", "private_address"],
    ["http://a.lan./", "private_address"],
    ["https:///127.0.0.1/", "private_address"],
    ["http:\\\\127.0.0.1\\", "private_address"],
    ["ftp://example.com/", "unsupported_scheme"],
    ["javascript:alert(1)", "unsupported_scheme"],
    ["data:text/html,x", "unsupported_scheme"],
    ["blob:https://example.com/x", "unsupported_scheme"],
    ["//example.com/", "invalid_params"],
    ["http://", "invalid_params"],
    ["http://exa mple.com/", "invalid_params"],
    ["https://user@example.com/", "invalid_params"],
    ["http://example.com:25/", "blocked"],
    ["http://example.com:22/", "blocked"],
  ])("%s is refused: %s", (url, code) => expect(checkUrl(url)).toMatchObject({ ok: false, code }));

  test("is refused when it is extremely long", () => {
    expect(checkUrl(`https://example.com/${"x".repeat(5_000)}`)).toMatchObject({ code: "invalid_params" });
  });

  test("is returned in its canonical form", () => {
    const href = (url: string, base?: string) => {
      const checked = checkUrl(url, [], base === undefined ? undefined : new URL(base));
      return checked.ok ? checked.url.href : checked.code;
    };
    expect(href("HTTPS://Example.COM.:443/a#part")).toBe("https://example.com/a");
    expect(href("http://example.com:8080/")).toBe("http://example.com:8080/");
    expect(href("../b?c", "https://example.com/a/x")).toBe("https://example.com/b?c");
    expect(href("//10.0.0.1/", "https://example.com/")).toBe("private_address");
  });

  test("a refusal never quotes the address", () => {
    for (const url of [
      "https://user:s3cret@example.com/",
      "https://user:s3cret@",
      "ftp://user:s3cret@example.com/",
    ])
      expect(JSON.stringify(checkUrl(url))).not.toContain("s3cret");
  });

  test("any text is judged without an exception", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.ipV4Extended(), fc.ipV6()), (text) => {
        for (const url of [text, `http://${text}/`, `http://[${text}]/`]) {
          const checked = checkUrl(url);
          if (checked.ok) expect(checked.url.protocol).toMatch(/^https?:$/);
        }
        isAllowedAddress(text);
      }),
      { numRuns: 50 },
    );
  });

  test("no notation hides an IPv4 address in a private range", () => {
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(fc.constantFrom(10, 127, 0, 224, 240), octet, octet, octet, (a, b, c, d) => {
        const plain = `${a}.${b}.${c}.${d}`;
        const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
        const number = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
        for (const host of [
          plain,
          String(number),
          `0x${number.toString(16)}`,
          `[::ffff:${plain}]`,
          `[64:ff9b::${plain}]`,
          `[2002:${hex(a, b)}:${hex(c, d)}::1]`,
          `[2a00:1450::5efe:${plain}]`,
          `[::${plain}]`,
        ])
          expect(checkUrl(`http://${host}/`).ok, host).toBe(false);
      }),
    );
  });
});
