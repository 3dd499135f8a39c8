/**
 * What connects each kind of client. MCP's sign in, so their lines have no token; in the others the token stays a variable,
 * because this page does not know it.
 */

export type Snippet = {
  name: string;
  about: string;
  text: (origin: string) => string;
  /** Opens the client with these settings. */
  link?: (origin: string) => string;
};

const SIGN_IN = "It opens your browser here; press Allow. No token is needed.";

/** Clients of MCP that sign in (docs/using/connect.md). */
const SIGNING_IN: readonly Snippet[] = [
  {
    name: "Claude (web, Desktop, phone)",
    about: `Settings, Connectors, Add custom connector. ${SIGN_IN}`,
    text: (origin) => `${origin}/mcp`,
  },
  {
    name: "ChatGPT",
    about: `Settings, Connectors, Create (developer mode); authentication OAuth. ${SIGN_IN}`,
    text: (origin) => `${origin}/mcp`,
  },
  {
    name: "Claude Code",
    about: SIGN_IN,
    text: (origin) => `claude mcp add --transport http home ${origin}/mcp\nclaude mcp login home`,
  },
  {
    name: "Codex CLI",
    about: SIGN_IN,
    text: (origin) => `codex mcp add home --url ${origin}/mcp\ncodex mcp login home`,
  },
  {
    name: "opencode",
    about: `opencode.json; then: opencode mcp auth home. ${SIGN_IN}`,
    text: (origin) => JSON.stringify({ mcp: { home: { type: "remote", url: `${origin}/mcp` } } }, null, 2),
  },
  {
    name: "VS Code",
    about: `.vscode/mcp.json, or the link below. ${SIGN_IN}`,
    text: (origin) => JSON.stringify({ servers: { home: { type: "http", url: `${origin}/mcp` } } }, null, 2),
    link: (origin) =>
      `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: "home", type: "http", url: `${origin}/mcp` }))}`,
  },
  {
    name: "Cursor",
    about: `~/.cursor/mcp.json, or the link below. ${SIGN_IN}`,
    text: (origin) => JSON.stringify({ mcpServers: { home: { url: `${origin}/mcp` } } }, null, 2),
    link: (origin) =>
      `cursor://anysphere.cursor-deeplink/mcp/install?name=home&config=${encodeURIComponent(btoa(JSON.stringify({ url: `${origin}/mcp` })))}`,
  },
  {
    name: "A program that starts MCP servers (mcp-remote)",
    about: `With Node on that machine. ${SIGN_IN}`,
    text: (origin) =>
      JSON.stringify(
        { mcpServers: { home: { command: "npx", args: ["-y", "mcp-remote", `${origin}/mcp`] } } },
        null,
        2,
      ),
  },
  {
    name: "Open WebUI (MCP)",
    about: `Admin settings, External tools, MCP (streamable HTTP), authentication OAuth 2.1; it needs WEBUI_SECRET_KEY. ${SIGN_IN}`,
    text: (origin) => `${origin}/mcp`,
  },
  {
    name: "Home Assistant (MCP)",
    about:
      "Settings, Devices & services, Add integration, Model Context Protocol. It wants a client id and a secret: enter one above, under Connected programs.",
    text: (origin) => `Server URL: ${origin}/mcp
Redirect:   https://my.home-assistant.io/redirect/oauth`,
  },
];

const NO_APPROVE = "Give it a token without the scope 'approve': a model holds it.";

export const SNIPPETS: readonly Snippet[] = [
  ...SIGNING_IN,
  {
    name: "curl",
    about: "One question, and the turn with all of its calls as JSON.",
    text: (origin) => `curl -s ${origin}/v1/conversations/hello/messages \\
  -H "Authorization: Bearer $EDGECALL_TOKEN" \\
  -H "Content-Type: application/json" -d '{"text":"How full is the root disk?"}'`,
  },
  {
    name: "Shortcut or shell",
    about: "Plain text in, plain text out.",
    text: (origin) =>
      `curl -s ${origin}/ask -H "Authorization: Bearer $EDGECALL_TOKEN" -d "How warm is it inside?"`,
  },
  {
    name: "OpenAI (Python)",
    about: NO_APPROVE,
    text: (origin) => `from openai import OpenAI
import os

home = OpenAI(base_url="${origin}/v1", api_key=os.environ["EDGECALL_TOKEN"])
models = home.models.list().data
reply = home.chat.completions.create(
    model=models[0].id,
    messages=[{"role": "user", "content": "Which devices are online?"}],
)
print(reply.choices[0].message.content)`,
  },
  {
    name: "OpenAI (JavaScript)",
    about: NO_APPROVE,
    text: (origin) => `import OpenAI from "openai";

const home = new OpenAI({ baseURL: "${origin}/v1", apiKey: process.env.EDGECALL_TOKEN });
const { data: [model] } = await home.models.list();
const reply = await home.responses.create({ model: model.id, input: "Which devices are online?" });
console.log(reply.output_text);`,
  },
  {
    name: "Open WebUI",
    about: `Admin Settings, Connections, OpenAI API; or as environment. The headers tell one chat from another. ${NO_APPROVE}`,
    text: (origin) => `OPENAI_API_BASE_URL=${origin}/v1
OPENAI_API_KEY=YOUR-TOKEN
ENABLE_FORWARD_USER_INFO_HEADERS=true`,
  },
  {
    name: "Home Assistant",
    about: `Its own OpenAI integration takes no base URL; from HACS, Local OpenAI LLM or Extended OpenAI Conversation do. ${NO_APPROVE}`,
    text: (origin) => `Server URL: ${origin}/v1
API key:    YOUR-TOKEN
Model:      one of the list that it offers then`,
  },
];
