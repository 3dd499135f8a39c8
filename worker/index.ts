/** The Worker: mounts all routes. Those in WITH_TOKEN need a token. */
import { connections } from "./frontends/channels/connection-routes.ts";
import { polling } from "./frontends/channels/polling-route.ts";
import { channels } from "./frontends/channels/routes.ts";
import { consolePage } from "./frontends/console/routes.ts";
import { mcp, mcpDiscovery } from "./frontends/mcp/routes.ts";
import { oauthGrants } from "./frontends/oauth/manage-routes.ts";
import { oauth } from "./frontends/oauth/routes.ts";
import { openai } from "./frontends/openai/routes.ts";
import { relay } from "./frontends/relay/route.ts";
import { newRoutes } from "./http/app.ts";
import { requireToken } from "./http/auth.ts";
import { cors, securityHeaders } from "./http/browser-headers.ts";
import { answerError, answerNoRoute } from "./http/errors.ts";
import { tidyPath } from "./http/tidy-path.ts";
import { traceRequest } from "./http/trace.ts";
import { agents } from "./routes/agents.ts";
import { ask } from "./routes/ask.ts";
import { audit } from "./routes/audit.ts";
import { backup } from "./routes/backup.ts";
import { bridgeSocket } from "./routes/bridge.ts";
import { bridgeUpdate } from "./routes/bridge-update.ts";
import { clock } from "./routes/clock.ts";
import { commands } from "./routes/commands.ts";
import { conversations } from "./routes/conversations.ts";
import { deviceCodes, joining } from "./routes/device-codes.ts";
import { devices } from "./routes/devices.ts";
import { keys } from "./routes/keys.ts";
import { lending } from "./routes/lending.ts";
import { media, uploads } from "./routes/media.ts";
import { linkedMedia } from "./routes/media-links.ts";
import { metrics } from "./routes/metrics.ts";
import { peers } from "./routes/peer.ts";
import { pressed, push } from "./routes/push.ts";
import { questions } from "./routes/questions.ts";
import { rules } from "./routes/rules.ts";
import { senders } from "./routes/senders.ts";
import { health, status } from "./routes/status.ts";
import { tokens } from "./routes/tokens.ts";
import { turns } from "./routes/turns.ts";

export { Conversation } from "./conversation/conversation.ts";
export { Home } from "./home/home.ts";

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
  peers,
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
  rules,
  clock,
  commands,
  questions,
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
  mcp,
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
