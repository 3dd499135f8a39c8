/** The tokens and settings of the attacked homes, and the senders of the chat platforms. */
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { TOKENS, testVars } from "../tokens.ts";

export { TOKENS, testVars };

export const SECRETS = {
  telegram: "hostile-webhook-secret-of-telegram",
  slack: "hostile-signing-secret-of-slack",
  whatsapp: "hostile-app-secret-of-whatsapp",
  verify: "hostile-verify-token-of-whatsapp",
  generic: "hostile-bearer-token-of-the-door",
};
const standardKey = Buffer.alloc(24, "k");
const discord = generateKeyPairSync("ed25519");
const publicKey = discord.publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("hex");

/** A device of home a with a registered key, so it may use the relay. */
export const DEVICE = "paired";
const deviceKeys = generateKeyPairSync("ed25519");
export const DEVICE_KEY = deviceKeys.publicKey
  .export({ type: "spki", format: "der" })
  .subarray(-32)
  .toString("base64url");
const strangerKeys = generateKeyPairSync("ed25519");

/** Makes a relay token, signed by that device or by a stranger. */
export function relayToken(claims: unknown, by: "device" | "stranger"): string {
  const body = Buffer.from(JSON.stringify(claims) ?? "").toString("base64url");
  const { privateKey } = by === "device" ? deviceKeys : strangerKeys;
  return `${body}.${sign(null, Buffer.from(`edgecall relay token v1\n${body}`), privateKey).toString("base64url")}`;
}

/** The only Telegram user who may speak; all others are strangers. */
export const KNOWN_SENDER = 7;

/**
 * @param platform the address of the server that plays every platform. @param model the endpoint that must not receive
 * requests
 */
export function worldVars(platform: string, model: string): Record<string, string> {
  const base = { connection: "c", home: "a", base_url: platform };
  const channels = [
    {
      ...base,
      channel: "telegram",
      token: "1:hostile-token",
      secret: SECRETS.telegram,
      allow: [String(KNOWN_SENDER)],
    },
    { ...base, channel: "slack", token: "xoxb-hostile", secret: SECRETS.slack },
    { ...base, channel: "discord", token: "hostile-token-of-discord", public_key: publicKey },
    {
      ...base,
      channel: "whatsapp",
      token: "hostile-token-of-whatsapp",
      secret: SECRETS.whatsapp,
      verify_token: SECRETS.verify,
      phone_number_id: "111",
    },
    { connection: "c", home: "a", channel: "generic", secret: SECRETS.generic, allow: ["*"] },
    {
      connection: "signed",
      home: "a",
      channel: "generic",
      secret: `whsec_${standardKey.toString("base64")}`,
      allow: ["*"],
    },
  ];
  return {
    ...testVars,
    CHANNELS: JSON.stringify(channels),
    LLM_BASE_URL: model,
    GATEWAY_TOOLS: "rules",
    PUBLIC_URL: "https://gateway.example",
    CORS_ORIGINS: "https://chat.example.org",
  };
}

/** Headers that a platform could really have sent with a body, for each platform. */
export const SIGNED = {
  telegram: () => ({ "x-telegram-bot-api-secret-token": SECRETS.telegram }),
  slack(body: Buffer, at: number) {
    const mac = createHmac("sha256", SECRETS.slack).update(`v0:${at}:`).update(body).digest("hex");
    return { "x-slack-request-timestamp": String(at), "x-slack-signature": `v0=${mac}` };
  },
  discord(body: Buffer, at: number) {
    const signature = sign(null, Buffer.concat([Buffer.from(String(at)), body]), discord.privateKey).toString(
      "hex",
    );
    return { "x-signature-timestamp": String(at), "x-signature-ed25519": signature };
  },
  whatsapp: (body: Buffer) => ({
    "x-hub-signature-256": `sha256=${createHmac("sha256", SECRETS.whatsapp).update(body).digest("hex")}`,
  }),
  generic: () => ({ authorization: `Bearer ${SECRETS.generic}` }),
  signed(body: Buffer, at: number) {
    const mac = createHmac("sha256", standardKey).update(`d1.${at}.`).update(body).digest("base64");
    return { "webhook-id": "d1", "webhook-timestamp": String(at), "webhook-signature": `v1,${mac}` };
  },
} satisfies Record<string, (body: Buffer, at: number) => Record<string, string>>;

export type Sender = keyof typeof SIGNED;
export const SENDERS = Object.keys(SIGNED) as Sender[];

export function webhookPath(sender: Sender): string {
  return sender === "signed" ? "/webhooks/generic/signed" : `/webhooks/${sender}/c`;
}
