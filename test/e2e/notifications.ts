/** The notifications that a browser shows, and its service worker, which gets what a push service would deliver. */
import type { CDPSession, Page, Worker } from "playwright-core";
import { until } from "../wait.ts";

export type Shown = { title: string; body: string; actions: string[] };

export class Notifications {
  readonly #page: Page;
  readonly #cdp: CDPSession;
  readonly #origin: string;
  /** The id of the registration. */
  readonly #registered: Promise<string>;
  /** Notifications that the browser has shown, also those that are closed. */
  #shows = 0;

  private constructor(page: Page, cdp: CDPSession, origin: string) {
    this.#page = page;
    this.#cdp = cdp;
    this.#origin = origin;
    this.#registered = new Promise((resolve) =>
      cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [first] }) => {
        if (first) resolve(first.registrationId);
      }),
    );
    cdp.on("BackgroundService.backgroundServiceEventReceived", ({ backgroundServiceEvent }) => {
      if (backgroundServiceEvent.eventName === "Notification displayed") this.#shows += 1;
    });
  }

  /** @param origin of the page that registers the service worker, now or later */
  static async of(page: Page, origin: string): Promise<Notifications> {
    const cdp = await page.context().newCDPSession(page);
    const notifications = new Notifications(page, cdp, origin);
    await cdp.send("ServiceWorker.enable");
    await cdp.send("BackgroundService.setRecording", { service: "notifications", shouldRecord: true });
    await cdp.send("BackgroundService.startObserving", { service: "notifications" });
    return notifications;
  }

  worker(): Promise<Worker> {
    return until<Worker | undefined>(() => this.#page.context().serviceWorkers()[0], { what: "it runs" });
  }

  /** As the push service does. */
  async deliver(message: object): Promise<void> {
    const registrationId = await this.#registered;
    const data = JSON.stringify(message);
    await this.#cdp.send("ServiceWorker.deliverPushMessage", { origin: this.#origin, registrationId, data });
  }

  async shown(): Promise<Shown[]> {
    return await (await this.worker()).evaluate<Shown[]>(
      `registration.getNotifications().then((all) => all.map(({ title, body, actions }) =>
        ({ title, body, actions: actions.map(({ title }) => title) })))`,
    );
  }

  /**
   * Waits until the browser has shown one more. Until then it is not asked: it would take one that it is about to show for one that the
   * person closed, and forget it.
   * @returns all that are shown
   */
  async showing(act: () => Promise<unknown>): Promise<Shown[]> {
    const before = this.#shows;
    await act();
    await until(() => this.#shows > before, { what: "the browser shows it" });
    return await this.shown();
  }

  /** The person presses a button of the first one, or with "" the notification itself. */
  async press(action: string): Promise<void> {
    await (await this.worker()).evaluate(`registration.getNotifications().then(([notification]) =>
      dispatchEvent(new NotificationEvent("notificationclick", { notification, action: "${action}" })))`);
  }
}
