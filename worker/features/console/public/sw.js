// Shows what rules say, and what waits for a yes or no, as notifications, also when no page is open. The button of a rule answers with
// the session of this browser; that of a question has a link of its own.
const HEADERS = { "content-type": "application/json", "x-edgecall-console": "1" };
/** Browsers that show fewer buttons show none: a tap opens the page. */
const HAS_BUTTONS = (Notification.maxActions ?? 0) >= 2;

addEventListener("install", () => skipWaiting());

addEventListener("push", (event) => {
  const message = event.data.json();
  event.waitUntil(message.over ? takeBack(message.id) : notify(message));
});

async function notify({ id, text, critical, conversation, question, buttons }) {
  const [title, ...lines] = text.split("\n");
  await registration.showNotification(title, {
    body: lines.join("\n"),
    // A message that comes again replaces itself.
    tag: id,
    renotify: critical,
    requireInteraction: critical,
    icon: "/icon-192.png",
    data: { conversation, question, buttons },
    actions: HAS_BUTTONS ? buttons.map(({ label }, at) => ({ action: String(at), title: label })) : [],
  });
}

/** It was decided elsewhere, or nobody needs to any more. */
async function takeBack(id) {
  for (const notification of await registration.getNotifications({ tag: id })) notification.close();
}

addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  notification.close();
  const { conversation, question, buttons } = notification.data;
  // A passkey is let or ended in a chat, or with more than this session.
  const ofPasskey = buttons[0]?.rule?.startsWith("p-") ? "/#/setup/passkeys" : undefined;
  const ofRule = ofPasskey ?? (conversation ? `/#/chat/${conversation}` : "/#/rules");
  const place = question ? `/#/waiting/${question}` : ofRule;
  const button = buttons[Number(action)];
  if (action === "") event.waitUntil(show(place));
  else
    event.waitUntil((button.link ? pressLink(notification, button) : press(button)).catch(() => show(place)));
});

async function press({ rule, do: what, occurrence }) {
  await post(`/v1/rules/${rule}/press`, {
    headers: HEADERS,
    body: JSON.stringify({ do: what, occurrence }),
  });
}

/** A press that comes too late shows what happened. */
async function pressLink({ tag, title }, { link }) {
  const { done, text } = await (await post(link, {})).json();
  if (!done)
    await registration.showNotification(title, {
      body: text,
      tag,
      silent: true,
      icon: "/icon-192.png",
      data: { buttons: [] },
    });
}

async function post(path, request) {
  const response = await fetch(path, { method: "POST", ...request });
  if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
  return response;
}

async function show(place) {
  const [page] = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!page) return await clients.openWindow(place);
  await page.focus();
  page.postMessage({ place });
}
