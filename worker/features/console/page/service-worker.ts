/** The page's service worker, which shows notifications when no page is open. */
import { client } from "./api.ts";
import { language } from "./texts/say.ts";

/** Asks the person, subscribes this browser, and tells the gateway. @param key of the gateway @throws an error in words for people */
export async function subscribe(key: string): Promise<void> {
  if (!("serviceWorker" in navigator) || !("PushManager" in window))
    throw new Error(
      "This browser takes no notifications. On an iPhone, add the page to the home screen first.",
    );
  if ((await Notification.requestPermission()) !== "granted")
    throw new Error("This browser is not allowed to show notifications; its settings for this page say so.");
  const registration = await register();
  const subscription = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: key,
  });
  const { endpoint, keys } = subscription.toJSON();
  const [p256dh = "", auth = ""] = [keys?.p256dh, keys?.auth];
  const name = browserName();
  await client.json("POST /v1/push/browsers", {
    body: { endpoint: endpoint ?? "", keys: { p256dh, auth }, name, language: language() },
  });
}

const SCRIPT = "/sw.js";
/** A policy of a name can be made once. */
let scriptUrl: string | undefined;

/** Not every browser has Trusted Types, nor do the compiler's types. */
type TrustedWindow = Window & {
  trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL(): string },
    ): { createScriptURL(text: string): string };
  };
};

/** The page's only Trusted Types policy, which knows one address. */
async function register(): Promise<ServiceWorkerRegistration> {
  scriptUrl ??=
    (window as TrustedWindow).trustedTypes
      ?.createPolicy("sw", { createScriptURL: () => SCRIPT })
      .createScriptURL(SCRIPT) ?? SCRIPT;
  await navigator.serviceWorker.register(scriptUrl);
  return await navigator.serviceWorker.ready;
}

function browserName(): string {
  const agent = navigator.userAgent;
  const browser = ["Firefox", "Edg", "Chrome", "Safari"].find((one) => agent.includes(one)) ?? "Browser";
  const system = ["Android", "iPhone", "iPad", "Windows", "Mac", "Linux"].find((one) => agent.includes(one));
  return `${browser === "Edg" ? "Edge" : browser}${system ? ` on ${system}` : ""}`;
}
