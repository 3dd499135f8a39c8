/** A person on WhatsApp. */

import { common, numbers, OWNER, type Person, type Post, type SentMessage, timed } from "./person.ts";
import {
  FakeWhatsApp,
  PHONE,
  WHATSAPP_SECRET,
  WHATSAPP_TOKEN,
  WHATSAPP_VERIFY,
  whatsappHeaders,
} from "./whatsapp.ts";

const GROUP = "Y2FwaV9ncm91cDox/NT=";

type Batched = {
  fake: FakeWhatsApp;
  deliver(changes: ReadonlyArray<Record<string, unknown>>): Promise<SentMessage>;
};

export async function onWhatsApp(post: Post): Promise<Person & Batched> {
  const next = numbers();
  const fake = await FakeWhatsApp.start();
  const deliver = (values: ReadonlyArray<Record<string, unknown>>, chat: string) => {
    const body = JSON.stringify({ entry: values.map((value) => ({ changes: [{ value }] })) });
    const messages = () => fake.chat(chat);
    return timed(post, "whatsapp", body, whatsappHeaders(body), () => undefined, messages);
  };
  const send = async (message: Record<string, unknown>, from: string, chat = from) => {
    const value = {
      metadata: { phone_number_id: PHONE, display_phone_number: fake.number },
      contacts: [{ wa_id: from, profile: { name: `P ${from}` } }],
      messages: [{ from, timestamp: "1", ...message }],
    };
    const before = fake.chat(from).length;
    const sent = await deliver([value], chat);
    return Object.defineProperty(sent, "words", { get: () => fake.chat(from)[before]?.text });
  };
  return {
    fake,
    channel: "whatsapp",
    server: fake.server,
    settings: {
      ...common("whatsapp"),
      token: WHATSAPP_TOKEN,
      secret: WHATSAPP_SECRET,
      verify_token: WHATSAPP_VERIFY,
      phone_number_id: PHONE,
      groups: "reads",
      base_url: fake.server.url,
    },
    textMax: 4_096,
    buttons: true,
    say(text, from, { delivery, picture, fields, group } = {}) {
      const body = group ? `@${fake.number} ${text}` : text;
      const content = picture
        ? { type: "image", image: { id: "777", caption: text } }
        : (fields ?? { type: "text", text: { body } });
      const place = group ? { group_id: GROUP } : {};
      return send({ id: `wamid.${delivery ?? next()}`, ...place, ...content }, from, group ? GROUP : from);
    },
    press: (data, from, chat = OWNER) =>
      send(
        { id: `wamid.p${next()}`, type: "interactive", interactive: { button_reply: { id: data } } },
        from,
        chat,
      ),
    async forged() {
      const headers = whatsappHeaders("{}", "another secret");
      return (await post("/webhooks/whatsapp/family", { method: "POST", headers, body: "{}" })).status;
    },
    limit: () => fake.limit(),
    deliver: (values) => deliver(values, OWNER),
  };
}
