/** What the hub has for becoming a gateway: the unpacked archive, its settings, and a way to Telegram. */
import { BOT_TOKEN } from "../platforms/telegram.ts";
import type { MachineOptions } from "./machine.ts";

/** Not with our name in its path: at the end nothing with that name may be left. */
export const ARCHIVE = "/srv/gateway";
export const SETTINGS = "/etc/home-gateway.env";
/** The chat of the home's owner. */
export const OWNER = 1001;
const TELEGRAM_PORT = 8081;

/** Another address of a platform's API has to be https, or on the machine itself. */
const TELEGRAM_SOCKET = `[Socket]
ListenStream=127.0.0.1:${TELEGRAM_PORT}
[Install]
WantedBy=sockets.target
`;
const telegramUnit = (url: string) => `[Service]
ExecStart=/lib/systemd/systemd-socket-proxyd ${new URL(url).host}
`;

export function homeGatewayFiles(options: {
  folder: string;
  modelUrl: string;
  telegramUrl: string;
}): Pick<MachineOptions, "files" | "services"> {
  const channel = {
    connection: "family",
    channel: "telegram",
    home: "home",
    token: BOT_TOKEN,
    secret: "test-webhook-secret-of-telegram",
    base_url: `http://127.0.0.1:${TELEGRAM_PORT}`,
    role_of: { [OWNER]: "owner" },
  };
  const settings = {
    HOST: "0.0.0.0",
    LLM_BASE_URL: options.modelUrl,
    LLM_MODEL: "scripted",
    CHANNELS: JSON.stringify([channel]),
  };
  return {
    services: ["telegram.socket"],
    files: {
      // A device that already has Node, like most with one of the last two Debians.
      "/usr/local/bin/node": { bind: process.execPath },
      [ARCHIVE]: { bind: options.folder },
      [SETTINGS]: {
        text: Object.entries(settings)
          .map(([name, value]) => `${name}='${value}'\n`)
          .join(""),
      },
      "/etc/systemd/system/telegram.socket": { text: TELEGRAM_SOCKET },
      "/etc/systemd/system/telegram.service": { text: telegramUnit(options.telegramUrl) },
    },
  };
}
