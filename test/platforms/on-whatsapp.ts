/** A person on WhatsApp. */

import { common, numbers, OWNER, type Person, type Post, timed } from "./person.ts";
import {
  FakeWhatsApp,
  PHONE,
  WHATSAPP_SECRET,
  WHATSAPP_TOKEN,
  WHATSAPP_VERIFY,
  whatsappHeaders,
} from "./whatsapp.ts";

export async function onWhatsApp(post: Post): Promise<Person & { fake: FakeWhatsApp }> {
  const next = numbers();
  const fake = await FakeWhatsApp.start();
  const send = async (message: Record<string, unknown>, from: string, chat = from) => {
    const value = {
      metadata: { phone_number_id: PHONE },
      contacts: [{ wa_id: from, profile: { name: `P ${from}` } }],
      messages: [{ from, timestamp: "1", ...message }],
    };
    const body = JSON.stringify({ entry: [{ changes: [{ value }] }] });
    const before = fake.chat(from).length;
    const said = await timed(
      post,
      "whatsapp",
      body,
      whatsappHeaders(body),
      () => undefined,
      () => fake.chat(chat),
    );
    return Object.defineProperty(said, "words", { get: () => fake.chat(from)[before]?.text });
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
      base_url: fake.server.url,
    },
    textMax: 4_096,
    buttons: true,
    say(text, from, { delivery, picture } = {}) {
      const said = picture
        ? { type: "image", image: { id: "777", caption: text } }
        : { type: "text", text: { body: text } };
      return send({ id: `wamid.${delivery ?? next()}`, ...said }, from);
    },
    press: (data, from) =>
      send(
        { id: `wamid.p${next()}`, type: "interactive", interactive: { button_reply: { id: data } } },
        from,
        OWNER,
      ),
    async forged() {
      const headers = whatsappHeaders("{}", "another secret");
      return (await post("/webhooks/whatsapp/family", { method: "POST", headers, body: "{}" })).status;
    },
    limit: () => fake.limit(),
  };
}
