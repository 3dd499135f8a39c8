/** The manifest of our Slack app, and the address of Slack's page that uses it. Pure. */

/** @param webhook the address that gets its deliveries */
export function slackManifest(webhook: string) {
  return {
    display_information: { name: "edgecall", description: "Ask the devices at home" },
    features: {
      app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: "edgecall", always_online: true },
    },
    oauth_config: {
      scopes: {
        bot: [
          "chat:write",
          "im:history",
          "channels:history",
          "groups:history",
          "app_mentions:read",
          "files:read",
          "files:write",
        ],
      },
    },
    settings: {
      event_subscriptions: { request_url: webhook, bot_events: ["app_mention", "message.im"] },
      interactivity: { is_enabled: true, request_url: webhook },
      socket_mode_enabled: false,
    },
  };
}

export function slackLink(webhook: string): string {
  const manifest = JSON.stringify(slackManifest(webhook));
  return `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(manifest)}`;
}
