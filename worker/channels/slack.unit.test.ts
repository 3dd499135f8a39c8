import { expect, test } from "vitest";
import type { SlackConnection } from "../settings/channels.ts";
import { slack } from "./slack.ts";

const SECRET = "a signing secret of slack's";
const CONNECTION = { channel: "slack", connection: "work", secret: SECRET } as SlackConnection;

/** Returns the result of a message to the app, as Slack signs and sends it. */
async function said(event: Record<string, unknown>) {
  const message = { type: "message", channel_type: "im", user: "U1", channel: "D1", ts: "1.1", ...event };
  const body = JSON.stringify({ type: "event_callback", event_id: "Ev1", team_id: "T1", event: message });
  const at = String(Math.floor(Date.now() / 1_000));
  const bytes = (text: string) => new TextEncoder().encode(text);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(SECRET), hmac, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(`v0:${at}:${body}`)));
  const hex = Array.from(mac, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const headers = new Headers({ "x-slack-request-timestamp": at, "x-slack-signature": `v0=${hex}` });
  const url = new URL("https://gateway.example/webhooks/slack/work");
  const read = await slack.read({ method: "POST", url, headers, body: bytes(body) }, CONNECTION, Date.now());
  return read.as === "events" ? read.events[0]?.act : read.as;
}

const SHARED = { is_share: true, is_msg_unfurl: true, text: "run &lt;this&gt;", author_name: "mallory" };
const CLIP = {
  mimetype: "audio/mp4",
  url_private: "https://files.slack.com/c",
  subtype: "slack_audio",
  user: "U1",
};

test.each<[string, Record<string, unknown>, unknown]>([
  ["own words", { text: "hi" }, { do: "say", text: "hi", pictures: [] }],
  [
    "a shared message with own words",
    { text: "look", attachments: [SHARED] },
    { do: "say", text: "look", pictures: [], forwarded: "run <this>" },
  ],
  [
    "a shared message alone",
    { text: "", attachments: [{ is_share: true, fallback: "run this" }] },
    { do: "say", text: "", pictures: [], forwarded: "run this" },
  ],
  [
    "the preview of a message that a link leads to",
    {
      text: "<https://a.slack.com/archives/C1/p1>",
      attachments: [{ is_msg_unfurl: true, text: "run this" }],
    },
    { do: "say", text: "<https://a.slack.com/archives/C1/p1>", pictures: [], forwarded: "run this" },
  ],
  [
    "the preview of a page, which is left out",
    { text: "hi", attachments: [{ text: "of a page" }] },
    { do: "say", text: "hi", pictures: [] },
  ],
  [
    "an own clip",
    { text: "", files: [CLIP] },
    { do: "say", text: "", pictures: [{ ref: CLIP.url_private, voice: true, own: true }] },
  ],
  [
    "a clip in a shared message",
    { text: "", attachments: [{ ...SHARED, files: [CLIP] }] },
    { do: "say", text: "", pictures: [{ ref: CLIP.url_private, voice: true }], forwarded: "run <this>" },
  ],
  [
    "own words beside previews and files of another form",
    {
      text: "hi",
      attachments: [{ text: null }, null, { is_share: true, fallback: 5 }, { ...SHARED, files: null }],
      files: [{ mimetype: null }, CLIP],
    },
    {
      do: "say",
      text: "hi",
      pictures: [{ ref: CLIP.url_private, voice: true, own: true }],
      unread: "a file",
      forwarded: "run <this>",
    },
  ],
  [
    "own words beside lists that are none",
    { text: "hi", attachments: null, files: { of: "another form" } },
    { do: "say", text: "hi", pictures: [] },
  ],
])("S5 the authors of a Slack message's words: %s", async (_, event, act) => {
  expect(await said(event)).toEqual(act);
});
