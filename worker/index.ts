/** The Worker: mounts all routes. Those in WITH_TOKEN need a token. */

import { audit } from "./features/audit/routes.ts";
import { automations } from "./features/automations/routes.ts";
import { backup } from "./features/backup/routes.ts";
import { connections } from "./features/chat/routes/connection-routes.ts";
import { polling } from "./features/chat/routes/polling-route.ts";
import { channels } from "./features/chat/routes/routes.ts";
import { senders } from "./features/chat/routes/senders.ts";
import { consolePage } from "./features/console/routes.ts";
import { devices } from "./features/devices/routes.ts";
import { history } from "./features/history/routes.ts";
import { homeAssistant } from "./features/home-assistant/routes.ts";
import { homeRoutes } from "./features/lending/home-routes.ts";
import { lending } from "./features/lending/routes.ts";
import { mcpDiscovery, mcpRoutes } from "./features/mcp/routes.ts";
import { model } from "./features/model/routes.ts";
import { oauthGrants } from "./features/oauth/routes/manage-routes.ts";
import { oauth } from "./features/oauth/routes/routes.ts";
import { openai } from "./features/openai/routes.ts";
import { deviceCodes, joining } from "./features/pairing/routes.ts";
import { pressed, push } from "./features/push/routes.ts";
import { relay } from "./features/relay/route.ts";
import { clock } from "./features/rules/clock-routes.ts";
import { rules } from "./features/rules/routes.ts";
import { bridgeUpdate } from "./features/updates/bridge-update.ts";
import { programManifest } from "./features/updates/program-manifest.ts";
import { metrics } from "./features/usage/routes.ts";
import { HOME_TOOLS } from "./home.ts";
import { newRoutes } from "./kernel/http/app.ts";
import { requireToken } from "./kernel/http/auth.ts";
import { cors, securityHeaders } from "./kernel/http/browser-headers.ts";
import { answerError, answerNoRoute } from "./kernel/http/errors.ts";
import { tidyPath } from "./kernel/http/tidy-path.ts";
import { traceRequest } from "./kernel/http/trace.ts";
import { agents } from "./kernel/routes/agents.ts";
import { ask } from "./kernel/routes/ask.ts";
import { bridgeSocket } from "./kernel/routes/bridge.ts";
import { commands } from "./kernel/routes/commands.ts";
import { conversations } from "./kernel/routes/conversations.ts";
import { keys } from "./kernel/routes/keys.ts";
import { media, uploads } from "./kernel/routes/media.ts";
import { linkedMedia } from "./kernel/routes/media-links.ts";
import { passkeys } from "./kernel/routes/passkeys.ts";
import { permissions } from "./kernel/routes/permissions.ts";
import { questions } from "./kernel/routes/questions.ts";
import { health, status } from "./kernel/routes/status.ts";
import { tokens } from "./kernel/routes/tokens.ts";
import { turns } from "./kernel/routes/turns.ts";

export { Conversation } from "./conversation.ts";
export { Home } from "./home.ts";

/** These check the caller themselves, by a session, a signature or another kind of token, or serve everybody. */
const CHECKING_THEMSELVES = [
  health,
  bridgeSocket,
  oauth,
  mcpDiscovery,
  uploads,
  linkedMedia,
  relay,
  openai,
  consolePage,
  channels,
  polling,
  joining,
  programManifest,
  homeRoutes,
  pressed,
];

/** `requireToken` has set the caller's token, which names the home. */
const WITH_TOKEN = [
  conversations,
  turns,
  ask,
  media,
  agents,
  devices,
  history,
  rules,
  automations,
  clock,
  commands,
  questions,
  passkeys,
  permissions,
  model,
  homeAssistant,
  keys,
  tokens,
  oauthGrants,
  bridgeUpdate,
  audit,
  metrics,
  backup,
  senders,
  lending,
  deviceCodes,
  connections,
  push,
  mcpRoutes(HOME_TOOLS),
  status,
];

const app = newRoutes();

app.use(traceRequest, securityHeaders, cors);
for (const routes of CHECKING_THEMSELVES) app.route("/", routes);
app.use(requireToken);
for (const routes of WITH_TOKEN) app.route("/", routes);
app.notFound((c) => answerNoRoute(app, c));
app.onError(answerError);

const serve = app.fetch;
app.fetch = (request, ...rest) => serve(tidyPath(request), ...rest);

export default app;
