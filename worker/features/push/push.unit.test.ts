/** Messages of Web Push, against a receiver that is written apart with node:crypto. */
import { expect, test } from "vitest";
import { checkVapid, openPush, TestReceiver } from "../../../test/push-receiver.ts";
import { arePushKeys, encryptPush } from "./encrypt.ts";
import { newVapidPair, vapidHeader } from "./vapid.ts";

const NOW = Date.UTC(2027, 10, 23, 8, 0);
const ENDPOINT = "https://push.example.org/send/one";

test("the receiver opens the example of RFC 8291", () => {
  const receiver = new TestReceiver({
    privateKey: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  });
  expect(receiver.keys.p256dh).toBe(
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  );
  const body = Buffer.from(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
    "base64url",
  );
  expect(openPush(receiver, body)).toBe("When I grow up, I want to be a watermelon");
});

test("a message is opened by its receiver, each time with other keys", async () => {
  const receiver = new TestReceiver();
  const text = "⚠ Freezer too warm: −11.4 °C";
  const [one, two] = [await encryptPush(text, receiver.keys), await encryptPush(text, receiver.keys)];
  expect(openPush(receiver, one)).toBe(text);
  expect(openPush(receiver, two)).toBe(text);
  expect(one).not.toEqual(two);
});

test("the largest message makes a body of 4,096 bytes", async () => {
  const receiver = new TestReceiver();
  const body = await encryptPush("x".repeat(3_993), receiver.keys);
  expect(body).toHaveLength(4_096);
  expect(openPush(receiver, body)).toHaveLength(3_993);
});

test("another receiver cannot open it", async () => {
  const body = await encryptPush("secret", new TestReceiver().keys);
  expect(() => openPush(new TestReceiver(), body)).toThrow();
});

test("keys off the curve and short secrets are refused", async () => {
  const { keys } = new TestReceiver();
  expect(await arePushKeys(keys)).toBe(true);
  expect(await arePushKeys({ ...keys, auth: "AAAA" })).toBe(false);
  const off = Buffer.from(keys.p256dh, "base64url");
  off[40] = (off[40] ?? 0) ^ 1;
  expect(await arePushKeys({ ...keys, p256dh: off.toString("base64url") })).toBe(false);
  expect(await arePushKeys({ ...keys, p256dh: "!" })).toBe(false);
});

test("the gateway names itself by a signature that the push service checks", async () => {
  const pair = await newVapidPair();
  const header = await vapidHeader(pair, ENDPOINT, "mailto:anna@example.org", NOW);
  expect(checkVapid(header, ENDPOINT, NOW)).toBe(pair.publicKey);
  expect(() => checkVapid(header, "https://other.example.org/x", NOW)).toThrow("aud");
  expect(() => checkVapid(header, ENDPOINT, NOW + 13 * 3_600_000)).toThrow("exp");
  const other = await newVapidPair();
  const forged = header.replace(pair.publicKey, other.publicKey);
  expect(() => checkVapid(forged, ENDPOINT, NOW)).toThrow("signature");
});
