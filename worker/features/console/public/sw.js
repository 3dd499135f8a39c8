// Shows what rules say as notifications, also when no page is open. A press on a button answers with the session of this browser.
const HEADERS = { "content-type": "application/json", "x-edgecall-console": "1" };

addEventListener("install", () => skipWaiting());

addEventListener("push", (event) => {
  const { id, text, critical, conversation, buttons } = event.data.json();
  const [title, ...lines] = text.split("\n");
  const shown = registration.showNotification(title, {
    body: lines.join("\n"),
    // A message that comes again replaces itself.
    tag: id,
    requireInteraction: critical,
    icon: "/icon-192.png",
    data: { conversation, buttons },
    actions: buttons.map(({ label }, at) => ({ action: String(at), title: label })),
  });
  event.waitUntil(shown);
});

addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  notification.close();
  const { conversation, buttons } = notification.data;
  const place = conversation ? `/#/chat/${conversation}` : "/#/rules";
  event.waitUntil(action === "" ? show(place) : press(buttons[Number(action)]).catch(() => show(place)));
});

async function press({ rule, do: what, occurrence }) {
  const response = await fetch(`/v1/rules/${rule}/press`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ do: what, occurrence }),
  });
  if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
}

async function show(place) {
  const [page] = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!page) return await clients.openWindow(place);
  await page.focus();
  page.postMessage({ place });
}
