// @module-tag needs/web-push-python
/** Messages of Web Push, opened and checked by programs of others: http_ece and PyJWT, as published on PyPI. */
import { spawnSync } from "node:child_process";
import { createECDH, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { PYTHON_CLIENTS } from "../../../test/needs.ts";
import { encryptPush } from "./encrypt.ts";
import { newVapidPair, vapidHeader } from "./vapid.ts";

const PROGRAM = fileURLToPath(new URL("../../../test/clients/push_receiver.py", import.meta.url));
const ENDPOINT = "https://push.example.org/send/one";
const TEXTS = [
  "",
  "x",
  "⚠ Freezer too warm: −11.4 °C 💥",
  JSON.stringify({ text: "é".repeat(900) }),
  "y".repeat(3_993),
];

function browser() {
  const ecdh = createECDH("prime256v1");
  ecdh.generateKeys();
  const auth = randomBytes(16).toString("base64url");
  // With its leading zeros.
  const privateKey = Buffer.from(ecdh.getPrivateKey("hex").padStart(64, "0"), "hex").toString("base64url");
  return { privateKey, keys: { p256dh: ecdh.getPublicKey("base64url"), auth } };
}

function receive(asked: object) {
  const { stdout, stderr } = spawnSync(PYTHON_CLIENTS, [PROGRAM], {
    input: JSON.stringify(asked),
    encoding: "utf8",
  });
  return { answer: stdout === "" ? undefined : JSON.parse(stdout), problem: stderr };
}

test("http_ece opens every message, and PyJWT accepts the sender for this push service alone", async () => {
  const { privateKey, keys } = browser();
  const bodies = await Promise.all(
    TEXTS.map(async (text) => Buffer.from(await encryptPush(text, keys)).toString("base64url")),
  );
  const authorization = await vapidHeader(
    await newVapidPair(),
    ENDPOINT,
    "mailto:anna@example.org",
    Date.now(),
  );
  const asked = {
    private_key: privateKey,
    auth: keys.auth,
    bodies,
    authorization,
    audience: "https://push.example.org",
  };
  expect(receive(asked).answer).toEqual({ texts: TEXTS, subject: "mailto:anna@example.org" });
  expect(receive({ ...asked, audience: "https://other.example.org" }).problem).toContain(
    "InvalidAudienceError",
  );
  expect(receive({ ...asked, private_key: browser().privateKey }).problem).toContain("ECEException");
  const forged = authorization.replace(/k=.*/, `k=${(await newVapidPair()).publicKey}`);
  expect(receive({ ...asked, authorization: forged }).problem).toContain("InvalidSignatureError");
});
