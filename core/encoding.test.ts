import { expect, test } from "vitest";
import { fromHex, toBase64, toBase64Url, toHex, tryFromBase64, tryFromBase64Url } from "./encoding.ts";

const BYTES = Uint8Array.from({ length: 256 }, (_, n) => n);

test("bytes come back from hex, base64 and base64url", () => {
  expect(fromHex(toHex(BYTES))).toEqual(BYTES);
  expect(fromHex("00fF")).toEqual(Uint8Array.of(0, 255));
  expect(tryFromBase64(toBase64(BYTES))).toEqual(BYTES);
  expect(tryFromBase64Url(toBase64Url(BYTES))).toEqual(BYTES);
});

test.each(["0", "0g", "00 ", "0x00"])("%j is not hex", (text) => {
  expect(fromHex(text)).toBeUndefined();
});

test.each(["a", "a$==", "====="])("%j is not base64", (text) => {
  expect(tryFromBase64(text)).toBeUndefined();
  expect(tryFromBase64Url(text)).toBeUndefined();
});
